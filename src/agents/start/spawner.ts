/** Starts agents for which mail waits. It watches the mailbox; sending does not depend on it. */
import { canStart, type Agent } from "../../model/agent.ts";
import { asTielineError, TielineError } from "../../model/errors.ts";
import { elapsedFor, type AgentId, type Clock, type Elapsed } from "../../model/ids.ts";
import type { Message, Sender } from "../../model/message.ts";
import type { InboxRow, Mailbox } from "../../mailbox/port.ts";
import { Ages } from "../../os/ages.ts";
import { giveBack } from "../stop/giveBack.ts";
import { exitedAtOnce, failedStart, shortLifeMs } from "../status/lastExit.ts";
import { systemTimers, type Scheduled, type Timers } from "../../os/timers.ts";

export interface SpawnerParts {
  readonly mailbox: Pick<Mailbox, "onTransitions" | "waiting" | "inbox" | "abandon">;
  readonly agent: (id: AgentId) => Agent | null;
  /** Resolves when the agent was started, ready or not; rejects when it was not, or ended before it was ready. */
  readonly start: (agent: Agent) => Promise<void>;
  /** May this sender's mail start that agent? */
  readonly mayStart: (from: Sender, agent: Agent) => boolean;
  /** Why the agent is not running, for hold reasons. */
  readonly explain: (agent: Agent, why: string) => void;
  /** Faults that have no sender to report to. */
  readonly report: (context: string, fault: unknown) => void;
  readonly perMinute: number;
  /** Pauses after the first, second, … start in a row that failed. One more failure, and the mail is given back. */
  readonly pausesMs?: readonly number[];
  readonly clock?: Clock;
  readonly timers?: Pick<Timers, "after">;
}

const minuteMs = 60_000;
const untrustedPauseMs = 30_000;
const defaultPausesMs = [1_000, 5_000, 15_000, 60_000];

export class Spawner implements Disposable {
  private readonly starting = new Set<AgentId>();
  private readonly pauses = new Map<AgentId, { readonly timer: Scheduled; readonly why: string }>();
  /**
   * Agents whose project has to be trusted first. Their files are looked at again from time to time: they may be put
   * back.
   */
  private readonly untrusted = new Map<AgentId, Scheduled>();
  private readonly failures = new Map<AgentId, number>();
  /** The last start of each agent, and whether it took any mail since. */
  private readonly lives = new Map<AgentId, { readonly startedAt: number; served: boolean }>();
  private startedAt: number[] = [];
  private stopListening: () => void = () => undefined;

  private readonly ages: Ages;
  private readonly now: Elapsed;
  private readonly timers: Pick<Timers, "after">;

  constructor(private readonly parts: SpawnerParts) {
    this.ages = new Ages(parts.clock);
    this.now = elapsedFor(parts.clock);
    this.timers = parts.timers ?? systemTimers;
  }

  start(): void {
    this.stopListening = this.parts.mailbox.onTransitions((changes) => {
      for (const { transition, delivery, message } of changes) {
        // New mail that may not start an agent changes nothing for the mail before it, of which there may be much.
        const news = transition.verb !== "accept" || message.starts;
        if (transition.to === "queued" && news) this.consider(delivery.agent);
        else if (tookMail.has(transition.to)) this.served(delivery.agent);
        else if (endedWithout.has(transition.to)) this.calm(delivery.agent);
      }
    });
    for (const agent of this.parts.mailbox.waiting()) this.consider(agent);
  }

  [Symbol.dispose](): void {
    this.stopListening();
    for (const timer of [...[...this.pauses.values()].map((pause) => pause.timer), ...this.untrusted.values()])
      timer.cancel();
  }

  /** One start for any number of waiting messages; while it runs, or pauses, more of them change nothing. */
  private consider(id: AgentId): void {
    const agent = this.parts.agent(id);
    if (agent === null || !canStart(agent) || this.starting.has(id) || this.pauses.has(id) || this.untrusted.has(id))
      return;
    if (this.askingFor(agent).length === 0) return;
    if (this.endLife(agent) === "short") return this.fail(agent, endedSoon(agent));
    const waitMs = this.limitLeftMs();
    if (waitMs > 0)
      return this.pause(
        agent,
        waitMs,
        `${this.parts.perMinute} agents were started within a minute, which is the limit`,
      );
    this.startedAt.push(this.now());
    this.starting.add(id);
    void this.run(agent);
  }

  private async run(agent: Agent): Promise<void> {
    try {
      await this.parts.start(agent);
      this.lives.set(agent.id, { startedAt: this.now(), served: false });
      this.starting.delete(agent.id);
      this.consider(agent.id);
    } catch (thrown) {
      this.starting.delete(agent.id);
      const error = asTielineError(thrown);
      if (error.code === "UNTRUSTED") this.waitForTrust(agent, error);
      else this.fail(agent, error);
    }
  }

