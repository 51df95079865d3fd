/** What a timer of the runtime holds at most, some 24.8 days; beyond it fires at once. */
const longestMs = 2 ** 31 - 1;

export interface LongTimer {
  cancel(): void;
}

/** Calls back after any time, however long. Infinity: never. */
export function after(ms: number, run: () => void): LongTimer {
  let leftMs = ms;
  let timer: Timer | null = null;
  const wait = (): void => {
    const step = Math.min(Math.max(0, leftMs), longestMs);
    leftMs -= step;
    timer = setTimeout(() => (leftMs > 0 ? wait() : run()), step);
  };
  if (ms !== Infinity) wait();
  return {
    cancel() {
      if (timer) clearTimeout(timer);
    },
  };
}
