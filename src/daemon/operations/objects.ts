import type { Switch } from "../../compose.ts";
import { TielineError } from "../../model/errors.ts";
import type { Callers } from "../callers.ts";
import type { Operations } from "../http.ts";

export function objectOperations(tieline: Switch, callers: Callers): Pick<Operations, "metrics"> {
  return {
    async metrics(_, { caller }) {
      const { team } = await callers.sender(caller);
      const snapshot = tieline.objects.metricsOf(team);
      if (snapshot === null) throw noMetrics(team);
      const reports = Object.entries(snapshot.reports).map(([agent, report]) => ({ agent, ...report }));
      return { team, reports, counters: { ...snapshot.counters } };
    },
  };
}

const noMetrics = (team: string): TielineError =>
  new TielineError("TARGET_NOT_FOUND", `team ${team} has no metrics object`, {
    remedy: "add `objects: { metrics: }` to its tieline.yaml",
    operands: { team },
  });
