import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { lackUnless } from "./needing.ts";

export const natsServerPath = Bun.which("nats-server", { PATH: `${process.env["PATH"]}:/usr/sbin:/usr/local/sbin` });

export const lackOfNats = lackUnless(natsServerPath !== null, "there is no nats-server here");

/** A real nats-server on a free port of this machine, which can be stopped and started again at the same address. */
export class NatsServer implements AsyncDisposable {
  readonly #dir = mkdtempSync(join(tmpdir(), "tl-nats-"));
  #process: Bun.Subprocess<"ignore", "ignore", "pipe"> | null = null;
  #port = -1;

  private constructor(private readonly config: string) {}

  static async start(config = ""): Promise<NatsServer> {
    const server = new NatsServer(config);
    await server.start();
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.#port}`;
  }

  get pid(): number {
    return this.#process!.pid;
  }

  async start(): Promise<void> {
    const file = join(this.#dir, "server.conf");
    writeFileSync(file, `listen: "127.0.0.1:${this.#port}"\n${this.config}\n`);
    this.#process = Bun.spawn([natsServerPath!, "-c", file], { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
    let log = "";
    const decoder = new TextDecoder();
    for await (const chunk of this.#process.stderr) {
      log += decoder.decode(chunk, { stream: true });
      if (!log.includes("Server is ready")) continue;
      this.#port = Number(/client connections on \S+:(\d+)/.exec(log)![1]);
      return;
    }
    throw new Error(`nats-server did not start:\n${log}`);
  }

  async stop(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    this.#process?.kill(signal);
    await this.#process?.exited;
  }

  /** Everything said under a subject, as it comes. */
  async listen(subject = ">", options: Parameters<typeof connect>[0] = {}): Promise<Listener> {
    const connection = await connect({
      servers: this.url,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 50,
      ...options,
    });
    const listener = new Listener(connection, subject);
    await connection.flush();
    return listener;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

export interface Heard {
  readonly subject: string;
  readonly payload: Record<string, unknown>;
}

export class Listener implements AsyncDisposable {
  readonly heard: Heard[] = [];
  #news = Promise.withResolvers<void>();

  constructor(
    private readonly connection: NatsConnection,
    subject: string,
  ) {
    connection.subscribe(subject, {
      callback: (_error, message) => {
        this.heard.push({ subject: message.subject, payload: message.json() });
        this.#news.resolve();
        this.#news = Promise.withResolvers();
      },
    });
  }

  async until(enough: (heard: readonly Heard[]) => boolean): Promise<readonly Heard[]> {
    while (!enough(this.heard)) await this.#news.promise;
    return this.heard;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.connection.close();
  }
}
