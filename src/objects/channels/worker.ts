import { sourceUrl } from "../../os/install.ts";
import type { Channel, ChannelEvents, OpenChannel } from "../channel.ts";
import { FromObject, type ToObject } from "../protocol.ts";
import { systemTimers, type Timers } from "../../os/timers.ts";

/** A module as it was read and trusted: its code is not read again. null: there is no such file. */
export interface ModuleText {
  readonly path: string;
  readonly text: string | null;
}

/** From the switch to the thread, and back. A thread serves several objects; `channel` says which. */
export type ToThread =
  | { readonly channel: number; readonly open: ModuleText }
  | { readonly channel: number; readonly hear: ToObject }
  | { readonly channel: number; /** Why. */ readonly drop: string };
export type FromThread =
  | { readonly channel: number; readonly said: FromObject }
  | {
      readonly channel: number;
      readonly ended: string;
      /** Its module cannot be loaded. */ readonly unloadable?: true;
    };

/**
 * Handlers from modules, each module in a thread of its own, so that a loop without end stops no one else. Objects of
 * the same module share its thread: five hundred of them cost no more than one.
 */
export class ModuleThreads {
  private readonly threads = new Map<string, Thread>();
  private lastChannel = 0;

  /** `patienceMs`: how long a thread may take to release one object before the whole thread is ended. */
  constructor(
    private readonly patienceMs = 1_000,
    private readonly timers: Pick<Timers, "after"> = systemTimers,
  ) {}

  opener(module: ModuleText): OpenChannel {
    const key = `${module.path}\0${module.text}`;
    return (events) => {
      const thread = this.threads.get(key) ?? this.begin(key);
      return thread.open(++this.lastChannel, module, events);
    };
  }

  private begin(key: string): Thread {
    const thread = new Thread(this.patienceMs, this.timers, () => {
      if (this.threads.get(key) === thread) this.threads.delete(key);
    });
    this.threads.set(key, thread);
    return thread;
  }
}

class Thread {
  /** It does not keep the switch from ending. */
  private readonly worker = new Worker(sourceUrl("objects/channels/thread.ts").href, { smol: true, ref: false });
  private readonly channels = new Map<number, ChannelEvents>();

  constructor(
    private readonly patienceMs: number,
    private readonly timers: Pick<Timers, "after">,
    private readonly over: () => void,
  ) {
    this.worker.addEventListener("message", ({ data }: MessageEvent<FromThread>) => this.hear(data));
    this.worker.addEventListener("error", (event) => this.end(`uncaught error: ${event.message}`));
    this.worker.addEventListener("close", () => this.end("its thread ended"));
  }

  open(channel: number, module: ModuleText, events: ChannelEvents): Channel {
    this.channels.set(channel, events);
    this.post({ channel, open: module });
    return {
      send: (message) => this.channels.has(channel) && this.post({ channel, hear: message }),
      kill: (reason) => this.drop(channel, reason),
    };
  }

  private post(message: ToThread): void {
    this.worker.postMessage(message);
  }

  private hear(message: FromThread): void {
    const events = this.channels.get(message.channel);
    if (events === undefined) return;
    if ("ended" in message) return this.close(message.channel, message.ended, message.unloadable);
    const parsed = FromObject.safeParse(message.said);
    if (parsed.success) events.said(parsed.data);
    else events.noted("not a message of the protocol");
  }

  /**
   * A handler that only waits for something can be forgotten; one that does not let its thread answer takes it along.
   */
  private drop(channel: number, reason: string): void {
    if (!this.channels.has(channel)) return;
    this.post({ channel, drop: reason });
    this.timers.after(this.patienceMs, () => {
      if (!this.channels.has(channel)) return;
      this.close(channel, reason);
      this.end("its thread was ended because another object of the module did not answer");
    });
  }

  private close(channel: number, reason: string, unloadable = false): void {
    const events = this.channels.get(channel);
    this.channels.delete(channel);
    events?.ended(reason, unloadable);
    if (this.channels.size === 0) this.end("nothing is left to do");
  }

  private end(reason: string): void {
    this.over();
    this.worker.terminate();
    for (const [channel, events] of [...this.channels]) {
      this.channels.delete(channel);
      events.ended(reason);
    }
  }
}
