import { z } from "zod";
import { agentAddress, time } from "./fields.ts";

export const Failure = z.object({ code: z.string(), message: z.string(), remedy: z.string() });

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
  reach: z
    .object({
      agent: z.string(),
      everyone: z.boolean().describe("it may write to every agent, because its team has no topology"),
      mayWriteTo: z.array(z.string()).describe("`team:name`, and `user`"),
      mayBeWrittenBy: z.array(z.string()).describe("`team:name`, and `user`"),
    })
    .optional()
    .describe("with `agent`: who that agent may write to, and who may write to it"),
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

export const oneTeam = z.object({ team: z.string().describe("the name of the team") });
export const membership = z.object({
  team: z.string().describe("the name of the team"),
  agent: agentAddress.optional().describe("the agent; default: the caller"),
});

export type ResolutionView = z.infer<typeof ResolutionView>;
export type TopologyView = z.infer<typeof TopologyView>;
export type TeamView = z.infer<typeof TeamView>;
