/**
 * One object's life: started when it is first needed, given one message at a time, started again after it crashed,
 * later each time it crashes again. What an object does can end its session's peace, never the switch's.
 */
import type { Outcome } from "../model/delivery.ts";
import type { Message } from "../model/message.ts";
import type { Channel, OpenChannel } from "./channel.ts";
import type { Accepted, ReceivedMessage } from "./handler.ts";
import type { FromObject, Posting } from "./protocol.ts";
import { asTielineError } from "../model/errors.ts";
import { systemTimers, type Scheduled, type Timers } from "../os/timers.ts";

export interface SessionOptions {
  readonly name: string;
  readonly team: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** What init and each message may take. */
  readonly timeoutMs: number;
  readonly open: OpenChannel;
  /** Sends what the object says. */
  readonly post: (posting: Posting) => Promise<Accepted>;
  readonly note: (text: string) => void;
  /** It became ready, or it ended. */
  readonly changed: (session: ObjectSession) => void;
  /** Waits after the first, second, … crash in a row. */
  readonly backoffMs?: readonly number[];
  readonly timers?: Pick<Timers, "after">;
}

export type SessionState =
  | { readonly kind: "new" }
  | { readonly kind: "starting" }
  | { readonly kind: "up"; readonly interface: unknown }
  | { readonly kind: "crashed"; readonly reason: string; readonly againInMs: number }
  /** It cannot be loaded, or never became ready: its mail goes back to the senders. */
  | { readonly kind: "broken"; readonly reason: string }
  | { readonly kind: "closed" };

/** So many starts in a row that did not end in being ready. */
const mostFailedStarts = 3;
const defaultBackoffMs = [1_000, 5_000, 15_000, 60_000];

interface InFlight {
  readonly id: string;
  readonly timer: Scheduled;
  readonly settle: (outcome: Outcome) => void;
}

export class ObjectSession {
  private current: SessionState = { kind: "new" };
  private channel: Channel | null = null;
  private inFlight: InFlight | null = null;
  private initTimer: Scheduled | null = null;
  private restart: Scheduled | null = null;
  private crashes = 0;
  private failedStarts = 0;
  private ended = Promise.withResolvers<void>();

  private readonly timers: Pick<Timers, "after">;

  constructor(private readonly parts: SessionOptions) {
    this.timers = parts.timers ?? systemTimers;
  }

  get state(): SessionState {
    return this.current;
  }

  start(): void {
    if (!["new", "crashed", "broken"].includes(this.current.kind)) return;
    this.restart?.cancel();
    this.current = { kind: "starting" };
    this.ended = Promise.withResolvers();
    const { name, team, options, timeoutMs } = this.parts;
    const channel: Channel = this.parts.open({
      said: (message) => this.hear(message),
      ended: (reason, unloadable = false) => this.over(channel, reason, unloadable),
      noted: (text) => this.parts.note(text),
    });
    this.channel = channel;
    this.initTimer = this.timers.after(timeoutMs, () => channel.kill(`it was not ready after ${timeoutMs} ms`));
    channel.send({ type: "init", name, team, options });
  }

  /**
   * Gives it one message; the first one starts it, and waits until it is ready. What it does not finish in time is
   * unknown.
   */
  async take(message: Message): Promise<Outcome> {
    const { name } = this.parts;
    if (this.current.kind === "new") {
      this.start();
      return { kind: "held", hold: { reason: "starting", detail: `${name} is starting` } };
    }
    const { current, channel } = this;
    if (current.kind === "broken") return this.refuse(current.reason);
    if (current.kind !== "up" || channel === null || this.inFlight !== null)
      return { kind: "gone", detail: `${name} is not ready` };
    return new Promise((resolve) => {
      const { timeoutMs } = this.parts;
      const timer = this.timers.after(timeoutMs, () =>
        channel.kill(`it took more than ${timeoutMs} ms for ${message.tag}`),
      );
      this.inFlight = { id: message.id, timer, settle: resolve };
      channel.send({ type: "message", ...received(message, this.parts.team) });
    });
  }

