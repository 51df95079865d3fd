/** The hook chain as Tieline ships it: every handler, in one list. */
import type { Courier } from "../../courier.ts";
import type { Directory } from "../../directory/directory.ts";
import type { Mailbox } from "../../mailbox/port.ts";
import type { Agent, AgentState } from "../../model/agent.ts";
import { envelope } from "../../model/envelope.ts";
import type { Clock } from "../../model/ids.ts";
import type { Message } from "../../model/message.ts";
import { dialectOf } from "../../providers/hookDialects.ts";
import type { HookCall } from "./call.ts";
import { createHookChain, type HookChain, type HookHandler, type Report } from "./chain.ts";
import { hookTextLimit, mailAtBoundaries } from "./handlers/mail.ts";
import { sessionObserver, stateObserver, submissionObserver } from "./handlers/observers.ts";
import { urgency, type Refused, type Urgency, type UrgencyParts } from "./handlers/urgency.ts";

export interface StandardHookParts {
  readonly directory: Directory;
  readonly mailbox: Mailbox;
  readonly courier: Courier;
  /** A session's hooks call us: it can be reached through them. */
  readonly joined: (agent: Agent, call: HookCall) => void;
  readonly observed: (agent: Agent, state: AgentState, call: HookCall) => void;
  /** For programs that do not say when a batch of calls is over: has the model been asked again since a call was refused? */
  readonly hasReadRefusal?: (agent: Agent, call: HookCall, refused: Refused) => Promise<boolean>;
  /** By which word an agent runs `tieline`. */
  readonly command?: (agent: Agent) => string;
  /** Handlers of a provider's own. */
  readonly more?: readonly HookHandler[];
  readonly report: Report;
  readonly clock?: Clock;
}

export interface StandardHooks {
  readonly chain: HookChain;
  readonly urgency: Urgency;
  readonly handlers: readonly HookHandler[];
}

export const textOf = (message: Message, { provider }: Pick<HookCall, "provider">, command?: string): string =>
  envelope(message, { multiline: true, inlineLimit: hookTextLimit - 500, command }, dialectOf(provider).besideTheUser ? "user" : "peer").text;

export function standardHooks(parts: StandardHookParts): StandardHooks {
  const { directory, mailbox, courier, joined, observed, hasReadRefusal, command, more = [], report, clock } = parts;
  const text: UrgencyParts["text"] = (message, call, agent) => textOf(message, call, command?.(agent));
  const urgent = urgency({ courier, mailbox, text, ...(hasReadRefusal && { hasReadRefusal }), ...(clock && { clock }) });
  const handlers = [
    sessionObserver(directory, joined),
    stateObserver(observed),
    submissionObserver(mailbox),
    ...urgent.handlers,
    mailAtBoundaries({ courier, text: (message, call, agent) => dialectOf(call.provider).written(text(message, call, agent)) }),
    ...more,
  ];
  return { chain: createHookChain(handlers, report), urgency: urgent, handlers };
}
