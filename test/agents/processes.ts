import { readdir, readFile, readlink } from "node:fs/promises";
import { sep } from "node:path";
import { until } from "./until.ts";

/** The processes that work in a folder, and all that descend from them: also what a killed program left behind. */
export async function processesIn(folder: string): Promise<number[]> {
  const there: number[] = [];
  for (const pid of (await readdir("/proc")).map(Number).filter((name) => name > 0)) {
    const directory = await readlink(`/proc/${pid}/cwd`).catch(() => "");
    if (`${directory}${sep}`.startsWith(folder + sep)) there.push(pid);
  }
  return withDescendants(there);
}

export async function withDescendants(pids: readonly number[]): Promise<number[]> {
  const family = new Set(pids);
  for (const pid of family) for (const child of await childrenOf(pid)) family.add(child);
  return [...family];
}

/** Asks each process to end, then insists. Resolves when none is left. */
export async function endProcesses(pids: readonly number[], graceMs = 3_000): Promise<void> {
  for (const pid of pids) signal(pid, "SIGTERM");
  const insistAt = Date.now() + graceMs;
  await until(
    async () => {
      const left = await living(pids);
      if (Date.now() > insistAt) for (const pid of left) signal(pid, "SIGKILL");
      return left.length === 0;
    },
    { what: async () => `none of the processes ${(await living(pids)).join(", ")} is left` },
  );
}

/** Those that still run. A zombie has ended; its parent collects it when it likes. */
export async function living(pids: readonly number[]): Promise<number[]> {
  const states = await Promise.all(pids.map(stateOf));
  return pids.filter((_pid, index) => states[index] !== undefined && states[index] !== "Z");
}

/** The words a process was started with; none if it has ended. */
export async function wordsOf(pid: number): Promise<string[]> {
  return (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0");
}

async function stateOf(pid: number): Promise<string | undefined> {
  const line = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  return line?.slice(line.lastIndexOf(")") + 2, line.lastIndexOf(")") + 3);
}

async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, "utf8").catch(() => "")),
  );
  return lists.flatMap((list) => list.split(" ").filter(Boolean).map(Number));
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ESRCH") throw thrown;
  }
}
