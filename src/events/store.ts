import type { Event } from "../model/event.ts";

/** Where events are kept, oldest first, within bounds of age and size. Everything is synchronous and cheap. */
export interface EventStore {
  /** No event had a higher number than this, not even one that was given out and lost in a crash. */
  readonly highest: number;
  /** Why events are not kept at present; null: they are. */
  problem(): string | null;
  /** Adds events with ascending numbers. Throws, keeping none, when it cannot. */
  add(events: readonly Event[]): void;
  /** The first events after a number, in order. */
  after(seq: number, limit: number): Event[];
  /** The last events up to and including a number, in order. */
  upTo(seq: number, limit: number): Event[];
  /** The number before the first event of that moment or later. */
  before(at: number): number;
  /** Removes a small batch of what is beyond the bounds; answers how many. */
  prune(bounds: EventBounds): number;
  /** A clean end: the next number is the one after this. */
  close(last: number): void;
}

export interface EventBounds {
  readonly olderThan: number;
  readonly maxBytes: number;
}
