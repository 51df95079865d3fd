import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freshTexts, startModelServer, type ModelServer, type Script } from "../../fixtures/model-servers/server.ts";
import { readRegistry, type RegisteredSession } from "../../src/providers/claude-code/registry.ts";
import { installAgent, type AgentProgram } from "./install.ts";
import { endProcesses, processesIn, wordsOf } from "./processes.ts";
import type { Json, LaunchOptions, Place, Recipe } from "./recipe.ts";
import { claudeCode } from "./recipes/claudeCode.ts";
import { codex, codexSettings } from "./recipes/codex.ts";
import { gemini } from "./recipes/gemini.ts";
import { opencode } from "./recipes/opencode.ts";
import { pi } from "./recipes/pi.ts";
import { captureCommand, parseCapture, type Screen } from "./screen.ts";
import { insist, until } from "./until.ts";
import { resultOf } from "../../src/testing/childResult.ts";

export const recipes: Record<AgentProgram, Recipe> = { "claude-code": claudeCode, codex, gemini, opencode, pi };

export interface BenchOptions extends Partial<Omit<LaunchOptions, "modelUrl">> {
  script?: Script;
  columns?: number;
  rows?: number;
  env?: Record<string, string>;
  /** Codex only: threads live in an app server of their own, to which the pane and others connect. */
  appServer?: boolean;
  /** Another version than the pinned one. */
  version?: string;
  /** Wait until the program waits for a prompt. Off for tests of start-up dialogs. */
  untilReady?: boolean;
}

interface Started {
  program: AgentProgram;
  recipe: Recipe;
  model: ModelServer;
  place: Place;
  root: string;
  server: string;
  env: Record<string, string>;
}

/** One real program in a private tmux server and home, talking to a scripted model. */
export async function startBench(program: AgentProgram, options: BenchOptions = {}): Promise<Bench> {
  const { columns = 120, rows = 40, appServer = false, untilReady = true } = options;
  const { bench, command, launch } = await prepareBench(program, options);
  return bench.after(async () => {
    const run = appServer
      ? await bench.startAppServer(command, launch)
      : [...command, ...bench.recipe.args(bench.place, launch)];
    await bench.open(run, columns, rows);
    if (untilReady) await bench.untilReady();
  });
}

/** A bench on which nothing runs yet, and the command that would start the program there. */
export async function prepareBench(program: AgentProgram, options: BenchOptions = {}): Promise<PreparedBench> {
  const installed = await installAgent(program, undefined, options.version);
  if ("missing" in installed) throw new Error(`${program} is not installed: ${installed.missing}`);
  const { settings = {}, args = [], permissions = "ask" } = options;
  const recipe = recipes[program];
  const model = await startModelServer({ script: options.script ?? [] });
  const launch: LaunchOptions = { settings, args, permissions, modelUrl: model.url };
  const { root, place } = await makePlace();
  await recipe.seed(place, launch);
  const env = { ...cleanEnv(root, place), ...recipe.env(place, launch), ...options.env };
  const server = `tl-${process.pid}-${crypto.randomUUID().slice(0, 8)}`;
  return { bench: new Bench({ program, recipe, model, place, root, server, env }), command: installed.command, launch };
}

export interface PreparedBench {
  bench: Bench;
  command: string[];
  launch: LaunchOptions;
}

/** Where `tieline` is, which users have on their PATH. */
const programs = join(import.meta.dir, "..", "..", "bin");

/** The user's own environment stays out, and no proxy lets anything but loopback through. */
function cleanEnv(root: string, place: Place): Record<string, string> {
  return {
    PATH: `${programs}:${process.env["PATH"] ?? "/usr/bin:/bin"}`,
    HOME: place.home,
    TMPDIR: place.temporary,
    XDG_RUNTIME_DIR: place.runtime,
    TMUX_TMPDIR: root,
    SHELL: "/bin/sh",
    TERM: "xterm-256color",
    LANG: "C.UTF-8",
    HTTP_PROXY: "http://127.0.0.1:9",
    HTTPS_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "127.0.0.1,localhost",
  };
}

async function makePlace(): Promise<{ root: string; place: Place }> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "tl-")));
  const place = {
    home: join(root, "home"),
    project: join(root, "project"),
    temporary: join(root, "tmp"),
    runtime: join(root, "run"),
  };
  for (const folder of Object.values(place)) await mkdir(folder, { mode: 0o700 });
  return { root, place };
}

