/** Restoring and repairing the mailbox of a home that no daemon serves. */
import { Database } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import type { Home } from "../client/home.ts";
import { documentMigrations } from "../agents/directory/documents/sqlite.ts";
import { backupsIn, stamp, type Backup } from "../mailbox/backups.ts";
import { examine, type Examination } from "../mailbox/sqlite/examine.ts";
import { refuseLoss } from "../mailbox/sqlite/file.ts";
import { rebuild, type Rebuilt } from "../mailbox/sqlite/rebuild.ts";
import {
  copyToDraft,
  prepareDraft,
  removeDraft,
  replaceByDraft,
  vacuumToDraft,
  type DraftPreparation,
  type PreparedDraft,
} from "../mailbox/sqlite/replace.ts";
import { mailboxMigrations } from "../mailbox/sqlite/schema.ts";
import { userId } from "../model/agent.ts";
import { asTielineError, TielineError } from "../model/errors.ts";
import type { AgentId } from "../model/ids.ts";
import { DatabaseTaken, isSqlite } from "../os/sqlite/faults.ts";
import { readMark } from "../os/sqlite/mark.ts";

const migrations = { mailbox: mailboxMigrations, documents: documentMigrations };
type Places = Pick<Home, "mailbox" | "backups" | "events" | "userToken">;

/** Throws DatabaseTaken while a process has the mailbox. */
export function refuseWhileServed({ mailbox }: Places): void {
  if (!existsSync(mailbox)) return;
  const database = new Database(mailbox, { readonly: true });
  try {
    database.run("PRAGMA busy_timeout = 0");
    database.query("SELECT 1 FROM sqlite_schema").get();
  } catch (thrown) {
    if (isSqlite(thrown) && thrown.code.startsWith("SQLITE_BUSY")) throw new DatabaseTaken(mailbox, { cause: thrown });
    // Anything else that is wrong with it does not mean that it is served.
  } finally {
    database.close();
  }
}

/** The newest backup of the home, or the named file. */
export function backupNamed({ backups }: Places, name: string): string {
  if (name !== "latest") {
    if (existsSync(name)) return name;
    throw noBackup(`there is no file ${name}`, backupsIn(backups));
  }
  const [newest] = backupsIn(backups);
  if (newest) return newest.file;
  throw noBackup(`there is no backup in ${backups}`, []);
}

/** Examines a file that can be restored here; throws for any other. */
export function restorable(home: Places, file: string): Examination {
  let found: Examination;
  try {
    found = examine(file);
  } catch (thrown) {
    const { code, message } = asTielineError(thrown);
    throw new TielineError(code, message, {
      remedy: otherBackups(backupsIn(home.backups), file),
      operands: { file },
      cause: thrown,
    });
  }
  if (found.damage !== null) {
    throw new TielineError("STORE_CORRUPT", `${file} is damaged: ${found.damage}`, {
      remedy: otherBackups(backupsIn(home.backups), file),
      operands: { file },
    });
  }
  for (const [component, version] of Object.entries(found.schema)) {
    const known = (migrations as Record<string, readonly unknown[]>)[component]?.length ?? 0;
    if (version > known) {
      throw new TielineError(
        "STORE_UNAVAILABLE",
        `${file} was written by a newer Tieline (${component} schema ${version})`,
        { remedy: "update Tieline first", operands: { file, component, version } },
      );
    }
  }
  const present = idIn(home.mailbox);
  if (present !== null && present !== found.id) {
    throw new TielineError(
      "CONFLICT",
      `${file} is a backup of mailbox ${found.id}, but this home has mailbox ${present}`,
      {
        remedy: "set TIELINE_HOME to a new directory and restore it there",
        operands: { file, mailbox: found.id, present },
      },
    );
  }
  return found;
}

export interface Restored extends PreparedDraft {
  readonly file: string;
  readonly messages: number;
  /** Where the replaced mailbox is kept; null: there was none. */
  readonly replaced: string | null;
  /** The tags of messages that only the replaced mailbox has; null: it cannot be read. */
  readonly missing: readonly string[] | null;
}

/**
 * Replaces the mailbox with a backup. What was open in the backup and may have been delivered since becomes uncertain.
 */
export async function restore(home: Places, file: string, now: number): Promise<Restored> {
  const { messages } = restorable(home, file);
  const later = sinceBackup(home.mailbox, file);
  copyToDraft(file, home.mailbox);
  try {
    const prepared = await prepareDraft(home.mailbox, {
      migrations,
      now,
      fetches,
      why: ({ id, state }, isFetched) => {
        const became = later?.states.get(id);
        if (isFetched && state === "queued" && became === undefined) return null;
        return `it was open when the backup was made${became ? `; in the replaced mailbox it was ${became}` : ""}`;
      },
    });
    const replaced = replaceByDraft(home.mailbox, `${home.mailbox}.replaced-${stamp(now)}`, prepared);
    return {
      file,
      messages,
      replaced,
      missing: later?.missing ?? null,
      id: prepared.id,
      uncertain: prepared.uncertain,
    };
  } finally {
    removeDraft(home.mailbox);
  }
}

export interface Repaired extends PreparedDraft, Omit<Rebuilt, "id"> {
  /** What was wrong. */
  readonly problem: string;
  /** Where the damaged database is kept; null: there was none. */
  readonly kept: string | null;
}

