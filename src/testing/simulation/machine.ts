/**
 * The machine under the simulated processes: ports with a latency, the tmux server and its clients, and the faults of
 * each. What a process sent is executed even if the process dies meanwhile; the answer is lost then.
 */
import { TielineError } from "../../model/errors.ts";
import type { Exec } from "../../os/exec.ts";
import type { SpawnPiped } from "../../os/pipedProcess.ts";
import type { Random } from "./random.ts";
import { SimulatedControlClient } from "./tmux/controlClient.ts";
import { runProcess } from "./tmux/exec.ts";
import type { TmuxReadings } from "./tmux/language.ts";
import { SimulatedTmux } from "./tmux/server.ts";
import type { SimulatedNotice } from "./tmux/state.ts";
import { ForeignProgram } from "./program.ts";
import type { Life, VirtualTime } from "./virtualTime.ts";

export interface MachineParts {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly readings: TmuxReadings;
  readonly dropsWatchEvents: boolean;
  readonly wrong: (what: string) => void;
  /** A process asked the machine for something, or is about to get the answer. */
  readonly asked: (life: Life) => void;
  readonly sometimes: (what: string) => void;
}

interface Control {
  readonly client: SimulatedControlClient;
  readonly life: Life;
  readonly hearsOutput: boolean;
}

export class Machine {
  tmux: SimulatedTmux;
  readonly #controls = new Set<Control>();
  #lastPid = 1_000;
  /** Until then every answer of tmux takes long. */
  slowUntil = 0;
  /** So many answers of tmux are lost after the command was executed. */
  answersLost = 0;
  watchFault: { readonly kind: "lost" | "late" | "doubled"; left: number } | null = null;

  constructor(private readonly parts: MachineParts) {
    this.tmux = this.startTmux();
  }

  readonly nextPid = (): number => ++this.#lastPid;

  startTmux(): SimulatedTmux {
    const { time, wrong, readings } = this.parts;
    this.tmux = new SimulatedTmux({
      readings,
      ...{ pid: this.nextPid(), now: time.now, socketPath: "/tmux", nextPid: this.nextPid },
      launch: () => new ForeignProgram("bash", wrong),
      after: (ms, run) => void time.after(ms, run),
      onModeWrite: (pane) => wrong(`${pane}, which is in copy mode`),
      notify: (notice) => this.#notify(notice),
    });
    return this.tmux;
  }

  endTmux(): void {
    this.tmux.alive = false;
    for (const { client } of [...this.#controls]) client.kill("server exited");
  }

  /** As `attach -d` of a user does. */
  detachClients(): void {
    for (const { client } of [...this.#controls]) if (client.isAttached) client.kill("detached");
  }

  silenceClients(): void {
    for (const { client } of this.#controls) client.isSilent = true;
  }

  /** A process was killed, and its clients with it. */
  ended(life: Life): void {
    for (const control of [...this.#controls]) if (control.life === life) control.client.kill();
  }

  execFor(life: Life): Exec {
    return (argv, { stdin, timeoutMs = 15_000 } = {}) => {
      if (argv[0] === "setpriv") return this.call(life, () => ({ code: 1, stdout: "", stderr: "" }));
      if (this.answersLost > 0 && argv.includes("source-file")) {
        this.answersLost--;
        this.parts.sometimes("answer lost after execution");
        this.parts.time.after(this.#latencyMs(), () => runProcess(argv, stdin, () => this.tmux));
        return new Promise((_, reject) => {
          const late = (): void => reject(notInTime());
          this.parts.time.after(Math.min(timeoutMs, 5_000), late, life);
        });
      }
      return this.call(life, () => runProcess(argv, stdin, () => this.tmux));
    };
  }

  spawnFor(life: Life): SpawnPiped {
    return (argv) => {
      const session = argv[argv.indexOf("-t") + 1]!;
      const client: SimulatedControlClient = new SimulatedControlClient({
        ...{ pid: this.nextPid(), tmux: this.tmux, session },
        later: this.#pipe(),
        ended: () => void this.#controls.delete(control),
      });
      const control = { client, life, hearsOutput: !argv.at(-1)!.includes("no-output") };
      this.#controls.add(control);
      return client;
    };
  }

  /** Something that the machine does for a process. */
  call<T>(life: Life, run: () => T): Promise<T> {
    const { time, asked } = this.parts;
    asked(life);
    return new Promise((resolve, reject) => {
      if (!life.alive) return;
      time.after(this.#latencyMs(), () => {
        try {
          const answer = run();
          time.after(this.#latencyMs(), () => resolve(answer), life);
        } catch (thrown) {
          reject(thrown);
        }
        asked(life);
      });
    });
  }

  /** What goes into a pipe comes out in its order. */
  #pipe(): (run: () => void) => void {
    const { time } = this.parts;
    let last = 0;
    return (run) => {
      last = Math.max(last, time.elapsed() + this.#latencyMs());
      time.after(last - time.elapsed(), run);
    };
  }

  #latencyMs(): number {
    const { time, random } = this.parts;
    return time.elapsed() < this.slowUntil ? 20 + random.below(2_000) : 0.1 + random.next();
  }

  #notify(notice: SimulatedNotice): void {
    const fault = this.watchFault;
    if (fault !== null && --fault.left <= 0) this.watchFault = null;
    if (fault !== null) this.parts.sometimes(`watch event ${fault.kind}`);
    if (fault?.kind === "lost" || this.parts.dropsWatchEvents) return;
    const tell = (): void => {
      for (const { client, hearsOutput } of this.#controls)
        if (hearsOutput || notice.type !== "output") client.tell(notice);
    };
    if (fault?.kind === "late") return void this.parts.time.after(5_000, tell);
    tell();
    if (fault?.kind === "doubled") tell();
  }
}

const notInTime = (): TielineError =>
  new TielineError("NOT_IN_TIME", "tmux did not finish in time", { remedy: "it is asked again" });
