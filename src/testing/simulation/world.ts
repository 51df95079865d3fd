/**
 * The simulated world: agents in panes, users, senders, and the processes of Tieline. One seed and a list of steps
 * decide everything that happens in it.
 */
import { memoryDocuments } from "../../agents/directory/documents/memory.ts";
import { memoryTables } from "../../mailbox/memory/store.ts";
import { asTielineError, TielineError } from "../../model/errors.ts";
import { agentId, type AgentId } from "../../model/ids.ts";
import type { Transition } from "../../model/delivery.ts";
import type { Agent } from "../../model/agent.ts";
import type { Processes } from "../../os/processes.ts";
import { claudeLines } from "../../providers/claude-code/transcript.ts";
import { commonDialect } from "../../providers/hooks/hookDialect.ts";
import type { GrowingFiles } from "../../os/growingFiles.ts";
import { providers } from "../../compose/providers.ts";
import { UserScreens } from "../../providers/userScreens.ts";
import { TmuxReadings } from "./tmux/language.ts";
import { startDaemon, type Daemon, type DaemonPorts, type Mutation } from "./daemon.ts";
import { Machine } from "./machine.ts";
import { Oracles } from "./oracles.ts";
import { seededRandom, type Random } from "./random.ts";
import { Resident } from "./resident.ts";
import { crashingStore, type CommitFault } from "./store.ts";
import { Trace } from "./trace.ts";
import { VirtualTime, type Life } from "./virtualTime.ts";

/** What worlds may share, to save time: it never changes. */
export class Shared {
  readonly readings = new TmuxReadings();
  readonly screens = new UserScreens(null, providers);
}

export interface WorldOptions {
  readonly seed: number;
  readonly trace?: boolean;
  readonly mutation?: WorldMutation;
  readonly shared?: Shared;
}

export interface WorldMutation extends Mutation {
  /** Two processes may serve one home. */
  readonly ignoresLock?: boolean;
  /** Whether Tieline keeps a control client; left out: the seed decides. */
  readonly attaches?: boolean;
  /** No notification of tmux ever arrives. */
  readonly dropsWatchEvents?: boolean;
}

/** A request without an answer: the process that had it was killed. */
export const noAnswer = Symbol("no answer");

const startAt = 1_800_000_000_000;

export class World {
  readonly time = new VirtualTime(startAt);
  readonly random: Random;
  readonly trace: Trace;
  readonly tables = memoryTables();
  readonly oracles = new Oracles(this.tables, this.time);
  readonly residents: readonly Resident[];
  readonly machine: Machine;
  /** What happened at least once, by name. */
  readonly happened = new Map<string, number>();
  daemon: Daemon | null = null;
  commitFault: CommitFault = "none";
  /** The process is killed after so many more requests to the machine. */
  killIn: number | null = null;
  hookDies: "before" | "after" | null = null;
  socketFault: "success and dropped" | "answer lost" | null = null;
  #lock: Life | null = null;
  #generation = 0;
  #keys = 0;
  readonly #documents = memoryDocuments();
  readonly #rings = new Map<() => void, Life>();
  readonly #unanswered = new Map<() => void, Life>();
  readonly #mutation: WorldMutation;
  readonly #attaches: boolean;
  readonly #shared: Shared;

