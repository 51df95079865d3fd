import type { Delivery } from "../model/delivery.ts";
import { elapsedFor, type AgentId, type Clock, type DeliveryId, type Elapsed } from "../model/ids.ts";

/** The result of an inspection; `unreadable`: the place of the attempt cannot be read now. */
export type InspectionResult = "decided" | "undecided" | "unreadable";

interface PendingInspection {
  readonly delivery: DeliveryId;
  readonly since: number;
  readonly unreadable: number;
}

export interface PendingInspectionsParts {
  /** Inspects the attempt, and settles it if that proves anything. */
  readonly inspect: (delivery: DeliveryId) => Promise<InspectionResult>;
  readonly clock: Clock;
}

/** A place that could not be read so many times, but can be written to, keeps nothing waiting any longer. */
const maxUnreadable = 10;
/** What a user typed beside a message, or a dialog over it, is over after this time, or nothing tells when. */
const followedMs = 10 * 60_000;
const firstInspectionMs = 1_000;
const slowestInspectionMs = 60_000;

/**
 * Attempts of which nothing is known yet: of a process that died, or without an answer. Each is inspected before
 * anything else is written to its agent, because the next write may cover its marks.
 */
export class PendingInspections {
  private readonly open = new Map<AgentId, Map<DeliveryId, PendingInspection>>();
  /** Inspected without a result, and inspected again now and then. */
  private readonly followed = new Map<
    AgentId,
    { readonly until: number; readonly pauseMs: number; readonly next: number }
  >();

  private readonly elapsed: Elapsed;

  constructor(private readonly parts: PendingInspectionsParts) {
    this.elapsed = elapsedFor(parts.clock);
  }

  add({ id, agent, claimedAt }: Delivery): void {
    const since = claimedAt ?? this.parts.clock();
    const inspections = this.open.get(agent) ?? new Map<DeliveryId, PendingInspection>();
    this.open.set(agent, inspections.set(id, { delivery: id, since, unreadable: 0 }));
    const now = this.elapsed();
    const ageMs = Math.max(0, this.parts.clock() - since);
    this.followed.set(agent, {
      until: now - ageMs + followedMs,
      pauseMs: firstInspectionMs,
      next: now + firstInspectionMs,
    });
  }

  has(agent: AgentId): boolean {
    return this.open.has(agent);
  }

  agents(): readonly AgentId[] {
    return [...this.open.keys()];
  }

  /** Whether every attempt was inspected that the next write could cover. */
  async cleared(agent: AgentId): Promise<boolean> {
    const inspections = this.open.get(agent);
    if (inspections === undefined) return true;
    for (const pending of [...inspections.values()].toSorted((a, b) => a.since - b.since)) {
      const found = await this.parts.inspect(pending.delivery);
      if (found === "unreadable" && pending.unreadable < maxUnreadable)
        inspections.set(pending.delivery, { ...pending, unreadable: pending.unreadable + 1 });
      else inspections.delete(pending.delivery);
    }
    if (inspections.size > 0) return false;
    this.open.delete(agent);
    return true;
  }

  /**
   * When the agent's undecided attempts are inspected again; null: nothing is left, or it would tell nothing new.
   */
  nextInspectionIn(agent: AgentId, undecided: boolean): number | null {
    const followed = this.followed.get(agent);
    const now = this.elapsed();
    if (!undecided || followed === undefined || now > followed.until) {
      this.followed.delete(agent);
      return null;
    }
    return Math.max(0, followed.next - now);
  }

  inspected(agent: AgentId): void {
    const followed = this.followed.get(agent);
    if (followed === undefined) return;
    const pauseMs = Math.min(2 * followed.pauseMs, slowestInspectionMs);
    this.followed.set(agent, { ...followed, pauseMs, next: this.elapsed() + pauseMs });
  }
}
