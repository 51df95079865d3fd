import { mkdtemp, realpath, rm } from "node:fs/promises";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "../../src/cli/daemon/connect.ts";
import type { Client } from "../../src/client/client.ts";
import { homeOf } from "../../src/client/home.ts";
import { launchSettings } from "../../src/providers/claude-code/settings.ts";
import type { AgentView, HistoryView } from "../../src/api/schema.ts";
import { prepareBench, startBench, type Bench, type BenchOptions } from "./bench.ts";
import type { AgentProgram } from "./install.ts";
import type { Json } from "./recipe.ts";
import { untilGone } from "../../src/testing/until.ts";
import { until } from "./until.ts";
import { resultOf, type ChildResult } from "../../src/testing/childResult.ts";

const launcher = new URL("../../bin/tieline", import.meta.url).pathname;

/** A Tieline of its own: home, daemon and the command, for programs on a bench. */
export class Switchboard implements AsyncDisposable {
  readonly home: string;
  private bench: Bench | null = null;
  private readonly rows: string[][] = [];

  private constructor(readonly root: string) {
    this.home = join(root, "tieline");
  }

  static async start(config: object = {}): Promise<Switchboard> {
    const board = new Switchboard(await realpath(await mkdtemp(join(tmpdir(), "tl-board-"))));
    await Bun.write(join(board.home, "config.json"), JSON.stringify(config));
    await board.run("daemon", "start");
    return board;
  }

  /** What a session's settings say when its hooks reach this Tieline. */
  settings(): Json {
    return launchSettings({ hook: join(this.home, "hooks", "hook"), wait: join(this.home, "hooks", "wait") });
  }

  /** Claude Code with our hooks in its settings, adopted as `ana`. */
  async claude({ settings = this.settings(), ...options }: BenchOptions = {}): Promise<Bench> {
    const bench = await startBench("claude-code", { settings, ...options });
    this.bench = bench;
    this.liveIn(bench);
    await this.run("adopt", bench.pane, "--name", "ana", "--provider", "claude-code");
    return bench;
  }

  /** The command by a path that works in every shell. */
  get command(): string {
    return join(this.home, "bin", "tieline");
  }

  /** This home is the one that `tieline` uses there by itself. */
  private liveIn({ place }: Bench): void {
    const usual = join(place.home, ".tieline");
    if (!existsSync(usual)) symlinkSync(this.home, usual);
  }

  codex(options: BenchOptions = {}): Promise<Bench> {
    return this.spawned("codex", options);
  }

  /** A program, started by this Tieline as `ana`, and `bob`, one that only reads, with whose token `sendAs` speaks. */
  async spawned(program: AgentProgram, options: BenchOptions = {}): Promise<Bench> {
    const { bench, command, launch } = await prepareBench(program, options);
    this.bench = bench;
    const { home, project } = bench.place;
    const reads = [
      "sh",
      "-c",
      `umask 077; echo $TIELINE_TOKEN > ${home}/bob.new; mv ${home}/bob.new ${home}/bob.token; exec cat`,
    ];
    // Permissions are Tieline's to give here.
    const args =
      program === "codex" || program === "claude-code"
        ? (options.args ?? [])
        : bench.recipe.args(bench.place, { ...launch, permissions: "ask" });
    const ana = {
      provider: program,
      command,
      cwd: project,
      env: bench.env,
      permissions: options.permissions === "allow" ? "skip" : "ask",
      args,
    };
    // JSON is YAML too.
    await Bun.write(
      join(this.root, "tieline.yaml"),
      JSON.stringify({ team: "default", agents: { ana, bob: { provider: "generic", command: reads } } }),
    );
    return bench.after(async () => {
      await this.run("trust", "--yes");
      await this.run("up");
      await this.enter(bench);
      if (options.untilReady ?? true) await bench.untilReady();
    });
  }

  /** Adopts the program on a bench as the agent `ana`. */
  async adopt(bench: Bench): Promise<void> {
    this.bench = bench;
    this.liveIn(bench);
    await this.run("adopt", bench.pane, "--name", "ana", "--provider", bench.program);
  }

  /** Serves the home and the tmux server of a bench, whose program is not an agent yet. */
  async serve(bench: Bench): Promise<void> {
    await this.run("daemon", "stop");
    this.bench = bench;
  }

  /** Finds the pane in which `ana` runs now. */
  async enter(bench: Bench): Promise<void> {
    const { pane } = (await this.json<AgentView[]>("ls")).find(({ name }) => name === "ana")!;
    bench.pane = pane!;
    bench.agentPid = Number(await bench.tmux("display-message", "-p", "-t", bench.pane, "#{pane_pid}"));
  }

