/**
 * What several operations take or give, as the daemon and its clients exchange it. The daemon validates with these
 * schemas; clients import only the types, so that a command does not load a validator.
 */
import { z } from "zod";
import { agentStates, permissions, presences } from "../model/agent.ts";
import { deliveryStates, noteCodes } from "../model/delivery.ts";
import { kinds, whens } from "../model/message.ts";
import { ActivityView } from "./schemas/events.ts";
import { time } from "./schemas/fields.ts";
import { RequestView } from "./schemas/requests.ts";

/** What a caller says about itself; api/identity.ts decides who it is. */
export const Caller = z.object({
  pid: z.number().int().positive().optional(),
  cwd: z.string().optional(),
  team: z.string().optional(),
  token: z.string().optional(),
  sessionId: z.string().optional(),
  pane: z.string().optional(),
  /** The socket of the tmux server that the caller sits in. */
  tmuxSocket: z.string().optional(),
  /** The socket of the tmux server that the caller means: TIELINE_TMUX_SOCKET, else its own, else the default one. */
  tmuxServer: z.string().optional(),
  /** Names of variables that only agent programs set; their presence means that this is not the user. */
  agentVariables: z.array(z.string()).optional(),
  userToken: z.string().optional(),
});

/** Two teams may have agents of one name; the id tells them apart. */
const recipient = {
  agent: z.string(),
  agentId: z.string(),
  team: z
    .string()
    .nullable()
    .describe("the team that the agent is in; null for the user, and for one that was removed"),
};

export const DeliveryView = z.object({
  ...recipient,
  state: z.enum(deliveryStates),
  proof: z.string().nullable(),
  transport: z.string().nullable(),
  authority: z.string().nullable(),
  reason: z.string().nullable().describe("why it waits or failed, as text"),
  attempts: z.number().int(),
  warning: z.string().nullable().describe("why it is not sure that the model will read it"),
  notes: z
    .array(z.object({ code: z.enum(noteCodes), text: z.string() }))
    .describe("what the sender should know about how it was delivered"),
  answeredAt: time.nullable(),
  stateAt: time.describe("when it came into its state"),
  updatedAt: time,
});

export const StepView = z.object({
  at: time,
  ...recipient,
  verb: z.string(),
  from: z.string().nullable(),
  to: z.string(),
  reason: z.string().nullable(),
  proof: z.string().nullable(),
  transport: z.string().nullable(),
  leftOut: z.number().int().optional().describe("so many steps of waiting before this one are not kept"),
});

export const ReceiptView = z.object({
  id: z.string(),
  tag: z.string(),
  from: z.string(),
  knownBy: z.string().describe("how the sender was identified"),
  to: z.string(),
  team: z.string(),
  kind: z.enum(kinds),
  when: z.enum(whens),
  summary: z.string(),
  thread: z.string(),
  inReplyTo: z.string().nullable(),
  expiresAt: time.nullable(),
  acceptedAt: time,
  deliveries: z.array(DeliveryView),
  /** Broadcasts only. */
  successful: z
    .array(z.string())
    .optional()
    .describe("of a broadcast: names, and `team:name` of those in other teams and for `*`"),
  failed: z.array(z.object({ agent: z.string(), code: z.string(), message: z.string() })).optional(),
  notice: z.string().optional().describe("something the sender should know although the message was accepted"),
});
export const HistoryView = ReceiptView.extend({
  answers: z.string().nullable().describe("the tag of the message that it answers"),
  steps: z.array(StepView),
});

export const MessageView = z.object({
  id: z.string(),
  tag: z.string(),
  from: z.string(),
  to: z.string(),
  team: z.string(),
  kind: z.enum(kinds),
  body: z.string(),
  inReplyTo: z.string().nullable(),
  thread: z.string(),
  acceptedAt: time,
  damaged: z.literal(true).optional().describe("the text is not as it was stored: it was altered on the disk"),
});

export const InboxView = z.object({
  id: z.string(),
  tag: z.string(),
  from: z.string(),
  to: z.string(),
  team: z.string().describe("the team that it was sent in"),
  kind: z.enum(kinds),
  body: z.string(),
  when: z.enum(whens),
  expectsReply: z.boolean(),
  state: z.enum(deliveryStates),
  reason: z.string().nullable(),
  thread: z.string(),
  inReplyTo: z.string().nullable(),
  answers: z.string().nullable().describe("the tag of the message that it answers"),
  text: z.string().describe("the body, or a description of a request"),
  request: RequestView.nullable().describe("the request, while it is pending; answer it with answerRequest"),
  answered: z
    .object({ approved: z.boolean(), tag: z.string() })
    .nullable()
    .describe("of a request: how it was answered, and by which message"),
  at: time,
  /** Set when this call took the message out of the queue: say `collected` with it once it was shown. */
  delivery: z.number().int().optional(),
});

export const AgentView = z.object({
  id: z.string(),
  name: z.string(),
  team: z.string(),
  role: z.string().nullable(),
  kind: z.enum(["program", "user", "object"]),
  provider: z.string(),
  state: z.enum(agentStates),
  draft: z.boolean().describe("its composer holds an unsent draft"),
  reason: z.string().nullable(),
  presence: z.enum(presences),
  pane: z.string().nullable(),
  pending: z.number().int(),
  /** Why the next message for it waits, and since when. */
  held: z.string().nullable(),
  heldAt: time.nullable(),
  sessionId: z.string().nullable(),
  workspace: z.string().nullable(),
  note: z.string().nullable(),
  profile: z.string().nullable(),
  model: z.string().nullable().describe("the model it was started with; null: the one of its profile, or unknown"),
  cwd: z.string().nullable().describe("the directory it was started in; null: the one of its profile, or unknown"),
  may: z.array(z.enum(permissions)),
  details: z
    .boolean()
    .describe(
      "false: the caller may write to it, but not read it; panes, mail, reasons, sessions and rights are left out",
    ),
  endpoints: z.array(z.object({ transport: z.string(), bestProof: z.string(), authority: z.string() })),
  lastActivityAt: time,
  activity: ActivityView,
  exit: z
    .object({
      ...{ command: z.string(), code: z.number().int().nullable(), signal: z.number().int().nullable() },
      ...{ afterMs: z.number(), output: z.array(z.string()) },
    })
    .nullable()
    .describe("how its program ended, where that was within seconds of its start"),
});

export const Check = z.object({
  name: z.string(),
  status: z.enum(["ok", "warning", "failed"]),
  detail: z.string(),
  remedy: z.string().nullable(),
});

export type { Input, OperationName, Output } from "./operations/index.ts";
export type Caller = z.infer<typeof Caller>;
export type ReceiptView = z.infer<typeof ReceiptView>;
export type HistoryView = z.infer<typeof HistoryView>;
export type MessageView = z.infer<typeof MessageView>;
export type DeliveryView = z.infer<typeof DeliveryView>;
export type InboxView = z.infer<typeof InboxView>;
export type AgentView = z.infer<typeof AgentView>;
export type Check = z.infer<typeof Check>;
