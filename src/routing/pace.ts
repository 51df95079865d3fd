/**
 * How much each sender sent in the last minute. Counted in memory, by a clock that only goes forward: a wall clock that
 * is set changes no rate. What was sent in the minute before the start is asked of the mailbox.
 */
import type { Mailbox } from "../mailbox/port.ts";
import { elapsedFor, type AgentId, type Clock, type Elapsed } from "../model/ids.ts";

const minuteMs = 60_000;
/** The mailbox is asked for parts of a minute, so that what it tells grows old in time. */
const partMs = 10_000;
/** Above so many counts those that are over are removed. */
const manyCounts = 1_000;

export class Pace {
  private readonly counts = new Map<string, number[]>();
  private readonly elapsed: Elapsed;
  private readonly startedAt: number;

  constructor(
    private readonly mailbox: Pick<Mailbox, "sentSince" | "onTransitions">,
    private readonly clock: Clock,
  ) {
    this.elapsed = elapsedFor(clock);
    this.startedAt = this.elapsed();
    let last = "";
    mailbox.onTransitions((changes) => {
      for (const { transition, delivery, message } of changes) {
        if (transition.verb !== "accept") continue;
        if (message.id !== last) this.add(keyOf(message.from.id, null));
        this.add(keyOf(message.from.id, delivery.agent));
        last = message.id;
      }
    });
  }

  /** To one agent, or to anyone. */
  lastMinute(from: AgentId, to: AgentId | null): number {
    const key = keyOf(from, to);
    let times = this.counts.get(key);
    if (times === undefined) this.counts.set(key, (times = this.before(from, to)));
    const over = times.findIndex((at) => at > this.elapsed() - minuteMs);
    if (over !== 0) times.splice(0, over < 0 ? times.length : over);
    return times.length;
  }

  /** Only of those who were asked about: all others are not limited. */
  private add(key: string): void {
    this.counts.get(key)?.push(this.elapsed());
    if (this.counts.size <= manyCounts) return;
    const horizon = this.elapsed() - minuteMs;
    for (const [one, times] of this.counts) if ((times.at(-1) ?? 0) <= horizon) this.counts.delete(one);
  }

  private before(from: AgentId, to: AgentId | null): number[] {
    if (this.elapsed() - this.startedAt >= minuteMs) return [];
    const now = this.elapsed();
    const times: number[] = [];
    for (let backMs = partMs; backMs <= minuteMs; backMs += partMs) {
      const sent = this.mailbox.sentSince(from, to, this.clock() - backMs);
      while (times.length < sent) times.unshift(now - backMs + partMs / 2);
    }
    return times;
  }
}

const keyOf = (from: AgentId, to: AgentId | null): string => `${from} ${to ?? ""}`;