  /** The token of `bob`. */
  async bobsToken(): Promise<string> {
    const file = join(this.bench!.place.home, "bob.token");
    await until(() => existsSync(file), { what: async () => "bob runs" });
    return readFileSync(file, "utf8").trim();
  }

  async tieline(args: readonly string[], env: Record<string, string> = {}): Promise<ChildResult> {
    const child = Bun.spawn([launcher, ...args], {
      cwd: this.root,
      env: this.env(env),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    return resultOf(child);
  }

  private env(more: Record<string, string> = {}): Record<string, string> {
    const base = this.bench?.env ?? {
      PATH: process.env["PATH"]!,
      HOME: this.root,
      LANG: "C.UTF-8",
      TERM: "xterm-256color",
    };
    return {
      ...base,
      TIELINE_HOME: this.home,
      ...(this.bench && { TIELINE_TMUX_SOCKET: this.bench.tmuxServer }),
      ...more,
    };
  }

  /** What the command calls, without a process for each call: for the user, or for the owner of a token. */
  client(token?: string): Client {
    const env = this.env(token === undefined ? {} : { TIELINE_TOKEN: token });
    return connect(homeOf(env), env);
  }

  async run(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.tieline(args);
    if (code !== 0) throw new Error(`tieline ${args.join(" ")}: exit ${code}\n${stdout}${stderr}`);
    return stdout;
  }

  async json<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.run(...args, "--json")) as T;
  }

  async send(...args: string[]): Promise<string> {
    return (await this.json<{ tag: string }>("send", ...patiently(args))).tag;
  }

  /** Another agent, which fetches its mail itself, with its own token: `tieline` commands with it are its own. */
  async another(name: string): Promise<string> {
    return (await this.client().call("register", { name })).token;
  }

  async sendAs(token: string, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.tieline(["send", ...patiently(args), "--json"], {
      TIELINE_TOKEN: token,
    });
    if (code !== 0) throw new Error(`send ${args.join(" ")}: exit ${code}\n${stdout}${stderr}`);
    return (JSON.parse(stdout) as { tag: string }).tag;
  }

  /** Notes how long a send took until it returned, for the table at the end. */
  async timed(situation: string, when: string, send: () => Promise<string>): Promise<string> {
    const began = performance.now();
    const tag = await send();
    this.note(situation, when, await this.status(tag), performance.now() - began);
    return tag;
  }

  note(
    situation: string,
    when: string,
    { acceptedAt, deliveries: [delivery], steps }: HistoryView,
    commandMs?: number,
  ): void {
    const ms = (at: string | number): number => new Date(at).getTime();
    const seen = steps.findLast((step) => step.to === "seen");
    const took = seen ? `${ms(seen.at) - ms(acceptedAt)} ms` : "–";
    this.rows.push([
      situation,
      when,
      delivery?.transport ?? "–",
      delivery?.authority ?? "–",
      delivery?.proof ?? "–",
      took,
      commandMs === undefined ? "" : `${Math.round(commandMs)} ms`,
    ]);
  }

  status(tag: string): Promise<HistoryView> {
    return this.client().call("status", { tag });
  }

  /** Waits until the only delivery of a message has come that far, and answers its history. */
  async reached(
    tag: string,
    fits: (delivery: HistoryView["deliveries"][number]) => boolean,
    deadlineMs = 120_000,
  ): Promise<HistoryView> {
    let history = await this.status(tag);
    await until(async () => fits((history = await this.status(tag)).deliveries[0]!), {
      deadlineMs,
      what: async () =>
        `${tag} fits; it is ` +
        `${JSON.stringify(history, null, 1)}\n${readFileSync(join(this.home, "daemon.log"), "utf8").slice(-3_000)}`,
    });
    return history;
  }

  /** SIGKILL: the next command finds no daemon and starts one. */
  async killDaemon(): Promise<void> {
    const { pid } = await this.json<{ pid: number }>("daemon", "status");
    process.kill(pid, "SIGKILL");
    await untilGone(pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const row of this.rows) console.log(`${this.bench?.program} | ${row.join(" | ")}`);
    await this.tieline(["daemon", "stop"]);
    await rm(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** What a busy machine makes of the programs is not what these tests are about. */
const patiently = (args: readonly string[]): readonly string[] =>
  args.includes("--wait") && !args.includes("--timeout") ? ["--timeout", "2m", ...args] : args;
