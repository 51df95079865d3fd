/** Forgets the agents whose programs are gone. */
import { z } from "zod";
import type { Directory } from "../../agents/directory/directory.ts";
import { refreshStatus } from "../../agents/status/refreshStatus.ts";
import { giveBackMail } from "../../agents/stop/giveBack.ts";
import type { Teams } from "../../agents/teams.ts";
import type { Courier } from "../../delivery/courier.ts";
import type { ProbingTransport } from "../../delivery/transports/port.ts";
import type { Mailbox } from "../../mailbox/port.ts";
import type { Agent } from "../../model/agent.ts";
import type { Callers } from "../callers.ts";
import { operation } from "../operation.ts";

/** A suspended agent was ended on purpose and waits to be resumed; these ended by themselves. */
const ended: readonly Agent["state"][] = ["gone", "done"];

export interface PruneParts {
  readonly callers: Callers;
  readonly directory: Directory;
  readonly teams: Teams;
  readonly mailbox: Mailbox;
  readonly courier: Courier;
  readonly tmux: ProbingTransport;
}

export const pruneOperations = [
  operation({
    name: "prune",
    summary: "Remove agents whose programs are gone.",
    access: "kill",
    input: z.object({
      all: z.boolean().optional().describe("every team, not only the caller's"),
      force: z.boolean().optional().describe("also agents that have mail or can be resumed"),
    }),
    output: z.object({
      removed: z.array(z.object({ name: z.string(), team: z.string(), failedDeliveries: z.number().int() })),
      kept: z.array(z.object({ name: z.string(), team: z.string(), why: z.string() })),
    }),
    async run(parts: PruneParts, { all = false, force = false }, { caller }) {
      const { callers, directory, teams } = parts;
      const { team } = await callers.allow(caller, "kill");
      const known = (): readonly Agent[] =>
        (all ? directory.agents() : directory.roster.inTeam(teams.mustExist(team))).filter(
          ({ kind }) => kind === "program",
        );
      await Promise.all(known().map((agent) => refreshStatus(agent, parts)));
      const removed: { name: string; team: string; failedDeliveries: number }[] = [];
      const kept: { name: string; team: string; why: string }[] = [];
      for (const agent of known().filter(({ state }) => ended.includes(state))) {
        const why = force ? null : whyKept(parts, agent);
        if (why === null) removed.push(await remove(parts, agent));
        else kept.push({ name: agent.name, team: agent.team, why });
      }
      return { removed, kept };
    },
  }),
] as const;

function whyKept(parts: PruneParts, { id, name, launch, sessionId }: Agent): string | null {
  const { mailbox } = parts;
  const pending = mailbox.pending(id);
  if (pending > 0)
    return (
      `${pending === 1 ? "a message waits" : `${pending} messages wait`} for it; see \`tieline inbox ${name} ` +
      `--pending\``
    );
  return launch !== null && sessionId !== null ? `\`tieline resume ${name}\` continues its conversation` : null;
}

async function remove(
  parts: PruneParts,
  { id, name, team }: Agent,
): Promise<{ name: string; team: string; failedDeliveries: number }> {
  const { mailbox, directory, courier } = parts;
  const failedDeliveries = mailbox.pending(id);
  await giveBackMail(mailbox, id, `${name} was removed`);
  directory.remove(id);
  courier.wake(id);
  return { name, team, failedDeliveries };
}
