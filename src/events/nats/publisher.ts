/**
 * Events on their way to a NATS server that may be absent, slow or dying. Offering an event never waits and never
 * throws; what cannot be published is counted, and nothing is kept beyond a bounded queue.
 */
import type { Event } from "../../model/event.ts";
import { elapsedFor, systemClock, type Clock, type Elapsed, type MessageId } from "../../model/ids.ts";
import { isPublished, publicationsOf } from "./subjects.ts";
import { systemTimers, type Scheduled, type Timers } from "../../os/timers.ts";

/** What we need of a connection to a server. */
export interface Link {
  publish(subject: string, payload: string): void;
  /** Resolves when the server has taken everything so far; rejects when the connection breaks before. */
  flush(): Promise<void>;
  /** False while the connection is broken and being made again. */
  readonly up: boolean;
  /** Resolves when the connection is up again, or for good closed. */
  restored(): Promise<void>;
  readonly closed: boolean;
  close(): Promise<void>;
}

export type OpenLink = () => Promise<Link>;

export interface PublisherOptions {
  readonly prefix: string;
  /** A message's text, if it is still there. */
  readonly contentOf: (id: MessageId) => string | null;
  readonly clock?: Clock;
  readonly timers?: Timers;
  readonly idleMs?: number;
  readonly capacity?: number;
  /** How long a broken connection is waited for. */
  readonly graceMs?: number;
}

export interface PublisherState {
  readonly connection: "unused" | "open" | "broken" | "failed";
  readonly published: number;
  readonly dropped: number;
  /** Not said yet: the server is being looked for, or does not read. */
  readonly waiting: number;
  readonly error: string | null;
}

const batchSize = 128;
/** What happens in one moment is said with one write. */
const gatherMs = 5;
const firstRetryMs = 500;
const longestRetryMs = 30_000;
/** A server that does not read is not waited for at the end. */
const closeMs = 500;

export class NatsPublisher implements AsyncDisposable {
  readonly #open: OpenLink;
  readonly #options: Required<PublisherOptions>;
  #queue: Event[] = [];
  #link: Link | null = null;
  #running: Promise<void> | null = null;
  #idle: Scheduled | null = null;
  readonly #elapsed: Elapsed;
  #retryAt = 0;
  #retryMs = firstRetryMs;
  #published = 0;
  #dropped = 0;
  #error: string | null = null;
  #stopped = false;

  constructor(open: OpenLink, options: PublisherOptions) {
    this.#open = open;
    this.#elapsed = elapsedFor(options.clock);
    this.#options = {
      clock: systemClock,
      timers: systemTimers,
      idleMs: 500,
      capacity: 4_096,
      graceMs: 30_000,
      ...options,
    };
  }

  offer(event: Event): void {
    if (this.#stopped || !isPublished(event)) return;
    if (this.#link === null && this.#elapsed() < this.#retryAt) {
      this.#dropped++;
      return;
    }
    this.#queue.push(event);
    if (this.#queue.length > this.#options.capacity) {
      this.#queue.shift();
      this.#dropped++;
    }
    this.#running ??= this.#run();
  }

  get state(): PublisherState {
    const connection =
      this.#link === null ? (this.#error === null ? "unused" : "failed") : this.#link.up ? "open" : "broken";
    return {
      connection,
      published: this.#published,
      dropped: this.#dropped,
      waiting: this.#queue.length,
      error: this.#error,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    this.#drop(this.#queue.splice(0));
    await this.#close();
    if (this.#running) await this.#within(closeMs, this.#running);
  }

  /**
   * The emitter continues first; then the queue is published, and the connection is closed when it stays empty.
   */
  async #run(): Promise<void> {
    await this.#options.timers.pause(gatherMs);
    this.#idle?.cancel();
    while (this.#queue.length > 0) {
      const link = await this.#linked();
      if (link === null) this.#drop(this.#queue.splice(0));
      else await this.#say(link, this.#queue.splice(0, batchSize));
    }
    this.#running = null;
    const { timers, idleMs } = this.#options;
    if (this.#link) this.#idle = timers.after(idleMs, () => void this.#close());
  }

  /** One batch at a time is on its way, so that a server that does not read costs no memory. */
  async #say(link: Link, batch: readonly Event[]): Promise<void> {
    const { prefix, contentOf } = this.#options;
    try {
      for (const event of batch) {
        for (const { subject, payload } of publicationsOf(event, prefix, contentOf))
          link.publish(subject, JSON.stringify(payload));
      }
      await link.flush();
      this.#published += batch.length;
    } catch (fault) {
      this.#fail(fault);
      this.#drop(batch);
    }
  }

  /** A connection that works, made if need be; null when there is none to be had now. */
  async #linked(): Promise<Link | null> {
    try {
      if (this.#link && !this.#link.up) await this.#within(this.#options.graceMs, this.#link.restored());
      if (this.#link && !this.#link.up) await this.#close();
      if (this.#stopped) return null;
      this.#link ??= await this.#open();
      if (this.#stopped) return (await this.#close(), null);
      this.#retryMs = firstRetryMs;
      this.#error = null;
      return this.#link;
    } catch (fault) {
      this.#fail(fault);
      this.#retryAt = this.#elapsed() + this.#retryMs;
      this.#retryMs = Math.min(2 * this.#retryMs, longestRetryMs);
      return null;
    }
  }

  async #close(): Promise<void> {
    this.#idle?.cancel();
    const link = this.#link;
    this.#link = null;
    if (link) await this.#within(closeMs, link.close()).catch((fault: unknown) => this.#fail(fault));
  }

  async #within(ms: number, promise: Promise<void>): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    using _timer = this.#options.timers.after(ms, resolve);
    await Promise.race([promise, late]);
  }

  #drop(events: readonly Event[]): void {
    this.#dropped += events.length;
  }

  #fail(fault: unknown): void {
    this.#error = fault instanceof Error ? fault.message || fault.name : String(fault);
  }
}
