/**
 * A member's inbox in a Claude Code team: a JSON array in a file, written under the lock that Claude Code itself
 * takes. A session that reads its inbox removes what it read, so a row that is gone was consumed, unless another
 * writer put an older state of the file back.
 */
import { TielineError } from "../../../model/errors.ts";
import { changeFile, textIn, type LockPatience } from "./lockedFile.ts";

export interface TeamInboxRow {
  readonly from: string;
  readonly text: string;
  readonly timestamp: string;
  readonly read: boolean;
  readonly summary?: string;
  readonly messageId?: string;
  /** Whatever else a writer put there stays there. */
  readonly [field: string]: unknown;
}

/** Whether a row is still there, was taken by its reader, or overwritten by a writer without the lock. */
export type Fate = "present" | "consumed" | "lost";

/** Where rows for one member lie. */
export interface NativeInbox {
  /** In the order in which they were written. */
  rows(): readonly TeamInboxRow[];
  /** What is there and is no row, by its place. It stays as it is. */
  damaged(): readonly string[];
  /** Adds a row, and checks it. */
  append(row: TeamInboxRow): Promise<Fate>;
  /** Rows that are done with stay, marked as read, or go away. */
  finish(isDone: (row: TeamInboxRow) => boolean, how: "mark" | "remove"): Promise<void>;
  /** What became of a row that was written some time ago. */
  fateOf(row: Pick<TeamInboxRow, "messageId" | "timestamp">): Fate;
}

export function inboxFile(file: string, patience: LockPatience = {}): NativeInbox {
  const rows = (): TeamInboxRow[] => parse(file, textIn(file)).filter(isRow);
  const change = (changed: (before: readonly unknown[]) => readonly unknown[]): Promise<void> =>
    changeFile(file, (text) => JSON.stringify(changed(parse(file, text)), null, 2), patience);

  return {
    rows,

    damaged: () => parse(file, textIn(file)).flatMap((row, at) => (isRow(row) ? [] : [`row ${at + 1} of ${file}`])),

    async append(row) {
      let before: readonly unknown[] = [];
      await change((all) => [...(before = all), row]);
      const now = rows();
      if (now.some(({ messageId }) => messageId === row.messageId)) return "present";
      return holdsAny(now, before) ? "lost" : "consumed";
    },

    async finish(isDone, how) {
      const done = (row: unknown): row is TeamInboxRow => isRow(row) && isDone(row);
      await change((all) =>
        how === "remove"
          ? all.filter((row) => !done(row))
          : all.map((row) => (done(row) ? { ...row, read: true } : row)),
      );
    },

    fateOf({ messageId, timestamp }) {
      const now = rows();
      if (now.some((row) => row.messageId === messageId)) return "present";
      return now.some((row) => row.read !== true && row.timestamp < timestamp) ? "lost" : "consumed";
    },
  };
}

/** The id of a row: its own, or one that every reader derives from the same row. */
export function rowId({ messageId, msg_id, from, timestamp, text }: TeamInboxRow): string {
  const own = messageId ?? msg_id;
  if (typeof own === "string" && own !== "") return own;
  const digest = new Bun.CryptoHasher("sha256").update([from, timestamp, text].join("\n")).digest("hex");
  return `inbox-${digest.slice(0, 16)}`;
}

/** A reader takes all rows at once: older ones that are left while ours is gone mean that ours was overwritten. */
function holdsAny(now: readonly TeamInboxRow[], before: readonly unknown[]): boolean {
  const left = new Set(now.map((row) => JSON.stringify(row)));
  return before.some((row) => left.has(JSON.stringify(row)));
}

/** Any program may have written it: what has no sender or no text is none. */
export const isRow = (value: unknown): value is TeamInboxRow => {
  const { from, text } = (value ?? {}) as { from?: unknown; text?: unknown };
  return typeof from === "string" && typeof text === "string";
};

function parse(file: string, text: string): unknown[] {
  try {
    const rows: unknown = text.trim() === "" ? [] : JSON.parse(text);
    if (Array.isArray(rows)) return rows;
    throw new Error("it is not a list");
  } catch (cause) {
    throw unreadableInbox(file, cause);
  }
}

const unreadableInbox = (file: string, cause: unknown): TielineError =>
  new TielineError(
    "DELIVERY_FAILED",
    `the inbox ${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
    {
      remedy: "repair or remove the file; nothing was written",
      operands: { file },
      cause,
    },
  );
