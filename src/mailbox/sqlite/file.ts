/**
 * The file that a mailbox lives in. Opening it refuses a file that has lost something: mail that was accepted must not
 * disappear without a word, and what was delivered must not be delivered again.
 */
import { Database } from "bun:sqlite";
import { closeSync, openSync, readSync, rmSync, statSync } from "node:fs";
import { Checkpoints } from "../../os/sqlite/checkpoints.ts";
import { connect, secondLook, type Connection, type Migrations } from "../../os/sqlite/connection.ts";
import { corrupt, isSqlite, translate } from "../../os/sqlite/faults.ts";
import { readLog } from "../../os/sqlite/logFile.ts";
import { OpenMark, readMark, writeMark } from "../../os/sqlite/mark.ts";
import { identify } from "./store.ts";
import type { RandomBytes } from "../../model/ids.ts";

export interface MailboxFileOptions {
  /** Files that a home has only after its mailbox. */
  readonly signsOfUse?: readonly string[];
  readonly report: (context: string, fault: unknown) => void;
  readonly random?: RandomBytes;
}

export interface MailboxFile {
  /** Closing it closes everything. */
  readonly connection: Connection;
  readonly checkpoints: Checkpoints;
  readonly mark: OpenMark;
  /** How many changes the mailbox has seen. */
  changes(): number;
}

/** Throws DatabaseTaken when another process has it, and STORE_CORRUPT when something is lost. */
export function openMailboxFile(
  path: string,
  migrations: Migrations,
  { signsOfUse = [], report, random }: MailboxFileOptions,
): MailboxFile {
  refuseLoss(path, signsOfUse);
  const opened = connect(path, migrations);
  try {
    // Left by a reader; unused while this process has the file alone.
    rmSync(`${path}-shm`, { force: true });
    const id = identify(opened, random);
    const { changes } = opened.run(() => opened.statement(changesIn).get()) as { changes: number };
    const known = readMark(path);
    if (known === null) writeMark(path, { id, changes });
    const mark = new OpenMark(path, id, report);
    if (known !== null && known.changes !== changes) mark.set(changes);
    const checkpoints = new Checkpoints(opened, { report, onCheckpoint: () => mark.sync() });
    const counted = countChanges(opened, changes, mark, checkpoints);
    // A new database would be in its log alone, and one that a dead process left behind may be.
    if (known === null) checkpoints.now();
    else checkpoints.wrote();
    return {
      connection: { ...opened, [Symbol.dispose]: closing(opened, mark, checkpoints) },
      checkpoints,
      mark,
      changes: counted,
    };
  } catch (thrown) {
    opened[Symbol.dispose]();
    throw thrown;
  }
}

/**
 * Every step of a delivery is a row of `history`, and its number is the count of changes. Other changes are counted in
 * `mailbox`, which costs a page more; they are few.
 */
export const changesIn = "SELECT max(changes, (SELECT coalesce(max(id), 0) FROM history)) AS changes FROM mailbox";

function countChanges(connection: Connection, before: number, mark: OpenMark, checkpoints: Checkpoints): () => number {
  let durable = before;
  let given = before;
  connection.countBy({
    next: () => ++given,
    changed() {
      if (given === durable) connection.statement("UPDATE mailbox SET changes = ?").run(++given);
    },
    ended(how) {
      if (how === "undone") given = durable;
      if (given === durable) return;
      mark.set((durable = given));
      checkpoints.wrote();
    },
  });
  return () => durable;
}

function closing(connection: Connection, mark: OpenMark, checkpoints: Checkpoints): () => void {
  return () => {
    checkpoints[Symbol.dispose]();
    try {
      connection[Symbol.dispose]();
    } finally {
      mark[Symbol.dispose]();
    }
  };
}

/** Looks at the files before SQLite may write to them. Throws STORE_CORRUPT when something is lost. */
export function refuseLoss(path: string, signsOfUse: readonly string[]): void {
  const mark = readMark(path);
  const size = sizeOf(path);
  if (size === 0) {
    if (mark !== null || signsOfUse.some((sign) => sizeOf(sign) > 0))
      throw corrupt(path, statSync(path, { throwIfNoEntry: false }) ? "it is empty" : "it is missing");
    return;
  }
  const found = secondLook(path, () => contentOf(path));
  if (found.id === null) {
    if (mark !== null || signsOfUse.some((sign) => sizeOf(sign) > 0))
      throw corrupt(path, `it holds no mailbox; ${path}-wal is missing or damaged`);
    return;
  }
  if (mark !== null && mark.id !== found.id)
    throw corrupt(path, `it is another mailbox (${found.id}) than this home has had (${mark.id})`);
  const lost = (mark?.changes ?? 0) - found.changes;
  if (lost > 0) {
    throw corrupt(
      path,
      `its last ${lost === 1 ? "change is" : `${lost} changes are`} lost (it has ${found.changes} of ` +
        `${mark!.changes}): ${path}-wal is missing or damaged, or an older copy was put there`,
    );
  }
  const missing = missingPages(path);
  if (missing > 0) throw corrupt(path, `it is cut off: ${missing} pages are missing at its end`);
}

interface Content {
  readonly id: string | null;
  readonly changes: number;
}

/**
 * Read-only, so that neither the database nor its log is changed, not even when it is closed. A missing log is made,
 * empty.
 */
function contentOf(path: string): Content {
  try {
    return contentBy(() => new Database(path, { readonly: true }));
  } catch (thrown) {
    if (!isSqlite(thrown) || !thrown.code.startsWith("SQLITE_IOERR_SHM")) throw asFault(path, thrown);
  }
  // A full disk has no room for the log's index, which readers share. An exclusive connection keeps it in memory.
  try {
    return contentBy(() => exclusive(path));
  } catch (thrown) {
    throw asFault(path, thrown);
  }
}

const asFault = (path: string, thrown: unknown): unknown =>
  translate(path, thrown, () => ({ kind: "damaged", what: (thrown as Error).message }));

function exclusive(path: string): Database {
  const database = new Database(path, { create: false, readwrite: true });
  database.run("PRAGMA locking_mode = EXCLUSIVE");
  return database;
}

function contentBy(open: () => Database): Content {
  const database = open();
  try {
    database.run("PRAGMA busy_timeout = 0");
    const all = <Row>(sql: string): Row[] => {
      using statement = database.prepare<Row, []>(sql);
      return statement.all();
    };
    if (all("SELECT 1 FROM sqlite_schema WHERE name = 'mailbox'").length === 0) return { id: null, changes: 0 };
    const [row] = all<{ id: string; changes?: number }>("SELECT * FROM mailbox");
    if (row === undefined) return { id: null, changes: 0 };
    // Older ones do not count.
    return { id: row.id, changes: row.changes === undefined ? 0 : all<{ changes: number }>(changesIn)[0]!.changes };
  } finally {
    database.close();
  }
}

/** Pages that the file had when it was last complete, and that are neither in it nor in its log. */
function missingPages(path: string): number {
  const header = Buffer.alloc(100);
  const fd = openSync(path, "r");
  try {
    if (readSync(fd, header, 0, header.length, 0) < header.length) return 0;
  } finally {
    closeSync(fd);
  }
  const pageBytes = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  const inLog = readLog(`${path}-wal`);
  let missing = 0;
  for (let page = Math.floor(sizeOf(path) / pageBytes) + 1; page <= header.readUInt32BE(28); page++)
    if (!inLog.pages.has(page)) missing++;
  return missing;
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
