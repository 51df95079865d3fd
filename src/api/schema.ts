/**
 * The wire format between the daemon and everything that talks to it. The daemon validates with these schemas; the
 * client takes only their types, so that a command does not pay for loading a validator.
 */
import { z } from "zod";
import { agentStates, permissions, presences } from "../model/agent.ts";
import { deliveryStates, noteCodes } from "../model/delivery.ts";
import { kinds, whens } from "../model/message.ts";
import { wantedStates } from "../model/receipt.ts";
import { askingSchemas } from "./schemas/asking.ts";
import { objectSchemas } from "./schemas/objects.ts";
import { count, flag, pollMs, reader, time, ttlMs } from "./schemas/fields.ts";
import { lifeSchemas, NotStarted } from "./schemas/life.ts";
import { pageSchemas } from "./schemas/page.ts";
import { profileSchemas } from "./schemas/profiles.ts";
import { RequestView, requestSchemas } from "./schemas/requests.ts";
import { trustSchemas } from "./schemas/trust.ts";
import { seeingSchemas } from "./schemas/seeing.ts";
import { routingSchemas } from "./schemas/routing.ts";
import { ActivityView, eventSchemas } from "./schemas/events.ts";
import { hookSchemas } from "./schemas/hooks.ts";

/** What a caller says about itself; the daemon decides by the ladder in daemon/identity.ts who it is. */
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
  text: z.string().describe("the body, or for a request a description of it"),
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

const draftFields = {
  body: z.string(),
  summary: z.string().optional(),
  when: z.enum(whens).optional(),
  hard: z.boolean().optional(),
  ttlMs: ttlMs.optional(),
  key: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("idempotency key: the same key from the same sender is the same send"),
  kind: z.enum(["text", "ack"]).optional(),
  /** The user only: send as an object or alias. */
  from: z.string().optional(),
  /** Fail now if this state can never be proved for a recipient. */
  wait: z.enum(wantedStates).optional(),
};

const team = z.string().optional().describe("only what was sent in this team, or to one of its agents");

