import type { Switch } from "../../compose/index.ts";
import { TielineError } from "../../model/errors.ts";
import type { Callers } from "../callers.ts";
import type { Operations } from "../../daemon/http.ts";
import type { Rights } from "../rights.ts";

export function objectOperations(tieline: Switch, callers: Callers, rights: Rights): Pick<Operations, "metrics"> {
  return {
    async metrics(_, { caller }) {
      const from = await callers.sender(caller);
      const { team } = from;
      const snapshot = tieline.objects.metricsOf(team);
      if (snapshot === null) throw noMetrics(team);
      const isReadable = (name: string): boolean => {
        const agent = tieline.directory.roster.named(team, name);
        return rights.readsEverything(from) || (agent !== null && rights.reads(from, agent.id));
      };
      const reports = Object.entries(snapshot.reports)
        .map(([agent, report]) => ({ agent, ...report }))
        .filter(({ agent }) => isReadable(agent));
      return { team, reports, counters: { ...snapshot.counters } };
    },
  };
}

const noMetrics = (team: string): TielineError =>
  new TielineError("TARGET_NOT_FOUND", `team ${team} has no metrics object`, {
    remedy: "add `objects: { metrics: }` to its tieline.yaml",
    operands: { team },
  });
