/** The hook handlers, in the order in which they are asked. */
import type { Courier } from "../delivery/courier.ts";
import type { Directory } from "../agents/directory/directory.ts";
import type { Mailbox } from "../mailbox/port.ts";
import type { Agent, AgentState } from "../model/agent.ts";
import type { Emit } from "../model/event.ts";
import type { Clock } from "../model/ids.ts";
import type { ProviderHookHandlers } from "../providers/port.ts";
import type { HookCall } from "../providers/hooks/hookCall.ts";
import { createHookChain } from "../intake/hooks/chain.ts";
import type { HookChain, HookHandler } from "../providers/hooks/hookHandler.ts";
import type { Report } from "../os/runForever.ts";
import type { Timers } from "../os/timers.ts";
import { emitters } from "../intake/hooks/handlers/emitters.ts";
import { asContext, textOf, type HookText } from "../delivery/transports/hook/hookText.ts";
import { whenToolOrTurn } from "../delivery/transports/hook/whenToolOrTurn.ts";
import { sessionObserver, stateObserver, submissionObserver } from "../intake/hooks/handlers/observers.ts";
import { whenInterrupt, type Refused, type Urgency } from "../delivery/transports/hook/whenInterrupt.ts";

export interface HookHandlerParts {
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

export interface HookHandlers {
  readonly chain: HookChain;
  readonly urgency: Urgency;
}

export function hookHandlers(parts: HookHandlerParts): HookHandlers {
  const { directory, mailbox, courier, joined, observed, hasReadRefusal, command, own, report, clock, timers } = parts;
  const text: HookText = (message, call, agent, limit) => textOf(message, call, limit, command?.(agent));
  const urgent = whenInterrupt({
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
    whenToolOrTurn({ courier, text: asContext(text) }),
  ];
  return { chain: createHookChain(handlers, report), urgency: urgent };
}
