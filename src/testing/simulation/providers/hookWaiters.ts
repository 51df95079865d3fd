import type { HookWaiters } from "../../../delivery/transports/hook/waiters.ts";
import type { Timers } from "../../../os/timers.ts";

/** What becomes of a waiter that is rung for. */
export type WaiterFault = "exits before it takes the mail" | "takes the mail and dies";

export interface SimulatedWaitersParts {
  readonly timers: Timers;
  /** The session's model is given a text. */
  readonly give: (session: string, text: string) => void;
  /** A waiter outlives a session that was killed, and takes no mail then. */
  readonly lives?: (session: string) => boolean;
  /** How long a waiter takes to answer its bell. */
  readonly answerMs?: number;
  readonly fault?: () => WaiterFault | null;
}

type Waiter = "reads" | "ends";

/** The waiters that hooks of idle sessions leave behind. `leave` is what a hook does at the end of a turn. */
export class SimulatedWaiters implements HookWaiters {
  readonly #waiters = new Map<string, Waiter>();
  readonly #bells = new Set<string>();
  readonly #watchers = new Set<() => void>();

  constructor(private readonly parts: SimulatedWaitersParts) {}

  leave(session: string): void {
    this.#bells.add(session);
    this.#become(session, "reads");
  }

  end(session: string): void {
    this.#become(session, null);
  }

  hasBell(session: string): boolean {
    return this.#bells.has(session);
  }

  isHeard(session: string): boolean {
    return this.#waiters.has(session);
  }

  isReading(session: string): boolean {
    return this.#waiters.get(session) === "reads";
  }

  give(session: string, _id: number, text: string): ReturnType<HookWaiters["give"]> {
    if (!this.isHeard(session)) return null;
    const { timers, give, lives = () => true, answerMs = 1, fault } = this.parts;
    const taken = Promise.withResolvers<void>();
    let owner: "waiter" | "daemon" | null = null;
    timers.after(answerMs, () => {
      const happens = fault?.() ?? null;
      if (happens === "exits before it takes the mail") return this.end(session);
      if (owner !== null || !this.isReading(session) || !lives(session)) return undefined;
      owner = "waiter";
      this.#become(session, "ends");
      taken.resolve();
      if (happens === null) give(session, text);
      // What a hook has said reaches the program when the hook ends.
      timers.after(answerMs, () => this.#waiters.get(session) === "ends" && this.end(session));
      return undefined;
    });
    return {
      async taken(signal) {
        if (signal.aborted) return;
        const { promise: over, resolve } = Promise.withResolvers<void>();
        signal.addEventListener("abort", () => resolve(), { once: true });
        await Promise.race([taken.promise, over]);
      },
      takeBack() {
        owner ??= "daemon";
        return owner === "daemon";
      },
    };
  }

  watch(changed: () => void): Disposable {
    this.#watchers.add(changed);
    return { [Symbol.dispose]: () => void this.#watchers.delete(changed) };
  }

  #become(session: string, waiter: Waiter | null): void {
    if (waiter === null) this.#waiters.delete(session);
    else this.#waiters.set(session, waiter);
    for (const changed of [...this.#watchers]) changed();
  }
}