export class Bench implements AsyncDisposable {
  readonly program: AgentProgram;
  readonly recipe: Recipe;
  readonly model: ModelServer;
  readonly place: Place;
  /** The environment that the program runs in. */
  readonly env: Record<string, string>;
  /** The name of the private tmux server, for `-L`. */
  readonly tmuxServer: string;
  /** The path of its socket, for `-S`. */
  readonly tmuxSocket: string;
  /** Such as `%0`. */
  pane = "";
  agentPid = 0;
  /** Where the Codex app server listens, when there is one. */
  readonly appServerSocket: string;
  readonly #root: string;

  constructor({ program, recipe, model, place, root, server, env }: Started) {
    this.program = program;
    this.recipe = recipe;
    this.model = model;
    this.place = place;
    this.env = env;
    this.tmuxServer = server;
    this.tmuxSocket = join(root, `tmux-${process.getuid?.() ?? 0}`, server);
    this.appServerSocket = join(place.runtime, "app-server.sock");
    this.#root = root;
  }

  /** Starts the program in the first pane. */
  async open(command: string[], columns: number, rows: number): Promise<void> {
    const size = ["-x", String(columns), "-y", String(rows)];
    const print = ["-P", "-F", "#{pane_id} #{pane_pid}"];
    // Kept after its end, so that a failed start can be read from the screen.
    const keep = ["set-option", "-g", "remain-on-exit", "on"];
    const session = ["new-session", "-d", "-s", "bench", ...size, "-c", this.place.project, ...print, "--", ...command];
    const printed = await this.tmux("start-server", ";", ...keep, ";", ...session);
    const [pane = "", pid] = printed.trim().split(" ");
    this.pane = pane;
    this.agentPid = Number(pid);
  }