/** Why the mailbox cannot be used as it is; null: it can. */
export function problemOf({ mailbox, events, userToken }: Places): TielineError | null {
  try {
    refuseLoss(mailbox, [events, userToken]);
    if (!existsSync(mailbox) || statSync(mailbox).size === 0) return null;
    const { damage } = examine(mailbox);
    return damage === null
      ? null
      : new TielineError("STORE_CORRUPT", `${mailbox} is damaged: ${damage}`, {
          remedy: "`tieline doctor --repair`",
          operands: { path: mailbox },
        });
  } catch (thrown) {
    const error = asTielineError(thrown);
    if (error.code === "STORE_CORRUPT") return error;
    throw thrown;
  }
}

/** Saves what is readable into a new mailbox, and keeps the damaged one. Null: nothing is wrong. */
export async function repair(home: Places, now: number): Promise<Repaired | null> {
  const problem = problemOf(home);
  if (problem === null) return null;
  try {
    const { changes, ...rebuilt } = await rebuildDraft(home, now);
    const [newest] = backupsIn(home.backups);
    if (rebuilt.messages === 0 && newest) throw nothingLeft(problem, newest);
    const kept = replaceByDraft(home.mailbox, `${home.mailbox}.damaged-${stamp(now)}`, { id: rebuilt.id, changes });
    return { ...rebuilt, problem: problem.message, kept };
  } finally {
    removeDraft(home.mailbox);
  }
}

async function rebuildDraft(
  home: Places,
  now: number,
): Promise<PreparedDraft & Omit<Rebuilt, "id"> & { readonly changes: number }> {
  const why: DraftPreparation["why"] = ({ state }, isFetched) =>
    isFetched && state === "queued"
      ? null
      : "it was open in the mailbox that was repaired, and later changes may be lost";
  let found: Rebuilt | null = null;
  if (isWhole(home.mailbox)) vacuumToDraft(home.mailbox);
  else removeDraft(home.mailbox);
  const prepared = await prepareDraft(home.mailbox, {
    migrations,
    now,
    why,
    fetches,
    ...(!isWhole(home.mailbox) && { fill: (draft) => (found = rebuild(home.mailbox, draft)) }),
  });
  const whole = found ?? wholeOf(home.mailbox);
  return { ...whole, ...prepared };
}

/** The user reads a message again without harm; a program that fetches its mail might act on it twice. */
const fetches = (agent: AgentId): boolean => agent === userId;

/** Its pages are in order, so only its last changes can be missing. */
function isWhole(mailbox: string): boolean {
  try {
    return examine(mailbox).damage === null;
  } catch {
    return false;
  }
}

function wholeOf(mailbox: string): Rebuilt {
  const { id, messages, altered } = examine(mailbox);
  using database = new Database(mailbox, { readonly: true });
  const count = (table: string): number =>
    (database.query(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n;
  return {
    id,
    messages,
    deliveries: count("deliveries"),
    documents: count("documents"),
    damaged: altered,
    withoutDelivery: [],
    withoutMessage: [],
    lostDeliveries: 0,
  };
}

function idIn(mailbox: string): string | null {
  try {
    const { id, messages } = examine(mailbox);
    return messages === 0 ? null : id;
  } catch {
    return readMark(mailbox)?.id ?? null;
  }
}

/** What the present mailbox holds and the backup does not; null: it cannot be read. */
function sinceBackup(
  mailbox: string,
  backup: string,
): { readonly missing: readonly string[]; readonly states: ReadonlyMap<number, string> } | null {
  try {
    using database = new Database(mailbox, { readonly: true });
    database.run("PRAGMA busy_timeout = 0");
    database.run("ATTACH ? AS backup", [backup]);
    const missing = database
      .query<{ tag: string }, []>(
        "SELECT tag FROM main.messages m WHERE NOT EXISTS (SELECT 1 FROM backup.messages b WHERE b.id = " +
          "m.id) ORDER BY seq",
      )
      .all();
    const open = "b.state IN ('queued', 'claimed', 'uncertain') AND d.state NOT IN ('queued', 'claimed', 'uncertain')";
    const states = database
      .query<{ id: number; state: string }, []>(
        `SELECT d.id, d.state FROM main.deliveries d JOIN backup.deliveries b ON b.id = d.id WHERE ${open}`,
      )
      .all();
    return { missing: missing.map(({ tag }) => tag), states: new Map(states.map(({ id, state }) => [id, state])) };
  } catch {
    // Damaged, missing or of another kind, which is why backups are restored.
    return null;
  }
}

function otherBackups(backups: readonly Backup[], but: string): string {
  const [other] = backups.filter(({ file }) => file !== but);
  return other
    ? `nothing was changed; another backup is ${other.file}`
    : "nothing was changed; there is no other backup in this home";
}

const noBackup = (what: string, backups: readonly Backup[]): TielineError =>
  new TielineError("TARGET_NOT_FOUND", what, {
    remedy:
      backups.length > 0
        ? `the newest backup is ${backups[0]!.file}`
        : "`tieline doctor --repair` saves what is readable; `tieline backup` makes a backup",
  });

const nothingLeft = (problem: TielineError, newest: Backup): TielineError =>
  new TielineError("STORE_CORRUPT", `${problem.message}, and no message can be read`, {
    remedy: `nothing was changed; \`tieline restore latest\` goes back to ${newest.file}`,
    operands: problem.operands,
  });
