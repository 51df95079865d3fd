/** The hook handlers of Tieline, in the order in which they are asked. */
import type { Courier } from "../../delivery/courier.ts";
import type { Directory } from "../../agents/directory/directory.ts";
import type { Mailbox } from "../../mailbox/port.ts";
import type { Agent, AgentState } from "../../model/agent.ts";
import { envelope, type Envelope } from "../../model/envelope.ts";
import type { Emit } from "../../model/event.ts";
import type { Clock } from "../../model/ids.ts";
import type { Message } from "../../model/message.ts";
import type { ProviderHookHandlers } from "../../providers/port.ts";
import type { HookCall } from "./call.ts";
import { createHookChain, type HookChain, type HookHandler } from "./chain.ts";
import type { Report } from "../../os/runForever.ts";
import type { Timers } from "../../os/timers.ts";
import { emitters } from "./handlers/emitters.ts";
import { mailAtBoundaries, type HookText } from "./handlers/mail.ts";
import { sessionObserver, stateObserver, submissionObserver } from "./handlers/observers.ts";
import { urgency, type Refused, type Urgency } from "./handlers/urgency.ts";

export interface StandardHookParts {
  readonly directory: Directory;
  readonly mailbox: Mailbox;
  readonly courier: Courier;
  /** A session's hooks call Tieline, so it can be reached through them. */
  readonly joined: (agent: Agent, call: HookCall) => void;
  readonly observed: (agent: Agent, state: AgentState, call: HookCall) => void;
  /**
   * For programs that do not say when a batch of calls is over: has the model been asked again since a call was
   * refused?
   */
  readonly hasReadRefusal?: (agent: Agent, call: HookCall, refused: Refused) => Promise<boolean>;
  /** How an agent runs `tieline`. */
  readonly command?: (agent: Agent) => string;
  /** Handlers for tools of the programs' own. */
  readonly own: ProviderHookHandlers;
  readonly emit: Emit;
  /** Reads text markers in the last message of a turn. */
  readonly turnText: HookHandler;
  readonly report: Report;
  readonly clock?: Clock;
  readonly timers?: Pick<Timers, "after">;
}

export interface StandardHooks {
  readonly chain: HookChain;
  readonly urgency: Urgency;
}

export const textOf = (
  message: Message,
  { dialect }: Pick<HookCall, "dialect">,
  inlineLimit: number,
  command?: string,
): Envelope => envelope(message, { multiline: true, inlineLimit, command }, dialect.besideTheUser ? "user" : "peer");

/** As the program has to be given a context for its model to read what was meant, which may take more room. */
const asContext =
  (text: HookText): HookText =>
  (message, call, agent, limit) => {
    const { written } = call.dialect;
    const whole = text(message, call, agent, limit);
    const sent = Buffer.byteLength(written(whole.text)) <= limit ? whole : text(message, call, agent, 0);
    return { ...sent, text: written(sent.text) };
  };

export function standardHooks(parts: StandardHookParts): StandardHooks {
  const { directory, mailbox, courier, joined, observed, hasReadRefusal, command, own, report, clock, timers } = parts;
  const text: HookText = (message, call, agent, limit) => textOf(message, call, limit, command?.(agent));
  const urgent = urgency({
    courier,
    mailbox,
    text,
    ...(hasReadRefusal && { hasReadRefusal }),
    ...(clock && { clock }),
    ...(timers && { timers }),
  });
  const handlers = [
    sessionObserver(directory, joined),
    stateObserver(observed),
    submissionObserver(mailbox),
    ...own.observers,
    ...urgent.observers,
    // A call that a guard refuses reaches none of the handlers below it.
    urgent.guard,
    ...own.guards,
    ...emitters(parts.emit),
    parts.turnText,
    mailAtBoundaries({ courier, text: asContext(text) }),
  ];
  return { chain: createHookChain(handlers, report), urgency: urgent };
}