  /** Starts a Codex app server and answers the command of a program that connects to it. */
  async startAppServer(command: string[], options: LaunchOptions): Promise<string[]> {
    const address = `unix://${this.appServerSocket}`;
    const serve = [...command, "app-server", "--listen", address, ...codexSettings(options)];
    Bun.spawn(serve, {
      cwd: this.place.project,
      env: this.env,
      stdin: "ignore",
      stdout: "ignore",
      stderr: Bun.file(join(this.#root, "app-server.log")),
    });
    await until(() => existsSync(this.appServerSocket), {
      what: async () => `the app server listens; it said: ${await Bun.file(join(this.#root, "app-server.log")).text()}`,
    });
    return [...command, "--remote", address, ...options.args];
  }

  async tmux(...args: string[]): Promise<string> {
    return runTmux(["-f", "/dev/null", "-L", this.tmuxServer, ...args], this.env);
  }

  async capture({ styles = false }: { styles?: boolean } = {}): Promise<Screen> {
    return parseCapture(await this.tmux(...captureCommand(this.pane, styles)));
  }

  /** The first screen that fits. Rejects after the deadline with the last one. */
  async waitForScreen(fits: (screen: Screen) => boolean, deadlineMs = 120_000): Promise<Screen> {
    let screen = await this.capture();
    await until(async () => fits((screen = await this.capture())), {
      deadlineMs,
      what: async () => `the screen fits; it shows (title "${screen.title}"):\n${screen.text}`,
    });
    return screen;
  }

  async untilReady(): Promise<void> {
    await this.waitForScreen((screen) => {
      if (screen.dead) throw new Error(`${this.program} ended at its start:\n${screen.text}`);
      return this.recipe.ready(screen);
    });
    if (this.program === "claude-code") await this.untilStatus("idle");
  }

  /** Keys, by their names in tmux, or a text after `-l`. Whether they were taken only the screen can tell. */
  async send(...keys: string[]): Promise<void> {
    await this.tmux("send-keys", "-t", this.pane, ...keys);
  }

  /** Pastes a prompt as a terminal does, submits it, and sees that the model is asked. */
  async prompt(text: string): Promise<void> {
    const asked = this.model.requests.length;
    const before = await this.capture();
    const end = text.trimEnd().split("\n").at(-1)!.slice(0, 40);
    const showsEnd = (screen: Screen): boolean => screen.text.includes(end) || /\[past/i.test(screen.text);
    await this.draft(text, (screen) => screen.text !== before.text && showsEnd(screen));
    // The program counts the gap from the moment at which it took the paste, which is when it draws it.
    await Bun.sleep(this.recipe.enterGapMs ?? 0);
    const isAsked = (): boolean =>
      this.model.requests
        .slice(asked)
        .some((one) => !one.side && freshTexts(one, "user").some((given) => given.includes(end)));
    const isTaken = async (): Promise<boolean> => (text.startsWith("/") ? !showsEnd(await this.capture()) : isAsked());
    await insist(() => this.send("Enter"), isTaken, {
      what: async () => `${JSON.stringify(text)} is submitted; the screen shows\n${(await this.capture()).text}`,
    });
  }

  /** Pastes a text and sees it on the screen, where it stays. */
  async draft(
    text: string,
    shows: (screen: Screen) => boolean = (screen) => screen.text.includes(text),
  ): Promise<void> {
    let pasted = false;
    const paste = async (): Promise<void> => {
      // What an earlier attempt may have left is taken away first, line by line.
      if (pasted) await this.send("-N", String(2 * text.split("\n").length), "C-u");
      await this.paste(text);
      pasted = true;
    };
    await insist(paste, async () => shows(await this.capture()), {
      what: async () => `${JSON.stringify(text)} is in the box; the screen shows\n${(await this.capture()).text}`,
    });
  }

  async paste(text: string): Promise<void> {
    const buffer = ["load-buffer", "-b", "bench", "-"];
    const paste = ["paste-buffer", "-p", "-r", "-d", "-b", "bench", "-t", this.pane];
    await runTmux(["-L", this.tmuxServer, ...buffer, ";", ...paste], this.env, text);
  }

  /** The processes that listen for others beside the program. */
  async servers(): Promise<number[]> {
    const pids = await processesIn(this.#root);
    const words = await Promise.all(pids.map(wordsOf));
    return pids.filter((_pid, index) => words[index]!.includes("app-server"));
  }

  /** This program's entry in Claude Code's session registry. */
  async registry(): Promise<RegisteredSession | undefined> {
    const { sessions } = await readRegistry(join(this.place.home, ".claude"));
    return sessions.find((session) => session.pid === this.agentPid);
  }

  async untilStatus(status: RegisteredSession["status"], deadlineMs = 120_000): Promise<RegisteredSession> {
    let session: RegisteredSession | undefined;
    await until(async () => (session = await this.registry())?.status === status, {
      deadlineMs,
      what: async () => `Claude Code says ${status}; it says ${JSON.stringify(session)}`,
    });
    return session!;
  }

  /** The lines of all transcripts that the program has written. */
  async transcript(): Promise<Json[]> {
    if (!this.recipe.transcripts) return [];
    const lines: Json[] = [];
    for await (const path of new Bun.Glob(this.recipe.transcripts).scan({ cwd: this.place.home, dot: true })) {
      const text = await readFile(join(this.place.home, path), "utf8");
      // The last line may be half written.
      const whole = text.slice(0, text.lastIndexOf("\n") + 1);
      lines.push(
        ...whole
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line) as Json),
      );
    }
    return lines;
  }

  /** This bench, after these steps. If a step fails, this closes the bench. */
  async after(steps: () => Promise<void>): Promise<this> {
    try {
      await steps();
      return this;
    } catch (thrown) {
      await this[Symbol.asyncDispose]();
      throw thrown;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A program may start a last child while it ends, so this repeats until the folders are deserted.
    for (let pids = await processesIn(this.#root); pids.length > 0; pids = await processesIn(this.#root)) {
      await endProcesses(pids);
    }
    await this.#endTmux();
    await this.model[Symbol.asyncDispose]();
    await rm(this.#root, { recursive: true, force: true, maxRetries: 5 });
  }

  async #endTmux(): Promise<void> {
    // With its last program gone, it may be ending by itself, and then tells nothing more.
    const pid = Number(await this.tmux("display-message", "-p", "#{pid}").catch(() => ""));
    await this.tmux("kill-server").catch((thrown: Error) => {
      if (!/no server running|error connecting/.test(thrown.message)) throw thrown;
    });
    // tmux 3.3a does not end while it owes output to the client of a daemon that was killed.
    if (pid > 0) await endProcesses([pid]);
  }
}

async function runTmux(args: string[], env: Record<string, string>, input = ""): Promise<string> {
  // Outside the bench's folders, so that the tmux server does not count as a process of the program.
  const child = Bun.spawn(["tmux", ...args], {
    env,
    cwd: "/",
    stdin: Buffer.from(input),
    stdout: "pipe",
    stderr: "pipe",
  });
  const { code, stdout, stderr } = await resultOf(child);
  if (code !== 0) throw new Error(`tmux ${args.join(" ")}: ${stderr.trim()}`);
  return stdout;
}

/** Whether a file is in the project. */
export const isThere = ({ place }: Bench, file: string): boolean => existsSync(join(place.project, file));
