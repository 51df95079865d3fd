/** Forgets the agents whose programs are gone. */
import type { Switch } from "../../compose/index.ts";
import { giveBackMail } from "../../agents/stop/giveBack.ts";
import { refreshStatus } from "../../agents/status/refreshStatus.ts";
import type { Agent } from "../../model/agent.ts";
import type { Callers } from "../callers.ts";
import type { Operations } from "../../daemon/http.ts";

/** A suspended agent was ended on purpose and waits to be resumed; these ended by themselves. */
const ended: readonly Agent["state"][] = ["gone", "done"];

export function pruneOperations(tieline: Switch, callers: Callers): Pick<Operations, "prune"> {
  const { directory, mailbox, courier, teams } = tieline;

  return {
    async prune({ all = false, force = false }, { caller }) {
      const { team } = await callers.allow(caller, "kill");
      const known = (): readonly Agent[] =>
        (all ? directory.agents() : directory.roster.inTeam(teams.mustExist(team))).filter(
          ({ kind }) => kind === "program",
        );
      await Promise.all(known().map((agent) => refreshStatus(agent, tieline)));
      const removed: { name: string; team: string; failedDeliveries: number }[] = [];
      const kept: { name: string; team: string; why: string }[] = [];
      for (const agent of known().filter(({ state }) => ended.includes(state))) {
        const why = force ? null : whyKept(agent);
        if (why === null) removed.push(await remove(agent));
        else kept.push({ name: agent.name, team: agent.team, why });
      }
      return { removed, kept };
    },
  };

  function whyKept({ id, name, launch, sessionId }: Agent): string | null {
    const pending = mailbox.pending(id);
    if (pending > 0)
      return (
        `${pending === 1 ? "a message waits" : `${pending} messages wait`} for it; see \`tieline inbox ${name} ` +
        `--pending\``
      );
    return launch !== null && sessionId !== null ? `\`tieline resume ${name}\` continues its conversation` : null;
  }

  async function remove({ id, name, team }: Agent): Promise<{ name: string; team: string; failedDeliveries: number }> {
    const failedDeliveries = mailbox.pending(id);
    await giveBackMail(mailbox, id, `${name} was removed`);
    directory.remove(id);
    courier.wake(id);
    return { name, team, failedDeliveries };
  }
}
