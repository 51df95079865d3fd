/** Whether a daemon that owes an answer still works. */
import { readFileSync } from "node:fs";
import type { Home } from "../../client/home.ts";
import type { OperationName } from "../../api/schema.ts";
import { TielineError } from "../../model/errors.ts";
import { bunExec } from "../../os/exec.ts";
import { isSameProcess, systemProcesses } from "../../os/processes.ts";
import { span } from "../input/times.ts";
import { systemTimers, type Timers } from "../../os/timers.ts";

/**
 * A daemon answers the smallest question in a millisecond, and within this time under any load that it was built for.
 */
export const probeMs = 1_500;
/** One that runs but answers nothing for this long hangs. */
export const silentMs = 8_000;
export const everyMs = 5_000;

/**
 * Resolves when the answer is not worth waiting for any longer, with the reason; never when the signal aborts first.
 */
export type UntilStalled = (
  home: Home,
  deadlineMs: number,
  signal: AbortSignal,
  name: OperationName,
  timers?: Timers,
) => Promise<TielineError>;

export const untilStalled: UntilStalled = async (home, deadlineMs, signal, name, timers = systemTimers) => {
  const startedAt = timers.elapsed();
  let silentSince: number | null = null;
  while (!signal.aborted) {
    const before = timers.elapsed();
    if (await isSilent(home.socket, timers)) {
      silentSince ??= before;
      const pid = await daemonPid(home);
      if (pid !== null && (await isStopped(pid))) return stopped(pid);
      if (timers.elapsed() - silentSince > silentMs) return silent(pid);
    } else {
      silentSince = null;
      if (timers.elapsed() - startedAt > deadlineMs) return late(name, deadlineMs);
      await timers.pause(Math.min(everyMs, deadlineMs), signal);
    }
  }
  return new Promise(() => undefined);
};

/** Any answer will do. Where nothing listens, the call that is waited for finds that out by itself. */
async function isSilent(socket: string, timers: Timers): Promise<boolean> {
  try {
    await fetch("http://tieline/", { unix: socket, signal: timers.timeout(probeMs) });
    return false;
  } catch (thrown) {
    return (thrown as Error).name === "TimeoutError";
  }
}

/** Null: it is not known, or it has ended. */
async function daemonPid({ pidFile }: Home): Promise<number | null> {
  try {
    const [pid, startMark = ""] = readFileSync(pidFile, "utf8").trim().split(" ");
    return (await isSameProcess(systemProcesses(), { pid: Number(pid), startMark })) ? Number(pid) : null;
  } catch {
    return null;
  }
}

/** By a signal such as SIGSTOP, or by a debugger. */
async function isStopped(pid: number): Promise<boolean> {
  try {
    if (process.platform !== "linux")
      return (await bunExec(["ps", "-o", "state=", "-p", String(pid)], { timeoutMs: probeMs })).stdout
        .trim()
        .startsWith("T");
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return /^[Tt]$/.test(stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3));
  } catch {
    return false;
  }
}

const stopped = (pid: number): TielineError =>
  new TielineError("DAEMON_UNAVAILABLE", `the daemon (pid ${pid}) is stopped and cannot answer`, {
    remedy:
      `\`kill -CONT ${pid}\` lets it continue; \`kill -9 ${pid}\` ends it, which loses nothing: the next ` +
      "command starts another",
    operands: { pid, cause: "stopped", arrived: "unknown" },
  });

const silent = (pid: number | null): TielineError =>
  new TielineError(
    "DAEMON_UNAVAILABLE",
    `the daemon${pid === null ? "" : ` (pid ${pid})`} has not answered anything for ${silentMs / 1_000} s`,
    {
      remedy:
        pid === null
          ? "see `tieline daemon logs`"
          : `see \`tieline daemon logs\`; \`kill -9 ${pid}\` ends it, which loses nothing: the next command ` +
            "starts another",
      operands: { pid, cause: "silent", arrived: "unknown" },
    },
  );

const late = (name: OperationName, deadlineMs: number): TielineError =>
  new TielineError("NOT_IN_TIME", `the daemon works, but \`${name}\` has taken longer than ${span(deadlineMs)}`, {
    remedy: "it may still finish; `tieline doctor` shows what does not answer",
    operands: { operation: name, deadlineMs },
  });
