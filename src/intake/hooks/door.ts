/** Where hook calls come in: all through the spool, those that wait for an answer by a question on the socket. */
import type { HookPlace } from "./place.ts";
import { readHookCall, type HookCall } from "../../providers/hooks/hookCall.ts";
import type { HookChain, Verdict } from "../../providers/hooks/hookHandler.ts";
import { Spool, type SpooledCall } from "./spool.ts";
import { answerFor } from "./wire.ts";
import type { Agent } from "../../model/agent.ts";
import { uuidv4, type Clock, type RandomBytes } from "../../model/ids.ts";
import { systemTimers, type Timers } from "../../os/timers.ts";
import type { HookAnswer } from "../../providers/hooks/hookDialect.ts";
import type { Providers } from "../../providers/providers.ts";

/** What a call carries that identifies its agent. */
export interface HookCaller {
  readonly token?: string | undefined;
  readonly tmuxSocket?: string | undefined;
  readonly pane?: string | undefined;
  readonly pid?: number | undefined;
}

export interface HookDoorParts {
  readonly chain: HookChain;
  readonly providers: Pick<Providers, "dialect">;
  readonly place: HookPlace;
  /** The agent that a call belongs to; null for unknown sessions. */
  readonly agentOf: (call: HookCall, caller: HookCaller) => Promise<Agent | null>;
  readonly report: (context: string, fault: unknown) => void;
  /** Whether calls that come in now may have been given up by their programs. */
  readonly mayBeLate?: () => boolean;
  readonly clock?: Clock;
  readonly timers?: Timers;
  readonly random?: RandomBytes;
}

/** A verdict, and how it is said to the program; null: it says nothing there. */
interface Judgement extends Verdict {
  readonly answer: HookAnswer | null;
}

/** An answer that its hook did not confirm in this time was not written by it. */
const unwrittenMs = 15_000;

export class HookDoor {
  private readonly unwritten = new Map<string, Verdict>();
  private readonly spool: Spool;
  private readonly timers: Timers;

  constructor(private readonly parts: HookDoorParts) {
    const { place, report, clock, timers = systemTimers } = parts;
    this.timers = timers;
    this.spool = new Spool({
      ...{ folder: place.spool, take: (spooled) => this.observe(spooled), report, timers },
      ...(clock && { clock }),
    });
  }

  /** The answer to a call in the spool; `receipt` is for `written`, once the hook has printed the answer. */
  async answer(
    name: string,
    { token }: Pick<HookCaller, "token">,
    signal: AbortSignal,
  ): Promise<{ answer: HookAnswer | null; receipt: string | null }> {
    // A call in the spool ended before this one began.
    await this.spool.drain();
    const spooled = signal.aborted ? null : this.spool.claim(name);
    const verdict = spooled && (await this.judge(spooled, { token }));
    if (!verdict?.answer || signal.aborted) {
      await verdict?.lost();
      return { answer: null, receipt: null };
    }
    const receipt = uuidv4(this.parts.random);
    this.unwritten.set(receipt, verdict);
    this.timers.after(unwrittenMs, () => this.unwritten.delete(receipt), { background: true });
    return { answer: verdict.answer, receipt };
  }

  /** Whether the receipt was known. */
  async written(receipt: string): Promise<boolean> {
    const verdict = this.unwritten.get(receipt);
    this.unwritten.delete(receipt);
    await verdict?.written();
    return verdict !== undefined;
  }

  /** Reads the spool until the signal aborts. No hook waits for an answer there, so mail stays where it is. */
  readSpool(signal: AbortSignal): Promise<void> {
    return this.spool.watch(signal);
  }

  private async observe(spooled: SpooledCall): Promise<void> {
    const call = this.callIn(spooled);
    const agent = call && (await this.parts.agentOf(call, spooled.caller));
    if (agent) await this.parts.chain.observe(call, agent);
  }

  /** Null: the call is only observed. */
  private async judge(spooled: SpooledCall, { token }: HookCaller): Promise<Judgement | null> {
    if (this.parts.mayBeLate?.()) {
      await this.observe(spooled);
      return null;
    }
    const call = this.callIn(spooled);
    const agent = call && (await this.parts.agentOf(call, { ...spooled.caller, token }));
    const verdict = agent && (await this.parts.chain.run(call, agent));
    return verdict && { ...verdict, answer: answerFor(call, verdict) };
  }

  private callIn({ provider, payload, takesAll }: SpooledCall): HookCall | null {
    return readHookCall({ provider, dialect: this.parts.providers.dialect(provider) }, payload, takesAll);
  }
}
