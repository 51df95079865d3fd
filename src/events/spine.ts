/**
 * Every transition's one event, on its way to those who watch. Emitting gives the fact a number, tells the listeners
 * and returns; the disk comes later, many events at a time.
 */
import type { Emit, Event, Fact } from "../model/event.ts";
import { systemClock, type Clock } from "../model/ids.ts";
import type { EventBounds, EventStore } from "./store.ts";
import { systemTimers, type Scheduled, type Timers } from "../os/timers.ts";

export interface SpineOptions {
  readonly report: (context: string, fault: unknown) => void;
  readonly maxAgeMs: number;
  readonly maxBytes: number;
  readonly clock?: Clock;
  /** By which events grow old; the clock when left out. */
  readonly pruneClock?: Clock;
  readonly timers?: Pick<Timers, "after" | "every">;
}

const flushMs = 25;
const flushAt = 512;
const pruneMs = 60_000;
/** So many of the newest events are at hand without asking the store. */
const recentCount = 2_048;

export class Spine implements Disposable {
  readonly #store: EventStore;
  readonly #options: SpineOptions;
  readonly #clock: Clock;
  readonly #listeners = new Set<(event: Event) => void>();
  #last: number;
  /** Everything after `#recentFrom`, with nothing left out. */
  #recent: Event[] = [];
  #recentFrom: number;
  #unwritten: Event[] = [];
  #lost = 0;
  #isFailing = false;
  #flushing: Scheduled | null = null;
  readonly #timers: Pick<Timers, "after" | "every">;
  readonly #pruning: Scheduled;

  constructor(store: EventStore, options: SpineOptions) {
    this.#store = store;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#last = this.#recentFrom = store.highest;
    this.#timers = options.timers ?? systemTimers;
    this.#pruning = this.#timers.every(pruneMs, () => this.#prune(), { background: true });
  }

  readonly emit: Emit = (fact: Fact) => {
    const event: Event = { ...fact, seq: ++this.#last, at: this.#clock() };
    this.#remember(event);
    this.#unwritten.push(event);
    if (this.#unwritten.length >= flushAt) this.#flush();
    else this.#flushing ??= this.#timers.after(flushMs, () => this.#flush());
    for (const listener of this.#listeners) this.#tell(listener, event);
  };

  /** Listeners are called in the order of the events. They must be quick: the emitter waits for them. */
  readonly onEvent = (listener: (event: Event) => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The number of the newest event. */
  get last(): number {
    return this.#last;
  }

  /** How many events could not be written. */
  get lost(): number {
    return this.#lost;
  }

  /** Why events are not kept at present; null: they are. */
  get problem(): string | null {
    return this.#store.problem();
  }

  /** The first events after a number. Asking again with the last number of the answer misses none and repeats none. */
  after(seq: number, limit: number): readonly Event[] {
    if (seq >= this.#recentFrom) {
      const first = firstAfter(this.#recent, seq);
      return this.#recent.slice(first, first + limit);
    }
    this.#flush();
    return this.#store.after(seq, limit);
  }

  /** The last events up to and including a number, in order. */
  upTo(seq: number, limit: number): readonly Event[] {
    this.#flush();
    return this.#store.upTo(seq, limit);
  }

  /** The number before the first event of that moment or later. */
  before(at: number): number {
    this.#flush();
    return this.#store.before(at);
  }

  [Symbol.dispose](): void {
    this.#pruning.cancel();
    this.#flush();
    try {
      this.#store.close(this.#last);
    } catch (fault) {
      // The rest of the daemon stops in good order all the same.
      this.#options.report("close the event log", fault);
    }
  }

  #tell(listener: (event: Event) => void, event: Event): void {
    try {
      listener(event);
    } catch (fault) {
      this.#options.report(`event ${event.type}`, fault);
    }
  }

  #remember(event: Event): void {
    this.#recent.push(event);
    if (this.#recent.length < 2 * recentCount) return;
    this.#recentFrom = this.#recent[recentCount - 1]!.seq;
    this.#recent = this.#recent.slice(recentCount);
  }

  #flush(): void {
    this.#flushing?.cancel();
    this.#flushing = null;
    const events = this.#unwritten;
    this.#unwritten = [];
    if (events.length === 0) return;
    try {
      this.#store.add(events);
      this.#isFailing = false;
    } catch (fault) {
      this.#lost += events.length;
      // A full disk stays full for a while, and events come many times a second.
      if (!this.#isFailing) this.#options.report(`write ${events.length} events`, fault);
      this.#isFailing = true;
    }
  }

  #prune(): void {
    const { maxAgeMs, maxBytes, report } = this.#options;
    const bounds: EventBounds = { olderThan: (this.#options.pruneClock ?? this.#clock)() - maxAgeMs, maxBytes };
    try {
      if (this.#store.prune(bounds) > 0) this.#timers.after(flushMs, () => this.#prune(), { background: true });
    } catch (fault) {
      report("prune events", fault);
    }
  }
}

/**
 * Where the events after a number begin. Every watcher asks at every event, so this looks at a dozen and not at all.
 */
function firstAfter(events: readonly Event[], seq: number): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (events[middle]!.seq > seq) high = middle;
    else low = middle + 1;
  }
  return low;
}
