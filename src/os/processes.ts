import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { bunExec, type Exec } from "./exec.ts";

export interface ProcessFacts {
  pid: number;
  ppid: number;
  processGroup: number;
  /** The process group that has the terminal now; -1 without a terminal. */
  foregroundGroup: number;
  /** Tells this process from a later one with the same pid. To be compared, not to be read as a time. */
  startMark: string;
  /** Name of the program, without its path; Linux cuts it at 15 bytes. */
  command: string;
  /** It has, or wants, a processor or a disk at this moment: it does not wait for input. */
  computing: boolean;
}

/** The living processes; one that has ended and waits to be reaped does not count. */
export interface Processes {
  read(pid: number): Promise<ProcessFacts | undefined>;
  all(): Promise<ProcessFacts[]>;
  /** Its arguments; joined by spaces where the system keeps no borders. */
  argv(pid: number): Promise<string[]>;
  /** Whether its standard input is a terminal; true where the system does not tell. */
  readsTerminal(pid: number): Promise<boolean>;
  /** Its children, without a listing of all processes; undefined where the system has no such list. */
  children?(pid: number): Promise<ProcessFacts[] | undefined>;
}

export interface ProcessSource {
  platform?: NodeJS.Platform;
  exec?: Exec;
  procRoot?: string;
}

export function systemProcesses({
  platform = process.platform,
  exec = bunExec,
  procRoot = "/proc",
}: ProcessSource = {}): Processes {
  return platform === "linux" ? procProcesses(procRoot) : psProcesses(exec);
}

export async function isSameProcess(
  processes: Processes,
  known: Pick<ProcessFacts, "pid" | "startMark">,
): Promise<boolean> {
  return (await processes.read(known.pid))?.startMark === known.startMark;
}

/** Without reading anything about it. True as well for one that has ended and waits to be reaped. */
export function processExists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** All processes below `pid`, parents before children. */
export async function descendants(processes: Processes, pid: number): Promise<ProcessFacts[]> {
  return (await descendantsByLists(processes, pid)) ?? descendantsInListing(processes, pid);
}

async function descendantsByLists(processes: Processes, pid: number): Promise<ProcessFacts[] | undefined> {
  const found: ProcessFacts[] = [];
  let generation: readonly number[] = [pid];
  while (generation.length > 0) {
    const children = await Promise.all(generation.map((parent) => processes.children?.(parent)));
    if (children.includes(undefined)) return undefined;
    const next = children.flatMap((those) => those ?? []);
    found.push(...next);
    generation = next.map((child) => child.pid);
  }
  return found;
}

async function descendantsInListing(processes: Processes, pid: number): Promise<ProcessFacts[]> {
  const children = Map.groupBy(await processes.all(), ({ ppid }) => ppid);
  const found: ProcessFacts[] = [];
  let generation = children.get(pid) ?? [];
  while (generation.length > 0) {
    found.push(...generation);
    generation = generation.flatMap((parent) => children.get(parent.pid) ?? []);
  }
  return found;
}

/** Who started a process never changes, so the ancestors of one that is still the same are read once. */
export class Lineages {
  private readonly known = new Map<number, readonly ProcessFacts[]>();

  constructor(
    private readonly processes: Pick<Processes, "read">,
    private readonly limit = 1_000,
  ) {}

  /** `pid` itself and its parents, nearest first. */
  async of(pid: number): Promise<readonly ProcessFacts[]> {
    const self = await this.processes.read(pid);
    if (!self) return [];
    const known = this.known.get(pid);
    if (known?.[0]!.startMark === self.startMark) return known;
    const lineage = [self, ...(await this.of(self.ppid))];
    this.known.delete(pid);
    this.known.set(pid, lineage);
    if (this.known.size > this.limit) this.known.delete(this.known.keys().next().value!);
    return lineage;
  }
}

/** The leader of the group that reads the terminal of `pid`, which is the pane's own process. */
export async function foreground(processes: Processes, pid: number): Promise<ProcessFacts | undefined> {
  const pane = await processes.read(pid);
  if (!pane || pane.foregroundGroup <= 0) return undefined;
  if (pane.foregroundGroup === pane.processGroup) return pane;
  const leader = await processes.read(pane.foregroundGroup);
  if (leader) return leader;
  // The leader of a pipeline may have ended before its other members.
  return (await processes.all()).find(({ processGroup }) => processGroup === pane.foregroundGroup);
}

