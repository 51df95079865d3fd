import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Mailbox } from "../../../mailbox/port.ts";
import type { Agent } from "../../../model/agent.ts";
import type { Delivery } from "../../../model/delivery.ts";
import { elapsedFor, type AgentId, type Clock, type DeliveryId, type Elapsed } from "../../../model/ids.ts";
import type { Providers } from "../../../providers/providers.ts";
import type { HookChain } from "../../../providers/hooks/hookHandler.ts";
import { eventsWithMail } from "./whenToolOrTurn.ts";
import { underwayMs } from "./whenInterrupt.ts";

/** Folders of the hooks in the home. */
interface FlagPlace {
  readonly root: string;
  /** A file for each session, with the events at which its hooks have to ask. */
  readonly mail: string;
}

export interface HookFlagParts {
  readonly mailbox: Pick<Mailbox, "onTransitions" | "waiting" | "heads">;
  readonly agentOf: (id: AgentId) => Agent | null;
  readonly place: FlagPlace;
  readonly providers: Pick<Providers, "dialect" | "eventNames">;
  /** Whether an urgent message still refuses the agent's tool calls. */
  readonly isRefusing: (id: AgentId) => boolean;
  readonly report: (context: string, fault: unknown) => void;
  readonly clock: Clock;
}

/**
 * Keeps a file per session with the events at which its hooks have to ask the daemon, because there may be an answer.
 * At every other event the hook script need not ask. A file that names too much costs one vain question, after which it
 * is corrected; one that names too little would let a tool call pass.
 */
export class HookFlags implements Disposable {
  private readonly raised = new Map<AgentId, { readonly session: string; readonly events: string }>();
  /** Urgent messages that were given to an agent, and until when they count as unread. */
  private readonly underway = new Map<AgentId, Map<DeliveryId, number>>();
  private stopListening = (): void => undefined;

  private readonly elapsed: Elapsed;

  constructor(private readonly parts: HookFlagParts) {
    this.elapsed = elapsedFor(parts.clock);
  }

  /** What an earlier daemon left behind is removed. */
  start(): void {
    const { mailbox, place } = this.parts;
    for (const session of existsSync(place.mail) ? readdirSync(place.mail) : []) flagEvents(place, session, []);
    for (const id of mailbox.waiting()) this.update(id);
    this.stopListening = mailbox.onTransitions((changes) => {
      for (const { delivery } of changes) if (delivery.when === "interrupt") this.followUrgent(delivery);
      for (const id of new Set(changes.map(({ delivery }) => delivery.agent))) this.update(id);
    });
  }

  /** The chain, with the flags brought up to date after each call. */
  follow(chain: HookChain): HookChain {
    return {
      run: (call, agent) => chain.run(call, agent).finally(() => this.update(agent.id)),
      observe: (call, agent) => chain.observe(call, agent).finally(() => this.update(agent.id)),
    };
  }

  [Symbol.dispose](): void {
    this.stopListening();
  }

  private followUrgent({ agent, id, state }: Delivery): void {
    const unread = this.underway.get(agent) ?? new Map<DeliveryId, number>();
    if (["claimed", "delivered", "uncertain"].includes(state)) unread.set(id, this.elapsed() + underwayMs);
    else unread.delete(id);
    if (unread.size === 0) this.underway.delete(agent);
    else this.underway.set(agent, unread);
  }

  private update(id: AgentId): void {
    const agent = this.parts.agentOf(id);
    const session = agent?.sessionId ?? null;
    const events = agent === null || session === null ? [] : this.eventsOf(agent);
    const known = this.raised.get(id);
    if (known && (known.session !== session || events.length === 0)) this.flag(id, known.session, []);
    if (session !== null && events.length > 0 && (known?.session !== session || known.events !== events.join(" ")))
      this.flag(id, session, events);
  }

  private eventsOf(agent: Agent): string[] {
    const { mailbox, isRefusing, providers } = this.parts;
    const whens = new Set(mailbox.heads(agent.id, Number.MAX_SAFE_INTEGER).map(({ when }) => when));
    // Mail that starts no turn is also delivered at the end of a turn.
    if (mailbox.waiting().includes(agent.id)) whens.add("turn");
    const mayRefuse = whens.has("interrupt") || isRefusing(agent.id) || this.hasUnread(agent.id);
    const events = new Set([
      ...eventsWithMail(whens, agent, providers.dialect(agent.provider)),
      ...(mayRefuse ? ["PreToolUse"] : []),
    ]);
    return [...events].flatMap((event) => providers.eventNames(event)).toSorted();
  }

  private hasUnread(agent: AgentId): boolean {
    const unread = this.underway.get(agent);
    for (const [delivery, until] of unread ?? []) if (until <= this.elapsed()) unread!.delete(delivery);
    return unread !== undefined && unread.size > 0;
  }

  private flag(id: AgentId, session: string, events: readonly string[]): void {
    try {
      flagEvents(this.parts.place, session, events);
      if (events.length === 0) this.raised.delete(id);
      else this.raised.set(id, { session, events: events.join(" ") });
    } catch (fault) {
      this.parts.report("the flag for waiting mail", fault);
    }
  }
}

/** Session ids become file names. */
const isPlainSessionId = (sessionId: string): boolean => /^[A-Za-z0-9_-]{1,200}$/.test(sessionId);

/**
 * Tells the hooks of a session at which events they have to ask; none: no file. Whole at every moment, because hooks
 * read it.
 */
export function flagEvents(place: FlagPlace, sessionId: string, events: readonly string[]): void {
  if (!isPlainSessionId(sessionId)) return;
  const flag = join(place.mail, sessionId);
  if (events.length === 0) return rmSync(flag, { force: true });
  const draft = join(place.root, `flag.${process.pid}.new`);
  writeFileSync(draft, `${events.join(" ")}\n`, { mode: 0o600 });
  renameSync(draft, flag);
}
