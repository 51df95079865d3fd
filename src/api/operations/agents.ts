import { z } from "zod";
import type { Directory } from "../../agents/directory/directory.ts";
import type { StatusMonitor } from "../../agents/status/statusMonitor.ts";
import { giveBackMail } from "../../agents/stop/giveBack.ts";
import type { Courier } from "../../delivery/courier.ts";
import type { Mailbox } from "../../mailbox/port.ts";
import { userId, type Agent } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import type { NativeTeams } from "../../providers/nativeTeams.ts";
import { agentCalled, neverStarted, type Resolving } from "../addressed.ts";
import type { Callers } from "../callers.ts";
import { operation } from "../operation.ts";
import type { Rights } from "../rights.ts";
import { AgentView } from "../schema.ts";
import { everyTeam } from "../schemas/fields.ts";
import { oneAgent } from "../schemas/life.ts";
import { agentView, withoutDetails, type ViewParts } from "../views.ts";

const asLastSeen = "as last seen; its tmux server does not answer";

export interface AgentOperationParts extends ViewParts, Resolving {
  readonly callers: Callers;
  readonly rights: Rights;
  readonly mailbox: Mailbox;
  readonly directory: Directory;
  readonly courier: Courier;
  readonly statusMonitor: Pick<StatusMonitor, "refresh">;
  readonly native: Pick<NativeTeams, "homeOfAgent">;
}

export const agentOperations = [
  operation({
    name: "ls",
    summary: "List the agents and what they are doing.",
    access: "readable",
    input: z.object({ all: everyTeam.optional() }),
    output: z.array(AgentView),
    async run(parts: AgentOperationParts, { all = false }, { caller }) {
      const { callers, directory, rights, statusMonitor } = parts;
      const from = await callers.sender(caller);
      const isInTeam = (agent: Agent): boolean =>
        agent.team === from.team || parts.native.homeOfAgent(agent) === from.team;
      const wanted = (): readonly Agent[] =>
        directory.agents().filter((agent) => (all || isInTeam(agent)) && rights.sees(from, agent));
      const { unread, unanswered } = await statusMonitor.refresh(wanted());
      return wanted().map((agent) => {
        const view = agentView(agent, parts);
        if (!rights.reads(from, agent.id)) return withoutDetails(view);
        if (unanswered.has(agent.id))
          return { ...view, reason: asLastSeen, ...(view.held !== null && { held: asLastSeen }) };
        return unread.has(agent.id)
          ? { ...view, reason: view.reason ?? "as last seen; its screen is being read now" }
          : view;
      });
    },
  }),

  operation({
    name: "rm",
    summary: "Remove an agent; its program keeps running.",
    access: "kill",
    input: oneAgent.extend({
      force: z.boolean().optional().describe("even if mail waits for it; the mail bounces"),
    }),
    output: z.object({ name: z.string(), failedDeliveries: z.number().int() }),
    async run(parts: AgentOperationParts, { agent: address, force = false }, { caller }) {
      const { callers, directory, mailbox, courier } = parts;
      const from = await callers.allow(caller, "kill");
      const agent = agentCalled(address, from, parts);
      if (agent.kind !== "program") throw cannotRemove(agent);
      if (directory.agent(agent.id) === null) throw neverStarted(agent);
      const pending = mailbox.pending(agent.id);
      if (pending > 0 && !force) throw hasMail(agent, pending);
      await giveBackMail(mailbox, agent.id, `${agent.name} was removed`);
      directory.remove(agent.id);
      courier.wake(agent.id);
      return { name: agent.name, failedDeliveries: pending };
    },
  }),
] as const;

const hasMail = (agent: Agent, pending: number): TielineError =>
  new TielineError(
    "CONFLICT",
    `${pending === 1 ? "a message" : `${pending} messages`} for ${agent.name} ` +
      `${pending === 1 ? "is" : "are"} not delivered yet`,
    {
      remedy: `see \`tieline inbox ${agent.name} --pending\`; with --force they bounce`,
      operands: { agent: agent.name, pending },
    },
  );

function cannotRemove({ id, name }: Agent): TielineError {
  const isUser = id === userId;
  return new TielineError("CONFLICT", `${isUser ? "the user" : `the object ${name}`} cannot be removed`, {
    remedy: isUser ? "`tieline ls` lists the agents" : "objects are removed from tieline.yaml",
    operands: { agent: name },
  });
}
