/** The server of an adopted opencode: one that listens can be written to there. */
import { systemTimers, type Timers } from "../../os/timers.ts";
import { environOf, openFilesOf, textOf } from "../processFiles.ts";
import type { ProgramProcess, RunningProgram } from "../port.ts";
import { opencodeServer, type OpencodeAddress } from "./server.ts";
import { opencodeServerEndpoint } from "./sessions.ts";

export async function runningOpencode(
  { pids, argv }: ProgramProcess,
  report: (context: string, fault: unknown) => void,
  timers: Pick<Timers, "timeout"> = systemTimers,
): Promise<RunningProgram> {
  const flag = argv.findIndex((word) => word === "--session" || word === "-s");
  const sessionId = flag < 0 ? null : (argv[flag + 1] ?? null);
  const password = environOf(pids[0]!)["OPENCODE_SERVER_PASSWORD"] || null;
  for (const port of pids.flatMap(listeningPorts)) {
    const heard = await answers({ port, password }, timers).catch((fault: unknown) => {
      report(`ask the opencode at port ${port}, which is left aside`, fault);
      return false;
    });
    if (heard) return { sessionId, endpoints: [opencodeServerEndpoint({ port, password, adopted: true })] };
  }
  return { sessionId, endpoints: [] };
}

async function answers(address: OpencodeAddress, timers: Pick<Timers, "timeout">): Promise<boolean> {
  const health = await opencodeServer(address).request<{ healthy?: boolean }>("GET", "/global/health", {
    signal: timers.timeout(2_000),
  });
  return health.healthy === true;
}

const listening = "0A";

/** TCP ports on which the process itself listens, as the kernel tells on Linux. */
function listeningPorts(pid: number): number[] {
  const own = new Set(openFilesOf(pid).flatMap((file) => /^socket:\[(\d+)\]$/.exec(file)?.[1] ?? []));
  const rows = ["tcp", "tcp6"].flatMap((table) => textOf(pid, `net/${table}`).split("\n").slice(1));
  return rows.flatMap((row) => {
    const [, local = "", , state, , , , , , inode = ""] = row.trim().split(/\s+/);
    return state === listening && own.has(inode) ? [Number.parseInt(local.split(":")[1] ?? "", 16)] : [];
  });
}
