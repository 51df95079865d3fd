import { describe, expect, test } from "bun:test";
import type { Timers } from "../os/timers.ts";

export interface TimersUnderTest {
  readonly timers: Timers;
  /** Lets time pass until the promise is settled. */
  settled<Result>(promise: Promise<Result>): Promise<Result>;
}

/** What all timers promise, whether time passes by itself or is made to. No case depends on how fast it passes. */
export function timersContract(name: string, open: () => TimersUnderTest): void {
  describe(`timers contract: ${name}`, () => {
    /** Calls that add to a list, and the list once the last of them was made. */
    function calls() {
      const made: string[] = [];
      const last = Promise.withResolvers<string[]>();
      const add = (call: string) => () => void made.push(call);
      const end = (): void => last.resolve([...made]);
      return { made, add, end, all: last.promise };
    }

    test("callbacks run in the order in which they are due", async () => {
      const { timers, settled } = open();
      const { add, end, all } = calls();
      // A process that was stopped between two lines would have set the second timer later than the first is due.
      for (let from = timers.elapsed(); ; from = timers.elapsed()) {
        const set = [[60, add("third")] as const, [1, add("first")] as const, [30, add("second")] as const];
        const scheduled = set.map(([ms, run]) => timers.after(ms, run));
        if (timers.elapsed() - from < 20) break;
        for (const one of scheduled) one.cancel();
      }
      timers.after(60, end);
      expect(await settled(all)).toEqual(["first", "second", "third"]);
    });

    test("callbacks with the same delay run in the order in which they were set", async () => {
      const { timers, settled } = open();
      const { add, end, all } = calls();
      for (const call of ["a", "b", "c", "d"]) timers.after(5, add(call));
      timers.after(5, end);
      expect(await settled(all)).toEqual(["a", "b", "c", "d"]);
    });

    test.each([0, -1])("a delay of %d calls back in a later turn", async (ms) => {
      const { timers, settled } = open();
      const { made, add, end, all } = calls();
      timers.after(ms, add("called"));
      await Promise.resolve();
      expect(made).toEqual([]);
      timers.after(20, end);
      expect(await settled(all)).toEqual(["called"]);
    });

    test.each([Infinity, 2 ** 31, 400 * 86_400_000])("a delay of %d ms is longer than a short one", async (ms) => {
      const { timers, settled } = open();
      const { add, end, all } = calls();
      using _long = timers.after(ms, add("too early"));
      const late = timers.timeout(ms);
      timers.after(20, end);
      expect(await settled(all)).toEqual([]);
      expect(late.aborted).toBe(false);
    });

    test("a cancelled callback does not run, even if another one that is due cancels it", async () => {
      const { timers, settled } = open();
      const { add, end, all } = calls();
      const early = timers.after(1, add("cancelled at once"));
      early.cancel();
      early.cancel();
      timers.after(5, () => second.cancel());
      const second = timers.after(5, add("cancelled by its neighbour"));
      {
        using _block = timers.after(5, add("cancelled with its block"));
      }
      const ran = timers.after(5, add("ran"));
      timers.after(20, () => {
        ran.cancel();
        end();
      });
      expect(await settled(all)).toEqual(["ran"]);
    });

    test("a repeated callback runs until it is cancelled", async () => {
      const { timers, settled } = open();
      const { made, end, all } = calls();
      const repeated = timers.every(2, () => {
        made.push("again");
        if (made.length < 3) return;
        repeated.cancel();
        timers.after(20, end);
      });
      expect(await settled(all)).toEqual(["again", "again", "again"]);
    });

    test("pauses end in the order of their lengths, and time has passed", async () => {
      const { timers, settled } = open();
      const from = timers.elapsed();
      const ended: number[] = [];
      const pauses = [1, 15, 30].map((ms) => timers.pause(ms).then(() => void ended.push(ms)));
      await settled(Promise.all(pauses));
      expect(ended).toEqual([1, 15, 30]);
      expect(timers.elapsed()).toBeGreaterThan(from);
    });

    test("an aborted signal ends a pause, and none of its listeners stays", async () => {
      const { timers, settled } = open();
      const { signal, abort } = countedSignal();
      await settled(timers.pause(1, signal.signal));
      expect(signal.listeners).toBe(0);
      const long = timers.pause(3_600_000, signal.signal);
      expect(signal.listeners).toBe(1);
      timers.after(1, abort);
      await settled(long);
      expect(signal.listeners).toBe(0);
      await settled(timers.pause(3_600_000, signal.signal));
      expect(signal.listeners).toBe(0);
    });

    test("a timeout aborts with a TimeoutError, also through AbortSignal.any", async () => {
      const { timers, settled } = open();
      const late = timers.timeout(5);
      const either = AbortSignal.any([new AbortController().signal, late]);
      expect(either.aborted).toBe(false);
      const aborted = new Promise<void>((resolve) => {
        either.addEventListener("abort", () => resolve());
        // A timeout alone does not keep a process alive.
        timers.pause(3_600_000, either).catch(() => undefined);
      });
      await settled(aborted);
      expect((late.reason as DOMException).name).toBe("TimeoutError");
    });

    test("the next turn comes after everything that can continue now", async () => {
      const { timers, settled } = open();
      const { made, add } = calls();
      const turn = timers.nextTurn().then(add("next turn"));
      let promises = Promise.resolve();
      for (let at = 0; at < 10; at++) promises = promises.then(() => undefined);
      void promises.then(add("promises"));
      expect(made).toEqual([]);
      await settled(turn);
      expect(made).toEqual(["promises", "next turn"]);
    });
  });
}

/** A signal that counts who listens to it. */
function countedSignal() {
  const controller = new AbortController();
  const { signal } = controller;
  const listening = new Set<unknown>();
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  signal.addEventListener = (type: string, listener: EventListenerOrEventListenerObject) => {
    listening.add(listener);
    add(type, listener);
  };
  signal.removeEventListener = (type: string, listener: EventListenerOrEventListenerObject) => {
    listening.delete(listener);
    remove(type, listener);
  };
  return {
    signal: {
      signal,
      get listeners() {
        return listening.size;
      },
    },
    abort: () => controller.abort(),
  };
}
