/** The daemon that runs now, if one does. */
import type { Client } from "../../client/client.ts";
import type { Output } from "../../api/schema.ts";
import { TielineError } from "../../model/errors.ts";
import { entriesIn } from "../../os/entries.ts";
import { systemProcesses } from "../../os/processes.ts";
import { systemTimers, type Timers } from "../../os/timers.ts";

export type DaemonStatus = Output<"daemonStatus">;

/**
 * What connecting fails with where nothing listens. Anything else comes from a daemon that is there and does not
 * answer.
 */
const nobodyListens: ReadonlySet<unknown> = new Set([
  "ENOENT",
  "ECONNREFUSED",
  "ConnectionRefused",
  "FailedToOpenSocket",
]);

/** null: none does. */
export async function statusOf(daemon: Client): Promise<DaemonStatus | null> {
  try {
    return await daemon.call("daemonStatus", {});
  } catch (error) {
    if (
      error instanceof TielineError &&
      error.code === "DAEMON_UNAVAILABLE" &&
      nobodyListens.has(error.operands["cause"])
    )
      return null;
    throw error;
  }
}

/** Resolves when it has ended, with whether there was one. */
export async function stopRunning(daemon: Client): Promise<boolean> {
  const found = await statusOf(daemon);
  if (found === null) return false;
  await daemon.call("daemonStop", {});
  await untilEnded(found.pid);
  return true;
}

const stopDeadlineMs = 15_000;

/**
 * A process that is not our child can only be looked for. One that waits for its parent to notice has ended, unless
 * its threads are still there: they hold its files and locks.
 */
async function untilEnded(pid: number, timers: Timers = systemTimers): Promise<void> {
  const deadline = timers.elapsed() + stopDeadlineMs;
  const processes = systemProcesses();
  while ((await processes.read(pid)) || entriesIn(`/proc/${pid}/task`).length > 1) {
    if (timers.elapsed() > deadline) {
      throw new TielineError("NOT_IN_TIME", `the daemon (pid ${pid}) is still there after ${stopDeadlineMs / 1000} s`, {
        remedy: `look at \`tieline daemon logs\`; \`kill ${pid}\` ends it, and loses nothing`,
        operands: { pid },
      });
    }
    await timers.pause(10);
  }
}