  /** Nothing was tried, so nothing failed: its mail waits until the user has decided. */
  private waitForTrust(agent: Agent, { message, remedy }: TielineError): void {
    if (this.parts.agent(agent.id) === null) return;
    const timer = this.timers.after(untrustedPauseMs, () => {
      this.untrusted.delete(agent.id);
      this.consider(agent.id);
    });
    this.untrusted.set(agent.id, timer);
    this.parts.explain(agent, `${message}; ${remedy}`);
  }

  /** The user has trusted a project: what waited for that is looked at again. */
  trustChanged(): void {
    for (const [id, timer] of this.untrusted) {
      timer.cancel();
      this.untrusted.delete(id);
      this.consider(id);
    }
  }

  /** A short life without any mail taken is a failed start; with some, the program may be made for one message each. */
  private endLife({ id, stateAt }: Agent): "short" | "long" {
    const life = this.lives.get(id);
    this.lives.delete(id);
    if (life === undefined) return "long";
    const livedMs = this.now() - life.startedAt - this.ages.of(id, stateAt);
    const short = livedMs < shortLifeMs;
    if (!short || life.served) this.failures.delete(id);
    return short ? "short" : "long";
  }

  private served(id: AgentId): void {
    const life = this.lives.get(id);
    if (life) life.served = true;
  }

  private fail(agent: Agent, error: TielineError): void {
    if (this.parts.agent(agent.id) === null) return;
    const { pausesMs = defaultPausesMs } = this.parts;
    const count = (this.failures.get(agent.id) ?? 0) + 1;
    this.failures.set(agent.id, count);
    if (count > pausesMs.length)
      void this.giveUp(agent, `it failed to start ${count} times in a row; ${failedStart(error)}`);
    this.pause(agent, pausesMs[Math.min(count, pausesMs.length) - 1]!, failedStart(error));
  }

  private pause(agent: Agent, ms: number, why: string): void {
    const timer = this.timers.after(ms, () => {
      this.pauses.delete(agent.id);
      this.consider(agent.id);
    });
    this.pauses.set(agent.id, { timer, why });
    this.parts.explain(agent, `${why}; the next start is in ${Math.ceil(ms / 1_000)} s`);
  }

  /** No mail is left that would start it, so no start is announced any more. */
  private calm(id: AgentId): void {
    const [agent, pause] = [this.parts.agent(id), this.pauses.get(id)];
    if (agent !== null && pause !== undefined && canStart(agent) && this.askingFor(agent).length === 0)
      this.parts.explain(agent, pause.why);
  }

  /** Its senders get bounces, and can queue it again with `tieline retry`. */
  private async giveUp(agent: Agent, why: string): Promise<void> {
    const { mailbox, report } = this.parts;
    const waiting = this.askingFor(agent).map((row) => row.delivery);
    await giveBack(mailbox, waiting, `SPAWN_FAILED: ${why}`).catch((fault: unknown) =>
      report(`give back the mail of ${agent.name}`, fault),
    );
  }

  /** The waiting mail that may start its recipient. */
  private askingFor(agent: Agent): InboxRow[] {
    const rows = this.parts.mailbox.inbox(agent.id, { pending: true, limit: Number.MAX_SAFE_INTEGER });
    const decided = new Map<AgentId, boolean>();
    const mayStart = ({ starts, from }: Message): boolean => {
      if (!starts) return false;
      if (!decided.has(from.id)) decided.set(from.id, this.parts.mayStart(from, agent));
      return decided.get(from.id)!;
    };
    return rows.filter(({ message, delivery }) => delivery.state === "queued" && mayStart(message));
  }

  private limitLeftMs(): number {
    const now = this.now();
    this.startedAt = this.startedAt.filter((at) => at > now - minuteMs);
    return this.startedAt.length < this.parts.perMinute ? 0 : this.startedAt[0]! + minuteMs - now;
  }
}

const endedWithout: ReadonlySet<string> = new Set(["failed", "expired", "cancelled"]);
const tookMail: ReadonlySet<string> = new Set(["delivered", "seen", "answered"]);

const endedSoon = ({ name, stateReason, lastExit }: Agent): TielineError =>
  lastExit !== null
    ? exitedAtOnce(name, lastExit)
    : new TielineError(
        "SPAWN_FAILED",
        `${name} exited soon after its start${stateReason === null ? "" : ` (${stateReason})`}`,
        {
          remedy: "run its command by hand to see why",
          operands: { agent: name },
        },
      );
