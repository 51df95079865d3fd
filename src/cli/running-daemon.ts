/** The daemon that runs now, if one does. */
import type { Client } from "../client/client.ts";
import type { Output } from "../client/schema.ts";
import { TielineError } from "../model/errors.ts";
import { systemProcesses } from "../tmux/process.ts";

export type DaemonStatus = Output<"daemonStatus">;

/** null: none does. */
export async function statusOf(daemon: Client): Promise<DaemonStatus | null> {
  try {
    return await daemon.call("daemonStatus", {});
  } catch (error) {
    if (error instanceof TielineError && error.code === "DAEMON_UNAVAILABLE") return null;
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

/** A process that is not our child can only be looked for. One that waits for its parent to notice has ended. */
async function untilEnded(pid: number): Promise<void> {
  const deadline = Date.now() + stopDeadlineMs;
  const processes = systemProcesses();
  while (await processes.read(pid)) {
    if (Date.now() > deadline) {
      throw new TielineError("NOT_IN_TIME", `the daemon (pid ${pid}) is still there after ${stopDeadlineMs / 1000} s`, {
        remedy: `look at \`tieline daemon logs\`; \`kill ${pid}\` ends it, and loses nothing`,
        operands: { pid },
      });
    }
    await Bun.sleep(10);
  }
}