/** Every operation: its HTTP face, what it takes and what it gives. The same table makes the OpenAPI file. */
export const schemas = {
  send: {
    input: z.object({
      to: z.string(),
      replyTo: z.string().optional(),
      expectsReply: z.boolean().optional(),
      spawn: z.boolean().optional(),
      ...draftFields,
    }),
    output: ReceiptView,
  },
  reply: { input: z.object({ tag: z.string(), ...draftFields }), output: ReceiptView },
  show: { input: z.object({ tag: z.string() }), output: MessageView.extend({ reader }) },
  status: { input: z.object({ tag: z.string() }), output: HistoryView },
  /** Resolves when every delivery has got that far, when one never can, or after the timeout. */
  wait: {
    input: z.object({
      tag: z.string(),
      state: z.enum(wantedStates),
      timeoutMs: pollMs,
      after: count.optional().describe("answer as soon as any delivery changed after this moment"),
    }),
    output: HistoryView,
  },
  inbox: {
    input: z.object({
      agent: z.string().optional(),
      pending: flag.optional(),
      limit: count.optional(),
      team: z.string().optional().describe("only what was sent in this team"),
      peek: flag.optional().describe("look without marking anything as seen"),
    }),
    output: z.array(InboxView),
  },
  /** Takes waiting mail out of the queue for the caller, who says `collected` once it was shown. */
  collect: {
    input: z.object({
      tag: z.string().optional().describe("only this message"),
      limit: count.optional(),
      waitMs: count.max(600_000).optional().describe("when nothing waits, wait this long for some"),
    }),
    output: z.array(InboxView),
  },
  collected: {
    input: z.object({
      deliveries: z.array(z.number().int()),
      partial: z.array(z.number().int()).optional().describe("those of which only a part was shown"),
    }),
    output: z.object({ seen: z.number().int() }),
  },
  log: {
    input: z.object({
      agent: z.string().optional(),
      team,
      thread: z.string().optional(),
      grep: z.string().optional(),
      since: count.optional(),
      before: z.string().optional().describe("an id: only messages that were accepted before it"),
      limit: count.optional(),
    }),
    output: z.array(ReceiptView),
  },
  cancel: { input: z.object({ tag: z.string(), agent: z.string().optional() }), output: ReceiptView },
  retry: { input: z.object({ tag: z.string(), agent: z.string().optional() }), output: ReceiptView },
  dead: { input: z.object({ team, limit: count.optional() }), output: z.array(ReceiptView) },
  ls: {
    input: z.object({ all: flag.optional().describe("every team, not only the caller's") }),
    output: z.array(AgentView),
  },
  adopt: {
    input: z.object({
      target: z.string(),
      name: z.string(),
      provider: z.string().optional(),
      workspace: z.string().optional(),
      role: z.string().optional(),
    }),
    output: AgentView,
  },
  /**
   * Makes the calling program an agent, or an object, that fetches its own mail. The token proves who it is from then
   * on.
   */
  register: {
    input: z.object({ name: z.string(), kind: z.enum(["program", "object"]).optional(), role: z.string().optional() }),
    output: z.object({ agent: AgentView, token: z.string() }),
  },
  whoami: {
    input: z.object({}),
    output: z.object({
      name: z.string(),
      team: z.string(),
      kind: z.enum(["program", "user", "object"]),
      role: z.string().nullable(),
      knownBy: z.string().describe("how the caller was identified"),
    }),
  },
  rm: {
    input: z.object({ agent: z.string(), force: z.boolean().optional() }),
    output: z.object({ name: z.string(), failedDeliveries: z.number().int() }),
  },
  prune: {
    input: z.object({
      all: z.boolean().optional().describe("in every team"),
      force: z.boolean().optional().describe("also agents that have mail or can be resumed"),
    }),
    output: z.object({
      removed: z.array(z.object({ name: z.string(), team: z.string(), failedDeliveries: z.number().int() })),
      kept: z.array(z.object({ name: z.string(), team: z.string(), why: z.string() })),
    }),
  },
  read: {
    input: z.object({ agent: z.string(), lines: count.optional() }),
    output: z.object({ agent: z.string(), pane: z.string(), text: z.string() }),
  },
  up: {
    input: z.object({ only: z.array(z.string()).optional() }),
    output: z.object({
      session: z.string(),
      socket: z.string(),
      attach: z.string(),
      started: z.array(AgentView),
      already: z.array(z.string()),
      failed: z.array(NotStarted),
    }),
  },
  down: { input: z.object({}), output: z.object({ stopped: z.array(z.string()) }) },
  ...lifeSchemas(AgentView),
  ...eventSchemas(MessageView.extend({ knownBy: z.string(), transitions: z.array(StepView) })),
  ...hookSchemas,
  doctor: { input: z.object({}), output: z.array(Check) },
  daemonStatus: {
    input: z.object({}),
    output: z.object({
      running: z.literal(true),
      pid: z.number().int(),
      version: z.string(),
      socket: z.string(),
      home: z.string(),
      startedAt: time,
      agents: z.number().int(),
      waiting: z.number().int(),
      residentBytes: z.number(),
    }),
  },
  daemonStop: { input: z.object({}), output: z.object({ stopping: z.literal(true) }) },
  backup: {
    input: z.object({
      file: z
        .string()
        .startsWith("/")
        .optional()
        .describe("left out: a new file in `backups` of the home, where the oldest are removed"),
    }),
    output: z.object({
      file: z.string(),
      at: time,
      bytes: z.number().int(),
      messages: z.number().int(),
      altered: z.array(z.string()).describe("tags of messages that were altered on the disk"),
    }),
  },
  ...profileSchemas,
  ...routingSchemas,
  ...trustSchemas,
  ...askingSchemas(InboxView),
  ...requestSchemas(ReceiptView),
  ...objectSchemas,
  ...seeingSchemas,
  ...pageSchemas,
} as const satisfies Record<string, { input: z.ZodType; output: z.ZodType }>;

export type Schemas = typeof schemas;
export type OperationName = keyof Schemas;
export type Input<Name extends OperationName> = z.input<Schemas[Name]["input"]>;
export type Output<Name extends OperationName> = z.output<Schemas[Name]["output"]>;
export type Caller = z.infer<typeof Caller>;
export type ReceiptView = z.infer<typeof ReceiptView>;
export type HistoryView = z.infer<typeof HistoryView>;
export type MessageView = z.infer<typeof MessageView>;
export type DeliveryView = z.infer<typeof DeliveryView>;
export type InboxView = z.infer<typeof InboxView>;
export type AgentView = z.infer<typeof AgentView>;
export type Check = z.infer<typeof Check>;
