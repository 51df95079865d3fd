import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { asTielineError } from "../model/errors.ts";
import { uuidv4, type RandomBytes } from "../model/ids.ts";
import { ControlClient, type Turn } from "./control.ts";
import { bunExec, type Exec, type ExecResult } from "../os/exec.ts";
import type { SpawnPiped } from "../os/pipedProcess.ts";
import type { Timers } from "../os/timers.ts";
import { commandFailed, saysNoServer, tmuxSilent, tmuxUnavailable } from "./failure.ts";
import { findLeash, type Leash } from "./leash.ts";
import { commandLine } from "./quote.ts";
import { parseVersion, requireVersion, type TmuxVersion, tmuxMissing } from "./version.ts";

export interface AttachableSession {
  id: string;
  name: string;
}

export interface TmuxServerOptions {
  socketPath: string;
  /** The environment of every tmux process, and so of a server that we start. */
  env?: Record<string, string>;
  exec?: Exec;
  timeoutMs?: number;
  /** Which sessions our client may sit on. Those with `destroy-unattached` are never asked about. */
  mayAttach?: (session: AttachableSession) => boolean;
  /**
   * Our client lost its session: what was known of the server must be read again. False: there is nothing to sit on.
   */
  onResync?: (attached: boolean) => void;
  /** Clients came, went or moved to another session; also said once when we begin to listen. */
  onPeople?: () => void;
  program?: string;
  /** For control clients. */
  spawn?: SpawnPiped;
  timers?: Timers;
  random?: RandomBytes;
}

export interface ServerIdentity {
  socketPath: string;
  pid: number;
  startedAt: number;
}

/** A list of commands: argument vectors, which are quoted here, or one line in tmux's own syntax. */
export type CommandList = readonly (readonly string[])[] | string;

/**
 * One tmux server, known by its socket. Commands go through a control client that sits on an existing session; while
 * there is none to sit on, each list is a process of its own that reads it from its input, so that no body or secret
 * is ever an argument of a process. `run` never sends a list twice: when its answer is lost, the caller gets an error.
 */
export class TmuxServer {
  readonly socketPath: string;
  readonly #options: TmuxServerOptions;
  readonly #exec: Exec;
  readonly #program: string;
  #client: ControlClient | undefined;
  #attaching: Promise<ControlClient | undefined> | undefined;
  #closed = false;
  #lastTurn: Promise<unknown> = Promise.resolve();
  #leash: Leash | undefined;

  constructor(options: TmuxServerOptions) {
    this.socketPath = options.socketPath;
    this.#options = options;
    this.#exec = options.exec ?? bunExec;
    this.#program = options.program ?? "tmux";
  }

  /** What watchers need to attach clients of their own. */
  get clientOptions() {
    const { socketPath, env, timeoutMs, program, spawn, timers, random } = this.#options;
    return {
      socketPath,
      turn: this.#turn,
      leash: this.#findLeash,
      timeoutMs: Math.min(timeoutMs ?? wedgedMs, wedgedMs),
      ...(env && { env }),
      ...(program && { program }),
      ...(spawn && { spawn }),
      ...(timers && { timers }),
      ...(random && { random }),
    };
  }

