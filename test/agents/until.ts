import { until as untilSo } from "../../src/testing/until.ts";

/** Real programs announce neither their screens nor their files, and take their time. */
export interface Waiting {
  deadlineMs?: number;
  /** What was waited for, and what is there instead. */
  what: () => Promise<string>;
}

export const until = (
  holds: () => boolean | Promise<boolean>,
  { deadlineMs = 120_000, what }: Waiting,
): Promise<void> => untilSo(holds, async () => `this: ${await what()}`, deadlineMs);

/** Far longer than a program needs on a slow machine: what was taken late must not be done twice. */
const patienceMs = 6_000;

/** Acts and looks, and acts again if nothing happened. Does nothing if the effect is already there. */
export async function insist(
  act: () => Promise<unknown>,
  isDone: () => boolean | Promise<boolean>,
  waiting: Waiting,
): Promise<void> {
  let actedAt = -Infinity;
  const done = async (): Promise<boolean> => {
    if (await isDone()) return true;
    if (Date.now() - actedAt < patienceMs) return false;
    await act();
    actedAt = Date.now();
    return false;
  };
  await until(done, waiting);
}
