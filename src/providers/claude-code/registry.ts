import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { TielineError } from "../../model/errors.ts";
import { entriesIn } from "../../os/entries.ts";
import { readUntrusted, refusalError } from "../../os/untrustedFile.ts";

const tmuxPlace = /^(.*):(@\d+)\.(%\d+)$/s;

/** One file of `sessions/`, as Claude Code writes it. Fields that we do not use are dropped, new ones do no harm. */
const sessionFile = z.object({
  pid: z.number().int().positive(),
  sessionId: z.string(),
  cwd: z.string(),
  procStart: z.string().optional(),
  version: z.string().optional(),
  entrypoint: z.string().optional(),
  name: z.string().optional(),
  status: z.enum(["idle", "busy", "waiting"]).optional().catch(undefined),
  waitingFor: z.string().optional(),
  statusUpdatedAt: z.number().optional(),
  tmux: z.string().optional(),
  messagingSocketPath: z.string().optional(),
});

const maxSessionBytes = 1 << 20;

type SessionFile = z.infer<typeof sessionFile>;

export interface RegisteredSession extends Omit<SessionFile, "tmux" | "status"> {
  /** `unknown` when this version writes no status, or one that we do not know. */
  status: "idle" | "busy" | "waiting" | "unknown";
  /** The tmux pane that it runs in, such as `%14`. */
  pane: string | undefined;
  /** False when the process has ended, or its pid now belongs to another one: the file outlives a kill. */
  alive: boolean;
}

export interface Registry {
  sessions: RegisteredSession[];
  /** Files that could not be understood, each with the reason. */
  unreadable: { path: string; reason: string }[];
}

/** Whether the process that a file speaks of still runs. `procStart` tells it from a later one with the same pid. */
export type Liveness = (pid: number, procStart: string | undefined) => Promise<boolean>;

/** All sessions that Claude Code has registered under its config folder (`~/.claude`), live and stale. */
export async function readRegistry(configDir: string, isAlive: Liveness = isSameProcess): Promise<Registry> {
  const folder = join(configDir, "sessions");
  const registry: Registry = { sessions: [], unreadable: [] };
  for (const name of filesIn(folder)) {
    const path = join(folder, name);
    const parsed = sessionIn(path);
    if (parsed === null) continue;
    if ("reason" in parsed) registry.unreadable.push({ path, reason: parsed.reason });
    else registry.sessions.push(await withLiveness(parsed.file, isAlive));
  }
  return registry;
}

/** The registered session of one process, read at once; null when it has none that lives and that we understand. */
export function sessionNow(configDir: string, pid: number): RegisteredSession | null {
  const parsed = sessionIn(join(configDir, "sessions", `${pid}.json`));
  if (parsed === null || "reason" in parsed) return null;
  const { tmux, status, ...file } = parsed.file;
  if (!livesNow(pid, file.procStart)) return null;
  return { ...file, status: status ?? "unknown", pane: tmux?.match(tmuxPlace)?.[3], alive: true };
}

function livesNow(pid: number, procStart: string | undefined): boolean {
  if (process.platform !== "linux") return pidExists(pid);
  const startedAt = ticksIn(textNow(`/proc/${pid}/stat`) ?? undefined);
  return startedAt !== undefined && (procStart === undefined || startedAt === procStart);
}

/** The parent of a process; null where that is unknown. */
export function parentNow(pid: number): number | null {
  const stat = textNow(`/proc/${pid}/stat`);
  return stat === null ? null : Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

function textNow(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (thrown) {
    absent(thrown as NodeJS.ErrnoException);
    return null;
  }
}

/** On Linux by the start time in /proc; elsewhere a pid that exists is taken for the same process. */
export async function isSameProcess(pid: number, procStart: string | undefined): Promise<boolean> {
  if (process.platform !== "linux") return pidExists(pid);
  const startedAt = await startTicks(pid);
  return startedAt !== undefined && (procStart === undefined || startedAt === procStart);
}

/**
 * The start time of a running process, field 22 of /proc/<pid>/stat. A zombie counts as ended. The second field is the
 * command and may itself hold spaces and parentheses, so the fields are counted from its end.
 */
async function startTicks(pid: number): Promise<string | undefined> {
  return ticksIn(await textIfThere(`/proc/${pid}/stat`));
}

function ticksIn(line: string | undefined): string | undefined {
  const [state, ...fields] = line?.slice(line.lastIndexOf(")") + 2).split(" ") ?? [];
  return state === "Z" ? undefined : fields[18];
}

function pidExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "EPERM";
  }
}

function parse(text: string): { file: SessionFile } | { reason: string } {
  try {
    return { file: sessionFile.parse(JSON.parse(text)) };
  } catch (thrown) {
    return { reason: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

async function withLiveness({ tmux, status, ...file }: SessionFile, isAlive: Liveness): Promise<RegisteredSession> {
  return {
    ...file,
    status: status ?? "unknown",
    pane: tmux?.match(tmuxPlace)?.[3],
    alive: await isAlive(file.pid, file.procStart),
  };
}

const filesIn = (folder: string): string[] => entriesIn(folder).filter((name) => /^\d+\.json$/.test(name));

/** A session removes its file when it ends, so a file that is listed may be gone when it is read: null. */
function sessionIn(path: string): { file: SessionFile } | { reason: string } | null {
  const file = readUntrusted(path, { maxBytes: maxSessionBytes });
  if (file.ok) return parse(file.bytes.toString("utf8"));
  if (file.why === "missing") return null;
  const error = refusalError(path, file);
  if (error instanceof TielineError) return { reason: error.message };
  throw error;
}

/** A process may end while it is looked at. */
function textIfThere(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(absent);
}

function absent(thrown: NodeJS.ErrnoException): undefined {
  if (thrown.code === "ENOENT" || thrown.code === "ESRCH") return undefined;
  throw thrown;
}
