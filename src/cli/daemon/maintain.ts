/** Work on the files of a home that needs the daemon to be stopped. */
import type { Home } from "../../client/home.ts";
import type { Client } from "../../client/client.ts";
import { refuseWhileServed } from "../../compose/offline.ts";
import { tooOpenIn } from "../../config/privateHome.ts";
import { beginMaintenance } from "../../config/maintenance.ts";
import { TielineError } from "../../model/errors.ts";
import { DatabaseTaken } from "../../os/sqlite/faults.ts";
import { stopRunning } from "./runningDaemon.ts";
import { systemTimers, type Timers } from "../../os/timers.ts";

/** A daemon that is starting or stopping releases the mailbox within this time. */
const patienceMs = 5_000;

/** Stops the daemon, if one runs, and keeps others from starting until the work is done. */
export async function withoutDaemon<T>(
  home: Home,
  runningDaemon: Client,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  tooOpenIn(home);
  using _maintenance = await beginMaintenance(home.root, what);
  await stopRunning(runningDaemon);
  await untilFree(home);
  return await work();
}

async function untilFree(home: Home, timers: Timers = systemTimers): Promise<void> {
  for (const deadline = timers.elapsed() + patienceMs; ; await timers.pause(20)) {
    try {
      return refuseWhileServed(home);
    } catch (thrown) {
      if (!(thrown instanceof DatabaseTaken)) throw thrown;
      if (timers.elapsed() > deadline) throw served(home.mailbox);
    }
  }
}

const served = (mailbox: string): TielineError =>
  new TielineError("CONFLICT", `another process has ${mailbox} open`, {
    remedy: "run `tieline daemon stop`, or close the program that reads it, and try again",
    operands: { path: mailbox },
  });