/** The kernel answers from memory, so these reads are done in place: a thread for each would take ten times as long. */
function procProcesses(root: string): Processes {
  function read(pid: number): ProcessFacts | undefined {
    const stat = readIfThere(`${root}/${pid}/stat`);
    return stat === undefined ? undefined : parseStat(stat);
  }
  return {
    read: (pid) => Promise.resolve(read(pid)),
    async all() {
      const pids = readdirSync(root).filter((name) => /^\d+$/.test(name));
      return pids.map((pid) => read(Number(pid))).filter((found) => found !== undefined);
    },
    async argv(pid) {
      const cmdline = readIfThere(`${root}/${pid}/cmdline`) ?? "";
      return cmdline.split("\0").slice(0, -1);
    },
    async readsTerminal(pid) {
      try {
        return /^\/dev\/(pts\/|tty|console)/.test(readlinkSync(`${root}/${pid}/fd/0`));
      } catch {
        // It belongs to another user, or has ended since.
        return true;
      }
    },
    async children(pid) {
      // Each thread has the children that it started.
      const lists = threadsOf(root, pid).map((thread) => readIfThere(`${root}/${pid}/task/${thread}/children`));
      if (lists.length > 0 && lists.every((list) => list === undefined)) return undefined;
      const pids = lists.flatMap((list) => list?.split(" ") ?? []).filter(Boolean);
      return pids.map((child) => read(Number(child))).filter((child) => child !== undefined);
    },
  };
}

function threadsOf(root: string, pid: number): string[] {
  try {
    return readdirSync(`${root}/${pid}/task`);
  } catch {
    // It has ended since.
    return [];
  }
}

/** `pid (name) state ppid pgrp session tty tpgid … starttime`; the name may itself hold blanks and brackets. */
function parseStat(stat: string): ProcessFacts | undefined {
  const nameAt = stat.indexOf("(");
  const nameEnd = stat.lastIndexOf(")");
  const fields = stat.slice(nameEnd + 2).split(" ");
  const [state = "", ppid, processGroup, , , foregroundGroup] = fields;
  if (hasEnded(state)) return undefined;
  return {
    pid: Number(stat.slice(0, nameAt)),
    ppid: Number(ppid),
    processGroup: Number(processGroup),
    foregroundGroup: Number(foregroundGroup),
    startMark: fields[19] ?? "",
    command: stat.slice(nameAt + 1, nameEnd),
    computing: isComputing(state),
  };
}

function psProcesses(exec: Exec): Processes {
  const columns = "pid=,ppid=,pgid=,tpgid=,state=,lstart=,comm=";
  // lstart is written in the words of the locale; the mark must not depend on it.
  const env = { PATH: "/usr/bin:/bin", LC_ALL: "C" };
  async function list(...selection: string[]): Promise<ProcessFacts[]> {
    const { stdout } = await exec(["ps", ...selection, "-o", columns], { env });
    return stdout.split("\n").flatMap((line) => parsePsLine(line) ?? []);
  }
  return {
    all: () => list("-A"),
    async read(pid) {
      return (await list("-p", String(pid)))[0];
    },
    async argv(pid) {
      const { stdout } = await exec(["ps", "-p", String(pid), "-o", "args="], { env });
      return stdout.trim().split(/\s+/).filter(Boolean);
    },
    readsTerminal: () => Promise.resolve(true),
  };
}

const psLine = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(-?\d+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\d{4})\s+(.*)$/;

function parsePsLine(line: string): ProcessFacts | undefined {
  const [, pid, ppid, processGroup, foregroundGroup, state = "", startMark = "", path = ""] = psLine.exec(line) ?? [];
  if (!pid || hasEnded(state)) return undefined;
  return {
    pid: Number(pid),
    ppid: Number(ppid),
    processGroup: Number(processGroup),
    foregroundGroup: Number(foregroundGroup),
    startMark,
    command: path.trim().split("/").at(-1) ?? "",
    computing: isComputing(state),
  };
}

/** Running, or in a wait that nothing interrupts: `D` on Linux, `U` on macOS. */
function isComputing(state: string): boolean {
  return /^[RDU]/.test(state);
}

function hasEnded(state: string): boolean {
  return state.startsWith("Z") || state.startsWith("X");
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    // ESRCH: the process ended between opening and reading.
    if (["ENOENT", "ESRCH"].includes((error as { code?: string }).code ?? "")) return undefined;
    throw error;
  }
}
