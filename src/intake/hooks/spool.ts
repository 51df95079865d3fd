/**
 * Hook calls that came as files: `<name>.call` with a first line of what the script knew of its caller, then the
 * payload; `<name>.done` beside it says that it is whole and that nobody waits for an answer.
 */
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createBell, renewWatcher, type Watcher } from "../../workspace/watching.ts";

export interface SpooledCall {
  readonly provider: string;
  readonly payload: unknown;
  readonly caller: { readonly tmuxSocket?: string; readonly pane?: string; readonly pid?: number };
}

export interface SpoolOptions {
  readonly folder: string;
  readonly take: (spooled: SpooledCall) => Promise<void>;
  readonly report: (context: string, fault: unknown) => void;
  readonly signal: AbortSignal;
  readonly sweepMs?: number;
}

/** Runs until the signal aborts. Never rejects. */
export async function watchSpool({ folder, take, report, signal, sweepMs = 5_000 }: SpoolOptions): Promise<void> {
  const bell = createBell(signal);
  let watcher: Watcher | undefined;
  while (!signal.aborted) {
    watcher = renewWatcher(watcher, folder, bell.ring);
    for (const name of finishedIn(folder)) {
      try {
        const spooled = readSpooled(join(folder, `${name}.call`));
        removeSpooled(folder, name);
        await take(spooled);
      } catch (fault) {
        removeSpooled(folder, name);
        report(`spooled hook call ${name}`, fault);
      }
    }
    await bell.wait(watcher ? sweepMs : Math.min(500, sweepMs));
  }
  watcher?.close();
}

/** In the order in which the hooks ended: a Stop that overtook the tool before it would leave the agent at work for ever. */
function finishedIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".done"))
    .map((name) => ({ name: name.slice(0, -".done".length), endedAt: statSync(join(folder, name), { bigint: true }).mtimeNs }))
    .toSorted((a, b) => (a.endedAt < b.endedAt ? -1 : a.endedAt > b.endedAt ? 1 : Number(a.name) - Number(b.name)))
    .map(({ name }) => name);
}

function removeSpooled(folder: string, name: string): void {
  for (const ending of ["call", "done"]) rmSync(join(folder, `${name}.${ending}`), { force: true });
}

export function readSpooled(path: string): SpooledCall {
  const text = readFileSync(path, "utf8");
  const end = text.indexOf("\n");
  const [provider = "", tmuxSocket, pane, pid] = text.slice(0, end).split("\t");
  const payload = JSON.parse(text.slice(end + 1)) as unknown;
  return { provider, payload, caller: { ...(tmuxSocket && { tmuxSocket }), ...(pane && { pane }), ...(pid && { pid: Number(pid) }) } };
}

/** Leaves a call for the daemon to read when it can. */
export function leaveInSpool(path: string): void {
  writeFileSync(path.replace(/\.call$/, ".done"), "");
}
