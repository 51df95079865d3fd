import type { TielineError } from "../model/errors.ts";
import { uuidv4, type RandomBytes } from "../model/ids.ts";
import { spawnPiped, textOf, type PipedProcess, type SpawnPiped } from "../os/pipedProcess.ts";
import { systemTimers, type Scheduled, type Timers } from "../os/timers.ts";
import { commandFailed, tmuxSilent, tmuxUnavailable } from "./failure.ts";
import type { Leash } from "./leash.ts";
import { type Notification, parseNotification } from "./notification.ts";

/** The answer to one command of a list: tmux writes one block per command that ran, and stops at the first failure. */
export interface Block {
  ok: boolean;
  lines: string[];
}

export type ClientFlag = "ignore-size" | "no-output" | "read-only";

export interface ControlOptions {
  socketPath: string;
  /** Name of the session, matched exactly. */
  session: string;
  flags?: readonly ClientFlag[];
  env?: Record<string, string>;
  onNotification?: (notification: Notification) => void;
  /**
   * Coming and going, one at a time on one server: tmux 3.3a ends with a fault, and every pane with it, when a client
   * leaves at the moment at which a control client is about to come.
   */
  turn?: Turn;
  /** Lets the client end with us, also when we are killed. */
  leash?: () => Promise<Leash>;
  /** How long one command may take before the client counts as wedged and is closed. */
  timeoutMs?: number;
  program?: string;
  spawn?: SpawnPiped;
  timers?: Timers;
  random?: RandomBytes;
}

export type Turn = <Result>(step: () => Promise<Result>) => Promise<Result>;

interface Pending {
  line: string;
  token: string;
  blocks: Block[];
  timer: Scheduled;
  resolve: (blocks: Block[]) => void;
  reject: (error: TielineError) => void;
}

/** How long the clients of one ended session take to leave, at most. */
const leavingMs = 150;

/**
 * A `tmux -C` client: commands go in as lines, answers and notifications come out.
 *
 * How many blocks answer a line cannot be known beforehand (`if` adds some, an error drops some), so every line is
 * followed by a second one that prints a random token. The token ends the answer. Programs in panes cannot know it,
 * so a screen that imitates `%begin` or `%end` can spoil the text of one answer but never shift the later ones.
 */
export class ControlClient {
  /** Resolves with the reason once the client has exited. */
  readonly closed: Promise<string>;
  readonly #child: PipedProcess;
  readonly #timers: Timers;
  readonly #options: ControlOptions;
  readonly #pending: Pending[] = [];
  readonly #nonce: string;
  readonly #attached = Promise.withResolvers<void>();
  #sequence = 0;
  #open: (Block & { guard: string; ours: boolean }) | undefined;
  #attachError = "";
  #exitReason = "";
  /** The command that was not answered in time. */
  #wedgedAt: string | null = null;
  readonly #giveUp = new AbortController();
  #ended = false;
  #closing = false;

  /** Resolves when the client is attached: tmux loses commands that arrive before its first `%session-changed`. */
  static attach(options: ControlOptions): Promise<ControlClient> {
    return (options.turn ?? atOnce)(() => ControlClient.#attachNow(options));
  }

  static async #attachNow(options: ControlOptions): Promise<ControlClient> {
    const client = new ControlClient(options, (await options.leash?.()) ?? []);
    using _timer = client.#timers.after(options.timeoutMs ?? defaultTimeoutMs, () => client.#wedged("attach-session"));
    await client.#attached.promise;
    return client;
  }

