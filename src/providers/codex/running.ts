/**
 * Which thread an adopted Codex is in. A Codex on its own holds the lock of its thread; one at a
 * server shows nothing, and is known only where no other thread could be meant.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { systemTimers, type Timers } from "../../os/timers.ts";
import { linkOf } from "../processFiles.ts";
import type { ProgramProcess, RunningProgram } from "../port.ts";
import { connectAppServer } from "./appServer.ts";
import { heldThreads, homeOfCodex } from "./processes.ts";
import { codexServerEndpoint, loadedThreads } from "./threads.ts";

const nothing: RunningProgram = { sessionId: null, endpoints: [] };

export async function runningCodex(
  { pids, argv, taken }: ProgramProcess,
  report: (context: string, fault: unknown) => void,
  timers: Pick<Timers, "timeout"> = systemTimers,
): Promise<RunningProgram> {
  const own = pids.flatMap(heldThreads).toSorted().at(-1);
  if (own !== undefined) return { sessionId: own, endpoints: [] };
  const socket = remoteSocket(argv) ?? sharedSocket(pids[0]!);
  const cwd = linkOf(pids[0]!, "cwd");
  if (socket === null || cwd === null) return nothing;
  const threads = await threadsAt(socket, timers).catch((fault: unknown) => {
    report(`ask the Codex app server at ${socket}, which is left aside`, fault);
    return [];
  });
  const here = threads.filter((thread) => thread.main && thread.cwd === cwd && !taken.has(thread.id));
  if (here.length !== 1) return nothing;
  return { sessionId: here[0]!.id, endpoints: [codexServerEndpoint({ socket, hooks: false, shared: true })] };
}

function remoteSocket(argv: readonly string[]): string | null {
  const address = argv[argv.indexOf("--remote") + 1];
  return argv.includes("--remote") && address?.startsWith("unix:///") ? address.slice("unix://".length) : null;
}

/** The server that all of a user's Codexes share, unless configured otherwise. */
function sharedSocket(pid: number): string | null {
  const socket = join(homeOfCodex(pid) ?? "/", "app-server-control", "app-server-control.sock");
  return existsSync(socket) ? socket : null;
}

async function threadsAt(socket: string, timers: Pick<Timers, "timeout">) {
  await using app = await connectAppServer(socket, { signal: timers.timeout(2_000) });
  return await loadedThreads(app);
}
