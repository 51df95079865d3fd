/** Programs announce neither their screens nor their files, so this one place looks again and again. */
export interface Waiting {
  deadlineMs?: number;
  /** What was waited for, and what is there instead. */
  what: () => Promise<string>;
}

export async function until(holds: () => boolean | Promise<boolean>, { deadlineMs = 120_000, what }: Waiting): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited ${deadlineMs} ms in vain until ${await what()}`);
    await Bun.sleep(20);
  }
}

/** Far longer than a program needs on a slow machine: what was taken late must not be done twice. */
const patienceMs = 6_000;

/** Acts and looks, and acts again when nothing came of it. Does nothing where the effect is there already. */
export async function insist(act: () => Promise<unknown>, isDone: () => boolean | Promise<boolean>, waiting: Waiting): Promise<void> {
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
