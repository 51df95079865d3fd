import { readdirSync, readFileSync } from "node:fs";

/**
 * For states of the outside world that no event announces: polled, in this one place. Fails with what
 * it waited for; where what is there instead matters, that is asked only then.
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string | (() => string | Promise<string>),
  deadlineMs = 25_000,
): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  while (!(await holds())) {
    if (Date.now() > deadline)
      throw new Error(`waited ${deadlineMs} ms for ${typeof what === "string" ? what : await what()}`);
    await Bun.sleep(10);
  }
}

/**
 * A killed process is gone when it is not there, or only waits for its parent to notice. While one of its threads is
 * still exiting, its files and sockets are open.
 */
export async function untilGone(pid: number): Promise<void> {
  await until(() => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      return stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z") && readdirSync(`/proc/${pid}/task`).length <= 1;
    } catch {
      return true;
    }
  }, `process ${pid} to end`);
}