  private constructor(options: ControlOptions, leash: Leash) {
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
    this.#nonce = uuidv4(options.random);
    this.#child = spawnClient(options, leash);
    this.#attached.promise.catch(() => {});
    this.closed = this.#read();
    // A session that ends takes all its clients along; no client attaches while the others may still be leaving.
    void this.closed.then(() => (this.#closing ? undefined : options.turn?.(() => this.#timers.pause(leavingMs))));
  }

  get isOpen(): boolean {
    return !this.#ended && !this.#closing;
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** The printed lines of all commands of the list, joined. Throws when any of them failed. */
  async command(line: string): Promise<string[]> {
    const blocks = await this.blocks(line);
    const failed = blocks.find((block) => !block.ok);
    if (failed) throw commandFailed(failed.lines.join("; "), line);
    return blocks.flatMap((block) => block.lines);
  }

  /** One block per command that ran, in order; a failed one is the last of its list. */
  blocks(line: string): Promise<Block[]> {
    // An empty line would detach the client; a line break would make two answers of one.
    if (!line.trim() || /[\r\n]/.test(line)) {
      return Promise.reject(commandFailed("a command is one line that is not empty", line));
    }
    if (!this.isOpen) return Promise.reject(this.#gone());
    return new Promise((resolve, reject) => {
      const token = `${this.#nonce}-${this.#sequence++}`;
      const timer = this.#timers.after(this.#options.timeoutMs ?? defaultTimeoutMs, () => this.#wedged(line));
      this.#pending.push({ line, token, blocks: [], timer, resolve, reject });
      this.#write(`${line}\ndisplay-message -p ${token}\n`);
    });
  }

  /** Detaches and waits until the process has ended. May be called any number of times. */
  async close(): Promise<void> {
    if (!this.#closing) {
      this.#closing = true;
      await (this.#options.turn ?? atOnce)(() => this.#leave());
    }
    await this.closed;
  }

  async #leave(): Promise<void> {
    // The end of its input detaches a control client; no signal is needed unless tmux hangs.
    this.#endInput();
    using _hard = this.#timers.after(closeGraceMs, () => {
      this.#child.kill("SIGKILL");
      this.#giveUp.abort();
    });
    await this.closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #write(text: string): void {
    // A broken pipe means that the client is ending: its last output says why, and ends what is pending.
    const broken = () => this.#child.kill();
    try {
      // The sink keeps the order and holds what the pipe does not take yet; either call may fail now or later.
      Promise.resolve(this.#child.stdin.write(text)).catch(broken);
      Promise.resolve(this.#child.stdin.flush()).catch(broken);
    } catch {
      broken();
    }
  }

  #endInput(): void {
    try {
      Promise.resolve(this.#child.stdin.end()).catch(() => this.#child.kill());
    } catch {
      this.#child.kill();
    }
  }

  async #read(): Promise<string> {
    const stderr = textOf(this.#child.stderr).text;
    try {
      for await (const line of lines(this.#child.stdout, this.#giveUp.signal)) this.#onLine(line);
    } finally {
      this.#ended = true;
    }
    await this.#child.exited;
    const refusal = this.#attachError || (await stderr).trim();
    const reason = this.#exitReason || refusal || "the tmux client ended";
    this.#exitReason = reason;
    // Without a refusal the client was detached, or its server exited, before it heard that it was attached.
    const refused = this.#wedgedAt === null && refusal !== "";
    this.#attached.reject(refused ? commandFailed(refusal, "attach-session") : this.#gone());
    for (const pending of this.#pending.splice(0)) this.#settle(pending, () => pending.reject(this.#gone()));
    return reason;
  }

  #onLine(raw: Buffer): void {
    const head = this.#pending[0];
    if (this.#open || raw[0] !== percent) return this.#onText(raw.toString("utf8"), head);
    const begin = isBlockMark(raw) ? beginMark.exec(raw.toString("latin1")) : null;
    if (begin) {
      this.#open = { guard: begin[1] ?? "", ours: begin[2] === "1", ok: true, lines: [] };
      return;
    }
    this.#onNotification(parseNotification(raw));
  }

  #onText(text: string, head: Pending | undefined): void {
    if (head && text === head.token) {
      this.#open = undefined;
      this.#pending.shift();
      this.#settle(head, () => head.resolve(head.blocks));
      return;
    }
    const open = this.#open;
    if (!open) return;
    if (text === `%end ${open.guard}`) this.#endBlock(open, true);
    else if (text === `%error ${open.guard}`) this.#endBlock(open, false);
    else open.lines.push(text);
  }

  #endBlock(open: Block & { ours: boolean }, ok: boolean): void {
    this.#open = undefined;
    if (open.ours) this.#pending[0]?.blocks.push({ ok, lines: open.lines });
    else if (!ok) this.#attachError = open.lines.join("; ");
  }

  #onNotification(notification: Notification): void {
    // `%exit` only gives the reason; the end of its output shows that the client has exited.
    if (notification.type === "exit") this.#exitReason ||= this.#attachError || notification.reason;
    if (notification.type === "other" && /^(end|error)$/.test(notification.name)) return;
    if (notification.type === "session-changed") this.#attached.resolve();
    this.#options.onNotification?.(notification);
  }

  #wedged(line: string): void {
    const command = line.split(" ", 1)[0]!;
    this.#exitReason = `tmux did not answer ${command} in time`;
    this.#wedgedAt = command;
    this.#child.kill("SIGKILL");
    // A server that is stopped holds the client's output open, so that its end would not come.
    this.#giveUp.abort();
  }

  #settle(pending: Pending, how: () => void): void {
    pending.timer.cancel();
    how();
  }

  #gone(): TielineError {
    if (this.#wedgedAt !== null) return tmuxSilent(this.#wedgedAt, this.#options.socketPath);
    return tmuxUnavailable(`the tmux client has ended: ${this.#exitReason || "closed"}`, {
      socketPath: this.#options.socketPath,
      session: this.#options.session,
    });
  }
}

const atOnce: Turn = (step) => step();
const defaultTimeoutMs = 120_000;
const closeGraceMs = 5_000;
const percent = 0x25;
const beginMark = /^%begin (\d+ \d+ (\d+))$/;

function isBlockMark(raw: Buffer): boolean {
  return raw[1] === 0x62 && raw[2] === 0x65;
}

function spawnClient(options: ControlOptions, leash: Leash): PipedProcess {
  const { program = "tmux", socketPath, session, flags = ["ignore-size", "no-output"], env } = options;
  const { spawn = spawnPiped } = options;
  // -u: answers are UTF-8 whatever the locale. -E: attaching must not overwrite the session's environment with ours.
  const argv = [...leash, program, "-u", "-S", socketPath, "-C", "attach-session", "-E", "-t", `=${session}`];
  if (flags.length > 0) argv.push("-f", flags.join(","));
  try {
    return spawn(argv, env);
  } catch (cause) {
    throw tmuxUnavailable(`cannot start ${program}`, { program }, cause);
  }
}

async function* lines(stream: ReadableStream<Uint8Array>, giveUp: AbortSignal): AsyncGenerator<Buffer> {
  const reader = stream.getReader();
  giveUp.addEventListener("abort", () => void reader.cancel().catch(() => undefined), { once: true });
  let parts: Buffer[] = [];
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const chunk = part.value;
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      const end = rest.subarray(0, at);
      yield parts.length > 0 ? Buffer.concat([...parts, end]) : end;
      parts = [];
      rest = rest.subarray(at + 1);
    }
    if (rest.length > 0) parts.push(rest);
  }
}