  /** Lets it finish what it is doing, within reason, and waits until it has ended. */
  async close(patienceMs = 1_000): Promise<void> {
    this.restart?.cancel();
    const { channel } = this;
    this.current = { kind: "closed" };
    if (channel === null) return;
    channel.send({ type: "close" });
    using _timer = this.timers.after(patienceMs, () => channel.kill("the switch stopped"));
    await this.ended.promise;
  }

  private hear(message: FromObject): void {
    switch (message.type) {
      case "ready":
        return this.ready(message.interface);
      case "done":
        return this.settle(message.id, { kind: "delivered", proof: "reply" });
      case "failed":
        if (message.id === undefined) return this.channel?.kill(`init: ${message.message}`);
        return this.settle(message.id, {
          kind: message.permanent ? "removed" : "error",
          detail: `${this.parts.name}: ${message.message}`,
        });
      case "log":
        return this.parts.note(message.text);
      case "send":
      case "broadcast":
      case "reply":
        return void this.post(message);
    }
  }

  private ready(contract: unknown): void {
    if (this.current.kind !== "starting") return;
    this.initTimer?.cancel();
    this.current = { kind: "up", interface: contract };
    this.failedStarts = 0;
    this.parts.changed(this);
  }

  private settle(id: string, outcome: Outcome): void {
    if (this.inFlight?.id !== id) return;
    const { timer, settle } = this.inFlight;
    timer.cancel();
    this.inFlight = null;
    this.crashes = 0;
    settle(outcome);
  }

  private async post(posting: Posting): Promise<void> {
    const { channel } = this;
    const { ref } = posting;
    try {
      const accepted = await this.parts.post(posting);
      if (ref !== undefined) channel?.send({ type: "result", ref, accepted });
    } catch (thrown) {
      const { code, message } = asTielineError(thrown);
      if (ref === undefined) this.parts.note(`${posting.type}: ${code} ${message}`);
      else channel?.send({ type: "result", ref, error: { code, message } });
    }
  }

  /** The next message tries to load it again, because the file may have been repaired. */
  private refuse(reason: string): Outcome {
    this.current = { kind: "new" };
    return { kind: "removed", detail: `${this.parts.name} cannot be loaded: ${reason}` };
  }

  private over(channel: Channel, reason: string, unloadable: boolean): void {
    if (this.channel !== channel) return;
    this.channel = null;
    if (this.current.kind === "starting") this.failedStarts++;
    this.initTimer?.cancel();
    this.loseInFlight(reason);
    if (this.current.kind !== "closed") {
      const isBroken = unloadable || (this.current.kind === "starting" && this.failedStarts >= mostFailedStarts);
      if (isBroken) this.fail(reason);
      else this.crash(reason);
    }
    this.ended.resolve();
  }

  private loseInFlight(reason: string): void {
    if (this.inFlight === null) return;
    this.inFlight.timer.cancel();
    const { settle } = this.inFlight;
    this.inFlight = null;
    settle({ kind: "unknown", detail: `${this.parts.name} ended while it had the message: ${reason}` });
  }

  private fail(reason: string): void {
    this.current = { kind: "broken", reason };
    this.parts.note(`it cannot be loaded: ${reason}`);
    this.parts.changed(this);
  }

  private crash(reason: string): void {
    const { backoffMs = defaultBackoffMs, note, changed } = this.parts;
    const pauseMs = backoffMs[Math.min(this.crashes++, backoffMs.length - 1)]!;
    this.current = { kind: "crashed", reason, againInMs: pauseMs };
    this.restart = this.timers.after(pauseMs, () => this.start());
    note(`${reason}; started again in ${pauseMs} ms`);
    changed(this);
  }
}

function received({ id, tag, from, body, kind, inReplyTo, acceptedAt }: Message, team: string): ReceivedMessage {
  const name = from.team === team || from.team === "" ? from.name : `${from.team}:${from.name}`;
  return { id, tag, from: name, fromId: from.id, content: body, kind, inReplyTo, sentAt: acceptedAt };
}