  constructor({ seed, trace = false, mutation = {}, shared = new Shared() }: WorldOptions) {
    this.#mutation = mutation;
    this.#shared = shared;
    this.random = seededRandom(seed, "world");
    this.trace = new Trace(this.time.elapsed, trace);
    const attaches = this.random.chance(0.5);
    this.#attaches = mutation.attaches ?? attaches;
    const wrong = (what: string): void => this.oracles.wrong(what);
    const sometimes = (what: string): void => this.sometimes(what);
    this.machine = new Machine({
      ...{ time: this.time, random: this.random.fork("latency"), wrong, sometimes },
      ...{ readings: shared.readings, dropsWatchEvents: mutation.dropsWatchEvents ?? false },
      asked: (life) => this.#asked(life),
    });
    const turns = this.random.fork("turns");
    const parts = {
      ...{ tmux: () => this.machine.tmux, nextPid: this.machine.nextPid, now: this.time.now, wrong },
      after: (ms: number, run: () => void) => void this.time.after(ms, run),
      turnTimes: () => ({
        ...{ writeMs: turns.below(900), askMs: 1 + turns.below(300), answerMs: 50 + turns.below(3_000) },
        fails: turns.chance(0.02),
      }),
      pasted: (resident: Resident) => this.pasted(resident),
      swallowed: (what: string) => this.sometimes(`${what} was swallowed`),
      submitted: (resident: Resident, text: string) => resident.prompt(text),
      conversation: (resident: Resident) => this.#recordOf(resident),
      turnEnded: (resident: Resident) => void this.time.after(1, () => void this.callHook(resident, "Stop")),
    };
    const hooked = this.random.chance(0.5);
    const last = this.random.fork("socket").chance(0.5) ? "socket" : "pane";
    const reach = hooked ? (["hook", "hook", last] as const) : (["pane", "pane", last] as const);
    this.residents = ["ana", "bob", "cid"].map((name, at) => new Resident(name, reach[at]!, parts));
    for (const resident of this.residents) resident.start();
    void this.boot();
    this.time.run(50);
    for (const resident of this.residents) this.adopt(resident);
  }

  /** What may happen right after a paste; set by a fault. */
  pasted: (resident: Resident) => void = () => undefined;

  nextKey(): number {
    return ++this.#keys;
  }

  sometimes(what: string): void {
    this.happened.set(what, (this.happened.get(what) ?? 0) + 1);
  }