  /** By which word another process runs the same tmux. */
  get program(): string {
    const path = this.#options.env?.["PATH"];
    return Bun.which(this.#program, path === undefined ? {} : { PATH: path }) ?? this.#program;
  }

  /** A word that no screen contains, by design or by chance. */
  readonly uniqueWord = (): string => uuidv4(this.#options.random);

  readonly #turn: Turn = (step) => {
    const turn = this.#lastTurn.then(step, step);
    this.#lastTurn = turn.catch(() => undefined);
    return turn;
  };

  readonly #findLeash = async (): Promise<Leash> => (this.#leash ??= await findLeash(this.#exec, this.#options.env));

  /** The printed lines of all commands of the list. Throws when one of them fails. */
  async run(list: CommandList): Promise<string[]> {
    const line = typeof list === "string" ? list : commandLine(list);
    const client = await this.#attached();
    return client ? client.command(line) : this.#runProcess(line);
  }

  /**
   * `run` for a list that makes, ends or reorders sessions and windows. tmux 3.3a tells every client of that, also one
   * that is about to come and cannot be known yet, and ends with a fault; so this waits for its turn with them.
   */
  async rearrange(list: CommandList): Promise<string[]> {
    const line = typeof list === "string" ? list : commandLine(list);
    await this.#attached();
    // No attaching here, which would wait for a turn of its own.
    return this.#turn(() => (this.#client?.isOpen ? this.#client.command(line) : this.#runProcess(line)));
  }

  /** `run` for a list that changes nothing: it is asked again where the client was lost under way. */
  async read(list: CommandList): Promise<string[]> {
    const client = this.#client;
    try {
      return await this.run(list);
    } catch (error) {
      const lostClient = client !== undefined && !client.isOpen && asTielineError(error).code === "TMUX_UNAVAILABLE";
      if (!lostClient) throw error;
      return this.run(list);
    }
  }

  async alive(): Promise<boolean> {
    if (this.#client?.isOpen) return true;
    const { code, stderr } = await this.#tmux(["list-sessions", "-F", ""]);
    return code === 0 || !saysNoServer(stderr);
  }

  async identity(): Promise<ServerIdentity> {
    const [line = ""] = await this.read([["display-message", "-p", "#{pid} #{start_time}"]]);
    const [pid, startedAt] = line.split(" ").map(Number);
    return { socketPath: this.socketPath, pid: pid ?? 0, startedAt: (startedAt ?? 0) * 1000 };
  }

  /** The version of the installed program. Throws TMUX_UNAVAILABLE where tmux is missing or too old. */
  async version(): Promise<TmuxVersion> {
    const { stdout } = await this.#tmux(["-V"]);
    return requireVersion(parseVersion(stdout));
  }

  /** The first session of a server that does not run can only be made by a process; it must not carry secrets. */
  async startServer(argv: string[]): Promise<string[]> {
    // With `-S` tmux does not make the directory that it makes by itself otherwise.
    mkdirSync(dirname(this.socketPath), { recursive: true, mode: 0o700 });
    const { code, stdout, stderr } = await this.#tmux(argv);
    if (code !== 0) throw commandFailed(stderr, argv[0] ?? "");
    return stdout.split("\n").slice(0, -1);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#attaching?.catch(() => undefined);
    await this.#client?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #attached(): Promise<ControlClient | undefined> {
    if (this.#closed) throw tmuxUnavailable("the connection to tmux is closed", { socketPath: this.socketPath });
    if (this.#client?.isOpen) return this.#client;
    this.#attaching ??= this.#attach().finally(() => (this.#attaching = undefined));
    return this.#attaching;
  }

  async #attach(): Promise<ControlClient | undefined> {
    this.#client = undefined;
    for (const session of await this.#attachable()) {
      const client = await this.#attachTo(session).catch((error: unknown) => {
        // A session may end between the listing and the attaching; the next one will do.
        if (asTielineError(error).code !== "PANE_UNKNOWN") throw error;
        return undefined;
      });
      if (!client) continue;
      this.#client = client;
      this.#options.onPeople?.();
      void client.closed.then(() => this.#onClientClosed());
      return client;
    }
    return undefined;
  }

  #attachTo(session: AttachableSession): Promise<ControlClient> {
    let client: ControlClient | undefined;
    const attaching = ControlClient.attach({
      ...this.clientOptions,
      session: session.name,
      // tmux moves a client whose session ends to another one where `detach-on-destroy` is off. That session may be
      // one that must not be held open, so leave it and choose again.
      onNotification: (notification) => {
        if (notification.type === "client-moved") this.#options.onPeople?.();
        if (notification.type === "session-changed" && notification.session !== session.id) void client?.close();
      },
    });
    return attaching.then((attached) => (client = attached));
  }

  async #attachable(): Promise<AttachableSession[]> {
    const { code, stdout, stderr } = await this.#tmux(["list-sessions", "-F", sessionFormat], { withinMs: listingMs });
    if (code !== 0) {
      if (saysNoServer(stderr))
        throw tmuxUnavailable(`no tmux server at ${this.socketPath}`, { socketPath: this.socketPath });
      throw commandFailed(stderr, "list-sessions");
    }
    const mayAttach = this.#options.mayAttach ?? (() => true);
    return stdout.split("\n").flatMap((line) => {
      const [, id, destroyUnattached, name] = sessionLine.exec(line) ?? [];
      if (!id || !name || (destroyUnattached !== "0" && destroyUnattached !== "off")) return [];
      return mayAttach({ id, name }) ? [{ id, name }] : [];
    });
  }

  async #onClientClosed(): Promise<void> {
    if (this.#closed) return;
    const next = await this.#attached().catch(() => undefined);
    this.#options.onResync?.(next !== undefined);
  }

  async #runProcess(line: string): Promise<string[]> {
    const { code, stdout, stderr } = await this.#tmux(["source-file", "-"], { stdin: `${line}\n` });
    if (code !== 0) throw commandFailed(stderr, line);
    return stdout.split("\n").slice(0, -1);
  }

  async #tmux(
    argv: string[],
    { stdin, withinMs = wedgedMs }: { stdin?: string; withinMs?: number } = {},
  ): Promise<ExecResult> {
    const { env, timeoutMs = withinMs } = this.#options;
    const options = {
      ...(env && { env }),
      timeoutMs: Math.min(timeoutMs, withinMs),
      ...(stdin !== undefined && { stdin }),
    };
    try {
      return await this.#exec([this.#program, "-u", "-S", this.socketPath, ...argv], options);
    } catch (error) {
      const { code } = asTielineError(error);
      if (code === "NOT_INSTALLED") throw tmuxMissing(this.#program, error);
      throw code === "NOT_IN_TIME" ? tmuxSilent(argv[0] ?? "", this.socketPath) : error;
    }
  }
}

/**
 * tmux answers within milliseconds. If it is silent for this long it is stopped or stuck, however long a program may
 * take.
 */
const wedgedMs = 15_000;
/** A list of the sessions that takes this long is asked of a server that answers no one. */
const listingMs = 5_000;
const sessionFormat = "#{session_id} #{destroy-unattached} #{session_name}";
const sessionLine = /^(\$\d+) (\S+) (.*)$/;
