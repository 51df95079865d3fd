/**
 * A member's inbox in a Claude Code team: a JSON array in a file, written under the lock that Claude Code itself
 * takes. A session that reads its inbox removes what it read, so a row that is gone was consumed, unless another
 * writer put an older state of the file back.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { TielineError } from "../../model/errors.ts";

export interface InboxRow {
  readonly from: string;
  readonly text: string;
  readonly timestamp: string;
  readonly read: boolean;
  readonly summary?: string;
  readonly messageId?: string;
  /** Whatever else a writer put there stays there. */
  readonly [field: string]: unknown;
}

export type Written = "present" | "consumed" | "lost";

export interface LockPatience {
  readonly pause?: (ms: number) => Promise<void>;
  readonly tries?: number;
}

/** Claude Code waits as long; a lock that is older than this belongs to nobody. */
const lockTries = 20;
const staleLockMs = 10_000;

export function readInbox(file: string): InboxRow[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, "utf8");
  try {
    const rows: unknown = text.trim() === "" ? [] : JSON.parse(text);
    if (Array.isArray(rows)) return rows as InboxRow[];
    throw new Error("it is not a list");
  } catch (cause) {
    throw new TielineError("DELIVERY_FAILED", `the inbox ${file} can not be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
      remedy: "repair or remove the file; nothing was written",
      operands: { file },
      cause,
    });
  }
}

/** Appends a row, and looks what became of it. */
export async function appendToInbox(file: string, row: InboxRow, patience: LockPatience = {}): Promise<Written> {
  let before: readonly InboxRow[] = [];
  await changeInbox(file, (rows) => [...(before = rows), row], patience);
  return fateOf(file, row, before);
}

/** Changes rows in place, under the lock. */
export async function markInInbox(file: string, mark: (row: InboxRow) => InboxRow, patience: LockPatience = {}): Promise<void> {
  await changeInbox(file, (rows) => rows.map(mark), patience);
}

/** A reader takes all rows at once: older ones that are left while ours is gone mean that ours was overwritten. */
function fateOf(file: string, { messageId }: InboxRow, before: readonly InboxRow[]): Written {
  const now = readInbox(file);
  if (now.some((row) => row.messageId === messageId)) return "present";
  const left = new Set(now.map((row) => JSON.stringify(row)));
  return before.some((row) => left.has(JSON.stringify(row))) ? "lost" : "consumed";
}

async function changeInbox(file: string, change: (rows: InboxRow[]) => readonly InboxRow[], patience: LockPatience): Promise<void> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const lock = `${file}.lock`;
  await takeLock(lock, patience);
  try {
    const rows = readInbox(file);
    const draft = `${file}.tmp.${crypto.randomUUID().slice(0, 8)}`;
    writeFileSync(draft, JSON.stringify(change(rows), null, 2), { mode: 0o600, flush: true });
    renameSync(draft, file);
  } finally {
    rmdirSync(lock);
  }
}

async function takeLock(lock: string, { pause = Bun.sleep, tries = lockTries }: LockPatience): Promise<void> {
  for (let attempt = 0; attempt < tries; attempt++) {
    if (madeFolder(lock)) return;
    const age = ageOf(lock);
    if (age !== null && age > staleLockMs) rmdirSync(lock);
    else await pause(Math.min(100, 5 * 2 ** attempt));
  }
  throw new TielineError("DELIVERY_FAILED", `${lock} is held by another program`, { remedy: "it is tried again", operands: { lock } });
}

function madeFolder(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw thrown;
  }
}

function ageOf(path: string): number | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? Date.now() - stats.mtimeMs : null;
}