  /** Starts a process; it ends at once where another one serves the home. */
  async boot(): Promise<void> {
    if (this.#lock?.alive && !this.#mutation.ignoresLock) return this.sometimes("second daemon refused");
    const life: Life = { alive: true };
    this.#lock = life;
    this.#generation++;
    this.trace.note("tieline", () => `process ${this.#generation} starts`);
    try {
      const daemon = await startDaemon(this.#portsFor(life), this.#mutation);
      if (life.alive) this.daemon = daemon;
    } catch (fault) {
      // It says why and exits; its supervisor starts it again.
      this.report("start", fault, life);
      this.kill(life);
      this.time.after(1_000, () => void this.boot());
    }
  }

  /** Ends the process at this moment. None of its code runs again. */
  kill(life: Life | undefined = this.#lock ?? undefined): void {
    if (!life?.alive) return;
    life.alive = false;
    if (this.daemon?.life === life) this.daemon = null;
    this.killIn = null;
    this.sometimes("process killed");
    if ([...this.tables.deliveries.values()].some(({ state }) => state === "claimed"))
      this.sometimes("process killed during an attempt");
    this.trace.note("world", () => "the process of Tieline is killed");
    this.machine.ended(life);
    for (const [ring, owner] of [...this.#rings]) if (owner === life) this.#rings.delete(ring);
    for (const [lost, owner] of [...this.#unanswered]) if (owner === life) lost();
  }

  get isServing(): boolean {
    return this.daemon?.life.alive ?? false;
  }

  /** Asks the process that serves now. */
  async ask<T>(request: (daemon: Daemon) => Promise<T>): Promise<T | typeof noAnswer> {
    const { daemon } = this;
    if (!daemon?.life.alive) return noAnswer;
    const { life } = daemon;
    return new Promise((resolve, reject) => {
      const lost = (): void => {
        this.#unanswered.delete(lost);
        resolve(noAnswer);
      };
      this.#unanswered.set(lost, life);
      this.machine
        .call(life, () => undefined)
        .then(() => request(daemon))
        .then(
          (answer) => {
            if (!this.#unanswered.delete(lost)) return;
            if (life.alive) resolve(answer);
            else resolve(noAnswer);
          },
          (fault: unknown) => {
            if (!this.#unanswered.delete(lost)) return;
            if (life.alive) reject(fault);
            else resolve(noAnswer);
          },
        );
    });
  }

  /** The user tells Tieline where the agent is now. */
  adopt(resident: Resident): void {
    const endpoints = resident.endpoints();
    if (endpoints === null || !this.isServing) return;
    const { directory, courier } = this.daemon!;
    const sessionId = resident.conversation.id;
    if (resident.id === null) {
      const agent = { name: resident.name, team: "web", provider: "claude-code", endpoints, sessionId };
      resident.id = directory.register({ ...agent, state: "idle" }).id;
    } else directory.update(resident.id, { endpoints, sessionId });
    this.trace.note("user", () => `adopts ${resident.name} in ${resident.pane}`);
    courier.wake(resident.id);
  }

  /** A hook of the agent's program asks for mail. */
  async callHook(resident: Resident, event: "Stop" | "PostToolUse"): Promise<void> {
    const { conversation } = resident;
    if (resident.reach !== "hook" || resident.id === null || !resident.isRunning) return;
    const id = resident.id;
    const call = hookCall(event, conversation.id);
    const answer = await this.ask(async (daemon) => {
      const agent = daemon.directory.agent(id);
      return agent === null ? undefined : daemon.hook.handle(call, agent);
    }).catch((fault: unknown) => this.report("hook", fault));
    if (answer === noAnswer || answer === undefined || answer.context === undefined) return;
    const dies = this.hookDies;
    this.hookDies = null;
    const gone = !resident.isRunning || resident.conversation !== conversation;
    if (gone || dies === "before") {
      this.sometimes("hook died before it wrote");
      if (this.random.chance(0.5)) await answer.lost?.();
      return;
    }
    this.sometimes("hook brought mail");
    if (event === "Stop" || !conversation.isWorking) resident.prompt(answer.context);
    else conversation.add(answer.context, this.random.below(900));
    if (dies === "after") return this.sometimes("hook died after it wrote");
    await answer.written?.();
  }

  /** A fault of a process that is dead means nothing. */
  report(context: string, fault: unknown, life?: Life): undefined {
    if (life && !life.alive) return;
    const { code, message } = asTielineError(fault);
    this.trace.note("tieline", () => `reports: ${context}: ${message}`);
    if (code === "INTERNAL") this.oracles.unexpected(`${context}: ${fault instanceof Error ? fault.stack : message}`);
  }

  residentOf(id: AgentId): Resident | null {
    return this.residents.find((resident) => resident.id === id) ?? null;
  }

  #asked(life: Life): void {
    if (this.killIn === null || life !== this.#lock) return;
    if (--this.killIn < 0) {
      this.sometimes("process killed between two requests");
      this.kill(life);
    }
  }

  #recordOf(resident: Resident) {
    const each = (what: "took" | "entered" | "asked" | "forgot") => (tags: readonly string[]) => {
      for (const tag of tags) {
        this.trace.note("model", () => `of ${resident.name} ${what} ${tag}`);
        if (what === "asked") resident.lastAsked = tag;
        this.oracles[what](resident.id ?? agentId("none"), tag);
      }
    };
    return {
      ...{ took: each("took"), entered: each("entered"), asked: each("asked"), forgot: each("forgot") },
      wrote: () => {
        for (const [ring, life] of this.#rings) this.time.after(2, ring, life);
      },
    };
  }

  #portsFor(life: Life): DaemonPorts {
    const bytes = this.random.fork(`ids ${this.#generation}`);
    return {
      ...{ life, timers: this.time.timersOf(life), wall: this.time.now, documents: this.#documents },
      random: (count) => Uint8Array.from({ length: count }, () => bytes.below(256)),
      store: crashingStore({
        ...{ tables: this.tables, life, kill: () => this.kill(life) },
        fault: () => this.#takeCommitFault(),
        committed: (transitions) => {
          for (const { delivery, verb, from, to, reason, detail } of transitions)
            this.trace.note(
              "tieline",
              () => `delivery ${delivery}: ${from} ${verb} ${to} ${reason ?? ""} ${detail ?? ""}`,
            );
          this.oracles.committed(transitions);
          this.#countStates(transitions);
        },
      }),
      ...{ exec: this.machine.execFor(life), spawn: this.machine.spawnFor(life), attaches: this.#attaches },
      ...{ processes: this.#processes(), screens: this.#shared.screens },
      ...{ transcript: (agent) => this.#transcriptOf(agent), files: this.#filesFor(life) },
      reportedState: ({ id }) => {
        const resident = this.residentOf(id);
        if (!resident || resident.reach === "pane" || !resident.isRunning) return null;
        return { state: resident.conversation.isWorking ? "working" : "idle", reason: null };
      },
      socketOf: ({ id }) => {
        const resident = this.residentOf(id);
        return resident?.reach === "socket" && resident.isRunning ? `/sockets/${resident.name}` : null;
      },
      writeSocket: (path, { text }) => this.#writeSocket(path, text, life),
      report: (context, fault) => this.report(context, fault, life),
    };
  }

  /** The session takes it at once, or says that it did and drops it, or takes it and the answer is lost. */
  async #writeSocket(path: string, text: string, life: Life): Promise<void> {
    const fault = this.socketFault;
    this.socketFault = null;
    await this.machine.call(life, () => {
      const resident = this.residents.find(({ name }) => path === `/sockets/${name}`);
      if (!resident?.isRunning) throw socketError("nothing listens", true);
      this.sometimes(fault === null ? "socket took mail" : `socket: ${fault}`);
      if (fault !== "success and dropped") resident.prompt(text);
    });
    if (fault === "answer lost") throw socketError("the connection was lost", false);
  }

  #countStates(transitions: readonly Transition[]): void {
    for (const { delivery: id, verb, reason } of transitions) {
      if (verb === "hold" && reason !== null) this.sometimes(`held: ${reason}`);
      if (verb !== "accept") continue;
      const { agent, messageId } = this.tables.deliveries.get(id)!;
      const sender = this.tables.messages.get(messageId)!.from.id;
      for (const other of this.tables.deliveries.values()) {
        if (other.agent !== agent || other.id === id) continue;
        if (other.state === "claimed") this.sometimes("mail came during an attempt");
        if (other.state === "queued" && this.tables.messages.get(other.messageId)?.from.id !== sender)
          this.sometimes("mail of two senders waited for one agent");
      }
    }
  }

  #takeCommitFault(): CommitFault {
    const fault = this.commitFault;
    this.commitFault = "none";
    if (fault !== "none") this.sometimes(`commit ${fault}`);
    return fault;
  }

  #processes(): Processes {
    const all = () => this.residents.flatMap((resident) => resident.processes());
    return {
      read: (pid) => Promise.resolve(all().find((one) => one.pid === pid)),
      all: () => Promise.resolve(all()),
      argv: (pid) => Promise.resolve([all().find((one) => one.pid === pid)?.command ?? ""]),
      readsTerminal: () => Promise.resolve(true),
      children: (pid) => Promise.resolve(all().filter(({ ppid }) => ppid === pid)),
    };
  }

  #transcriptOf({ id }: Agent): ReturnType<DaemonPorts["transcript"]> {
    const resident = this.residentOf(id);
    if (resident === null) return null;
    const { conversation } = resident;
    const file = { path: `/sessions/${conversation.id}.jsonl`, conversation: conversation.id };
    return { conversation: conversation.id, files: [file], below: ["/sessions"], reader: claudeLines };
  }

  #filesFor(life: Life): GrowingFiles {
    const fileAt = (path: string): Buffer | null =>
      this.residents.find(({ conversation }) => path === `/sessions/${conversation.id}.jsonl`)?.conversation.file ??
      null;
    return {
      wholeLines(path, _rules, begin) {
        const file = fileAt(path);
        if (file === null) return null;
        const from = begin({ size: file.length, inode: 1 });
        return { bytes: file.subarray(from), from, end: file.length, inode: 1, more: false };
      },
      sizeOf: (path) => fileAt(path)?.length ?? 0,
      renewWatcher: (watcher, _folder, ring) => {
        this.#rings.set(ring, life);
        return watcher ?? { identity: "1:1", close: () => void this.#rings.delete(ring) };
      },
    };
  }
}

const socketError = (why: string, absent: boolean): TielineError =>
  new TielineError("DELIVERY_FAILED", why, { remedy: "start the session again", operands: { absent } });

function hookCall(event: string, sessionId: string): Parameters<Daemon["hook"]["handle"]>[0] {
  return {
    ...{ provider: "claude-code", dialect: commonDialect, event, sessionId, subagent: null, cwd: null },
    ...{ transcriptPath: null, tool: null, prompt: null, takesAll: false, payload: {} },
  };
}
