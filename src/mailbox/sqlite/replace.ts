/** Replacing the mailbox of a home that no daemon serves. */
import { Database } from "bun:sqlite";
import { copyFileSync, existsSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { Delivery } from "../../model/delivery.ts";
import type { AgentId } from "../../model/ids.ts";
import { renameDurably, syncDirectory } from "../../os/atomicWrite.ts";
import { connect, type Connection, type Migrations } from "../../os/sqlite/connection.ts";
import { markOf, readMark, writeMark } from "../../os/sqlite/mark.ts";
import { openMailbox } from "../mailbox.ts";
import { changesIn } from "./file.ts";
import { sqliteStore } from "./store.ts";

/** The database that is to replace the mailbox, beside it. */
const draftOf = (mailbox: string): string => `${mailbox}.new`;

export function removeDraft(mailbox: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(draftOf(mailbox) + suffix, { force: true });
}

export function copyToDraft(source: string, mailbox: string): void {
  removeDraft(mailbox);
  copyFileSync(source, draftOf(mailbox));
}

/** For a mailbox whose pages are in order, with all complete transactions of its log. */
export function vacuumToDraft(mailbox: string): void {
  removeDraft(mailbox);
  const database = new Database(mailbox, { readonly: true });
  try {
    database.run("VACUUM INTO ?", [draftOf(mailbox)]);
  } finally {
    database.close();
  }
}

export interface DraftPreparation {
  readonly migrations: Migrations;
  readonly now: number;
  /** The detail for a delivery that was open in the draft and becomes uncertain; null: it stays queued. */
  readonly why: (delivery: Delivery, isFetched: boolean) => string | null;
  /** Whether a recipient may get its waiting mail once more without harm. */
  readonly fetches: (agent: AgentId) => boolean;
  /** Fills an empty draft. */
  readonly fill?: (draft: Connection) => { readonly id: string | null };
}

export interface PreparedDraft {
  readonly id: string;
  /** The tags of messages with a delivery that is uncertain now. */
  readonly uncertain: readonly string[];
}

/**
 * Brings a draft up to date: current schema, what may have been delivered uncertain, and numbers that were never used
 * before.
 */
export async function prepareDraft(
  mailbox: string,
  { migrations, now, why, fetches, fill }: DraftPreparation,
): Promise<PreparedDraft & { readonly changes: number }> {
  const mark = readMark(mailbox);
  const draft = connect(draftOf(mailbox), migrations);
  try {
    const filled = fill?.(draft);
    const known = filled?.id ?? (filled ? mark?.id : undefined);
    if (known !== undefined)
      draft.commit(() =>
        draft.statement("INSERT INTO mailbox (id) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM mailbox)").run(known),
      );
    const store = sqliteStore(draft);
    const restored = await openMailbox(store, { clock: () => now }).restored(now, (delivery) =>
      why(delivery, fetches(delivery.agent)),
    );
    const changes = 1 + Math.max(mark?.changes ?? 0, (draft.statement(changesIn).get() as { changes: number }).changes);
    draft.commit(() => {
      draft.statement("UPDATE mailbox SET changes = ?").run(changes);
      // Each delivery is at least one change, so no delivery has had a higher number than this.
      draft.statement("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'deliveries'").run(changes);
    });
    const uncertain = [...new Set(restored.map(({ messageId }) => store.message(messageId)!.tag))];
    return { id: store.id, uncertain, changes };
  } finally {
    draft[Symbol.dispose]();
  }
}

/**
 * Replaces the mailbox with the draft, and keeps the mailbox under another name. A kill in between leaves a home
 * without a mailbox, which is refused and can be restored again.
 */
export function replaceByDraft(
  mailbox: string,
  aside: string,
  mark: { readonly id: string; readonly changes: number },
): string | null {
  const isThere = existsSync(mailbox);
  for (const suffix of ["-wal", ""]) if (existsSync(mailbox + suffix)) renameSync(mailbox + suffix, aside + suffix);
  if (existsSync(markOf(mailbox))) copyFileSync(markOf(mailbox), markOf(aside));
  rmSync(`${mailbox}-shm`, { force: true });
  syncDirectory(dirname(mailbox));
  writeMark(mailbox, mark);
  renameDurably(draftOf(mailbox), mailbox);
  return isThere ? aside : null;
}
