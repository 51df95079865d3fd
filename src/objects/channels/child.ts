import type { Channel, ChannelEvents, OpenChannel } from "../channel.ts";
import { FromObject, type ToObject } from "../protocol.ts";
import { systemTimers, type Timers } from "../../os/timers.ts";

export interface ChildOptions {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** How long a child may take to end by itself once it is asked to. */
  readonly patienceMs?: number;
  readonly timers?: Timers;
}

/** A body of 1 MiB may need six bytes per character. */
const maxLineBytes = 8 << 20;

/** A program that reads and writes one JSON object per line. It ends when its stdin does, also when the switch dies. */
export function child(options: ChildOptions): OpenChannel {
  return (events) => {
    try {
      return new ChildChannel(options, events);
    } catch (thrown) {
      // Nothing runs, so nothing is there to send to.
      queueMicrotask(() =>
        events.ended(
          `${options.argv.join(" ")} cannot be run: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
          true,
        ),
      );
      return { send: () => undefined, kill: () => undefined };
    }
  };
}

class ChildChannel implements Channel {
  private readonly program: Bun.Subprocess<"pipe", "pipe", "pipe">;
  private readonly patienceMs: number;
  private readonly timers: Timers;
  private killedBecause: string | null = null;
  private lastWords = "";

  constructor(
    options: ChildOptions,
    private readonly events: ChannelEvents,
  ) {
    // A session of its own: ending it ends what it started, too.
    this.program = Bun.spawn([...options.argv], {
      cwd: options.cwd,
      env: { ...options.env },
      detached: true,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    });
    this.patienceMs = options.patienceMs ?? 1_000;
    this.timers = options.timers ?? systemTimers;
    void this.listen();
  }

  send(message: ToObject): void {
    try {
      void this.program.stdin.write(`${JSON.stringify(message)}\n`);
      void this.program.stdin.flush();
      if (message.type === "close") this.endSoon();
    } catch (thrown) {
      this.kill(`it does not listen any more: ${String(thrown)}`);
    }
  }

  kill(reason: string): void {
    this.killedBecause ??= reason;
    this.signal("SIGKILL");
  }

  private endSoon(): void {
    void this.program.stdin.end();
    const timer = this.timers.after(this.patienceMs, () => this.kill("it did not end when asked to"));
    void this.program.exited.then(() => timer.cancel());
  }

  private signal(name: NodeJS.Signals): void {
    try {
      process.kill(-this.program.pid, name);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== "ESRCH") throw thrown;
    }
  }

  private async listen(): Promise<void> {
    const heard = Promise.all([
      eachLine(
        this.program.stdout,
        (line) => this.hear(line),
        (bytes) => this.kill(`a line of more than ${bytes} bytes`),
      ),
      eachLine(
        this.program.stderr,
        (line) => this.note(line.slice(0, 2_000)),
        () => undefined,
      ),
    ]);
    const code = await this.program.exited;
    // What it said before it ended counts; a grandchild that keeps the pipe open must not hide the end.
    await Promise.race([heard, this.timers.pause(this.patienceMs)]);
    this.signal("SIGKILL");
    const { signalCode } = this.program;
    // A program that ended by itself says more than that it did not listen any more.
    this.events.ended(
      signalCode === null
        ? `it ended with exit code ${code}${this.lastWords}`
        : (this.killedBecause ?? `it was ended by ${signalCode}`),
    );
  }

  /** What it wrote last says best why it ended. */
  private note(line: string): void {
    if (line.trim() !== "") this.lastWords = `: ${line.trim().slice(0, 300)}`;
    this.events.noted(line);
  }

  private hear(line: string): void {
    if (line.trim() === "") return;
    const message = parsed(line);
    if (message === null) this.events.noted(`not a line of the protocol: ${line.slice(0, 200)}`);
    else this.events.said(message);
  }
}

function parsed(line: string): FromObject | null {
  try {
    const result = FromObject.safeParse(JSON.parse(line));
    return result.success ? result.data : null;
  } catch {
    return null;
  }
}

async function eachLine(
  stream: ReadableStream<Uint8Array>,
  line: (text: string) => void,
  tooLong: (limit: number) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let held = "";
  for await (const chunk of stream) {
    const lines = (held + decoder.decode(chunk, { stream: true })).split("\n");
    held = lines.pop()!;
    for (const text of lines) line(text);
    if (held.length <= maxLineBytes) continue;
    held = "";
    tooLong(maxLineBytes);
  }
  if (held !== "") line(held);
}
