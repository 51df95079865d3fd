/** A restless agent, a restless user and a stream of mail, all at once, for as long as a test wants. */
import { type Delivery } from "../model/delivery.ts";
import type { Receipt } from "../model/receipt.ts";
import { logOf, scriptedStates, type LogEntry, type ScriptedState } from "./scriptedAgent.ts";
import { openStage, type ScriptedCast, type Stage } from "./stage.ts";
import { attachUser, type User } from "./tmux.ts";
import { until } from "./until.ts";

export interface SoakOptions {
  readonly messages: number;
  readonly durationMs: number;
  readonly seed: number;
}

export interface SoakResult {
  /** How often each message was submitted, by its number. */
  readonly arrivals: readonly number[];
  readonly deliveries: readonly Delivery[];
  /** What was submitted and is not exactly one message. */
  readonly strange: readonly string[];
  /** Keys that reached a dialog. */
  readonly answers: readonly LogEntry[];
  readonly swallowed: number;
  readonly drafts: number;
  readonly states: Readonly<Record<string, number>>;
}

/** The tempo of the play; nothing is waited for. */
const linger = (ms: number): Promise<void> => Bun.sleep(ms);

/** What the user types; no message contains it, and no screen on which a user may type. */
const key = "q";

export async function soak({ messages, durationMs, seed }: SoakOptions): Promise<SoakResult> {
  await using stage = await openStage();
  const ana = await stage.scripted("ana");
  await stage.tmux.tmux("select-window", "-t", ana.pane);
  await using user = await attachUser(stage.tmux, "main");
  const play = new Play(
    ana,
    user,
    () => stage.tmux.tmux("capture-pane", "-p", "-t", ana.pane),
    randomFrom(seed),
    Date.now() + durationMs,
  );
  const receipts: Receipt[] = [];
  try {
    await Promise.all([mail(stage, messages, durationMs, receipts), play.agent(), play.user()]);
    await ana.direct({ state: "idle" });
    await until(() => settled(stage, receipts), "the last messages", 120_000);
  } catch (fault) {
    throw new Error(`${String(fault)}: ${await whatIsWrong(stage, ana, result(stage, ana, receipts, play))}`);
  }
  return result(stage, ana, receipts, play);
}

/** The agent goes from state to state; the user types drafts and takes them back, but never into a dialog. */
class Play {
  readonly states: Record<string, number> = {};
  drafts = 0;
  private userAtWork = false;
  /** Null while it changes: a key that is pressed now may come before it has. */
  private shown: ScriptedState | null = "idle";

  constructor(
    private readonly ana: ScriptedCast,
    private readonly visitor: User,
    private readonly screen: () => Promise<string>,
    private readonly random: () => number,
    private readonly endAt: number,
  ) {}

  async agent(): Promise<void> {
    while (Date.now() < this.endAt) {
      // Every other state is idle, so that mail has a chance.
      const state = this.shown === "idle" ? this.pick() : "idle";
      this.states[state] = (this.states[state] ?? 0) + 1;
      this.shown = null;
      await this.ana.direct({ state });
      this.shown = state;
      await linger(30 + this.random() * (state === "idle" ? 900 : 300));
    }
  }

  async user(): Promise<void> {
    while (Date.now() < this.endAt) {
      await linger(1_500 + this.random() * 3_000);
      this.userAtWork = true;
      await until(() => this.shown !== null, "the agent to show its state");
      if (this.shown === "idle" || this.shown === "working") await this.draft(1 + Math.floor(this.random() * 5));
      this.userAtWork = false;
    }
  }

  /** A user continues once they see what they did, so that no key is under way when a dialog opens. */
  private async draft(length: number): Promise<void> {
    await this.visitor.press(...Array.from({ length }, () => key));
    await until(async () => (await this.keysShown()) === length, "the draft to show");
    await linger(this.random() * 800);
    await this.visitor.press(...Array.from({ length }, () => "BSpace"));
    await until(async () => (await this.keysShown()) === 0, "the draft to be taken back");
    this.drafts++;
  }

  private async keysShown(): Promise<number> {
    return (await this.screen()).split(key).length - 1;
  }

  private pick(): ScriptedState {
    const others = scriptedStates.filter((state) => state !== "idle" && (!this.userAtWork || state === "working"));
    return others[Math.floor(this.random() * others.length)]!;
  }
}

async function mail(stage: Stage, messages: number, durationMs: number, receipts: Receipt[]): Promise<void> {
  for (let n = 0; n < messages; n++) {
    receipts.push(await stage.send("ana", `number ${n};\nsecond line`));
    await linger(durationMs / messages);
  }
}

function settled(stage: Stage, receipts: readonly Receipt[]): boolean {
  return receipts.every((receipt) =>
    stage.deliveries(receipt).every(({ state }) => state !== "queued" && state !== "claimed"),
  );
}

async function whatIsWrong(
  stage: Stage,
  ana: ScriptedCast,
  { deliveries, strange, answers, drafts }: SoakResult,
): Promise<string> {
  const states = Map.groupBy(deliveries, ({ state }) => state);
  const counts = [...states].map(([state, all]) => `${all.length} ${state} (${all[0]!.detail})`);
  const told = await Promise.resolve(stage.tieline.statusMonitor.explain(ana.agent)).catch(String);
  const screen = await stage.tmux.tmux("capture-pane", "-p", "-t", ana.pane).catch(String);
  const clients = await stage.tmux
    .tmux("list-clients", "-F", "#{client_pid} #{client_flags} #{client_activity} #{pane_id}")
    .catch(String);
  const log = logOf(ana.dir).slice(-4);
  const seen = { counts, strange, answers, drafts, told, clients, faults: stage.faults, log };
  return `${JSON.stringify(seen)}\n${screen}`;
}

function result(stage: Stage, ana: ScriptedCast, receipts: readonly Receipt[], { drafts, states }: Play): SoakResult {
  const log = logOf(ana.dir);
  const submitted = log.flatMap((entry) => ("submitted" in entry ? [entry.submitted] : []));
  const whole = /^\[(MSG_USER_[0-9a-f]+) from user\]\nnumber (\d+);\nsecond line\n\[end \1 [^\n\]]*\]$/;
  const numbers = submitted.map((text) => whole.exec(text)?.[2]);
  return {
    arrivals: receipts.map((_, n) => numbers.filter((number) => number === String(n)).length),
    deliveries: receipts.flatMap((receipt) => stage.deliveries(receipt)),
    strange: submitted.filter((_, index) => numbers[index] === undefined),
    answers: log.filter((entry) => "answered" in entry),
    swallowed: log.filter((entry) => "swallowedPaste" in entry).length,
    drafts,
    states,
  };
}

/** A linear congruential generator: the same seed makes the same choices. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
