import { z } from "zod";
import type { Directory } from "../../agents/directory/directory.ts";
import { TielineError } from "../../model/errors.ts";
import type { Objects } from "../../objects/objects.ts";
import type { Callers } from "../callers.ts";
import { operation } from "../operation.ts";
import type { Rights } from "../rights.ts";
import { time } from "../schemas/fields.ts";

export interface ObjectOperationParts {
  readonly callers: Callers;
  readonly objects: Objects;
  readonly directory: Directory;
  readonly rights: Rights;
}

export const objectOperations = [
  /** What the team's `metrics` object received. */
  operation({
    name: "metrics",
    summary: "Show what agents reported to the team's metrics object, and its counters.",
    access: "readable",
    input: z.object({}),
    output: z.object({
      team: z.string(),
      reports: z.array(
        z.object({
          agent: z.string(),
          data: z.unknown(),
          reportedAt: time,
          count: z.number().int().describe("how often it reported in all"),
        }),
      ),
      counters: z.record(z.string(), z.number()),
    }),
    async run(parts: ObjectOperationParts, _, { caller }) {
      const { callers, rights } = parts;
      const from = await callers.sender(caller);
      const { team } = from;
      const snapshot = parts.objects.metricsOf(team);
      if (snapshot === null) throw noMetrics(team);
      const isReadable = (name: string): boolean => {
        const agent = parts.directory.roster.named(team, name);
        return rights.readsEverything(from) || (agent !== null && rights.reads(from, agent.id));
      };
      const reports = Object.entries(snapshot.reports)
        .map(([agent, report]) => ({ agent, ...report }))
        .filter(({ agent }) => isReadable(agent));
      return { team, reports, counters: { ...snapshot.counters } };
    },
  }),
] as const;

const noMetrics = (team: string): TielineError =>
  new TielineError("TARGET_NOT_FOUND", `team ${team} has no metrics object`, {
    remedy: "add `objects: { metrics: }` to its tieline.yaml",
    operands: { team },
  });
