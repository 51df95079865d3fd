import { z } from "zod";
import { exportFormats } from "../../routing/topology/export.ts";
import { time } from "./fields.ts";

const Failure = z.object({ code: z.string(), message: z.string(), remedy: z.string() });

/** One of those whom an address means. */
const Meant = z.object({
  name: z.string(),
  team: z.string(),
  id: z.string().nullable().describe("null: it would have to be started first"),
  state: z.string(),
  permitted: z.boolean().describe("may the caller write to it?"),
});

export const ResolutionView = z.object({
  address: z.string(),
  team: z.string().describe("the team in which names are looked up"),
  steps: z.array(z.object({ rule: z.string(), says: z.string(), hit: z.boolean(), why: z.string() })),
  rule: z.string().nullable(),
  agents: z.array(Meant),
  missing: z.array(z.object({ name: z.string(), ...Failure.shape })),
  error: Failure.nullable(),
});

const EdgeView = z.object({
  from: z.string(),
  to: z.string(),
  origin: z.enum(["config", "run time"]),
  place: z.string().nullable(),
});
export const TopologyView = z.object({
  team: z.string(),
  edges: z.array(EdgeView).nullable().describe("null: no topology, everyone may write to everyone"),
  removed: z.array(EdgeView).describe("edges of tieline.yaml that were removed at run time; topologyAdd restores them"),
});

const Member = z.object({
  name: z.string(),
  role: z.string().nullable(),
  kind: z.string(),
  state: z.string(),
  reason: z.string().nullable(),
  pending: z.number().int(),
});
export const TeamView = z.object({
  name: z.string(),
  root: z.string().nullable().describe("the project that it belongs to"),
  createdAt: time.nullable(),
  members: z.array(Member),
  pending: z.number().int(),
  edges: z.number().int().nullable(),
  aliases: z.record(z.string(), z.array(z.string())),
});

const team = z.object({ team: z.string() });
const membership = z.object({
  team: z.string(),
  agent: z.string().optional().describe("default: the caller"),
});

export const routingSchemas = {
  resolve: { input: z.object({ address: z.string() }), output: ResolutionView },
  topology: { input: z.object({}), output: TopologyView },
  topologyAdd: {
    input: z.object({
      edge: z.string(),
      close: z
        .boolean()
        .optional()
        .describe("true: also where the team has no topology yet, so that from then on only edges count"),
    }),
    output: TopologyView,
  },
  topologyRemove: { input: z.object({ edge: z.string() }), output: TopologyView },
  topologyCheck: {
    input: z.object({}),
    output: z.object({ team: z.string(), problems: z.array(Failure.extend({ place: z.string().nullable() })) }),
  },
  topologyExport: { input: z.object({ format: z.enum(exportFormats) }), output: z.object({ text: z.string() }) },
  teams: { input: z.object({}), output: z.array(TeamView) },
  team: { input: team, output: TeamView },
  teamCreate: { input: team, output: TeamView },
  teamJoin: { input: membership, output: TeamView },
  teamLeave: { input: membership.partial(), output: TeamView },
  teamRename: { input: z.object({ team: z.string(), name: z.string() }), output: TeamView },
  teamDisband: {
    input: team.extend({ force: z.boolean().optional() }),
    output: z.object({ name: z.string(), removed: z.array(z.string()), failedDeliveries: z.number().int() }),
  },
  teamShutdown: { input: team, output: z.object({ stopped: z.array(z.string()) }) },
} as const;

export type ResolutionView = z.infer<typeof ResolutionView>;
export type TopologyView = z.infer<typeof TopologyView>;
export type TeamView = z.infer<typeof TeamView>;
