/**
 * Writes what an agent receives to `{workspace}/.inbox/{seq}_{from}.json`, for agents that have only files.
 *
 * Names sort in the order of `seq`, both as text and as numbers: four digits up to 9998, then 9999 followed by ten
 * digits (…, 9998, 99990000009999, 99990000010000, …). The number lives on in `.inbox/.seq`, so that an agent that
 * removes what it has read does not make it start again. Beside it stand the ids of the last messages: a file that is
 * not there was never written, or it was and the agent has removed it, and only this tells which.
 */
import { fsync } from "node:fs";
import { lstat, open, rename, unlink } from "node:fs/promises";
import { promisify } from "node:util";
import { entriesIn } from "../../../os/entries.ts";
import { openUntrusted, readUntrusted, refusalError, thisUser } from "../../../os/untrustedFile.ts";
import {
  type OpenDirectory,
  isErrno,
  keepPrivate,
  openPrivateDirectory,
  openWorkspace,
} from "../../../os/openDirectory.ts";

export interface InboxMessage {
  from: string;
  /** The author: with files alone there is no other way to know. */
  author: "user" | "agent" | "tieline";
  content: string;
  id: string;
  tag: string;
  /** When it was sent. */
  sentAt: number;
  /** The id that the reader knows the answered message by: the one in its own outbox file, where it gave one. */
  replyTo?: string;
}

export interface WrittenMessage {
  seq: number;
  name: string;
}

export interface WorkspaceInbox {
  /** Resolves when the file is there, complete and on disk. Calls are served in order. */
  write(message: InboxMessage): Promise<WrittenMessage>;
  /**
   * Was a message with this id written, be its file still there or not? Right for the last messages only. Never slow.
   */
  wrote(id: string): boolean;
  /** Replaces the list that `swarm-msg list` prints. */
  writeAgents(names: readonly string[]): Promise<void>;
  /** Waits for the writes under way. */
  close(): Promise<void>;
}

const maxSeq = 9_999_999_999;
/** How many ids are kept on disk: more than can be under way when the switch ends without a word. */
const keptIds = 32;
/** How many are known while the inbox is open. */
const knownIds = 4_096;
/** In how many of the newest files an id is looked for that is not known, once. */
const searchedFiles = 1_000;
/** An id is near the end of its file, whatever the agent has put there itself. */
const searchedBytes = 4_096;
const fileName = /^(\d{4}|9999(\d{10}))_.*\.json$/;
const fileEnd = /"timestamp":"[^"]*","id":"([^"]+)","tag":"[^"]*"(?:,"replyTo":"(?:[^"\\]|\\.)*")?\}\n$/;
const sync = promisify(fsync);

/** Throws ELOOP or ENOTDIR when `.inbox` is a link or no directory. */
export function openWorkspaceInbox(workspace: string): WorkspaceInbox {
  const inbox = openInbox(workspace);
  const stored = storedCounter(inbox);
  const names = entriesIn(inbox.entry("."));
  const known = new RecentIds(knownIds);
  let lastSeq = names.reduce((highest, name) => Math.max(highest, seqOf(name)), stored.seq);
  let lastIds = stored.ids;
  // A draft that is still there was never published.
  const drafts = new Set(
    names
      .filter((name) => name.startsWith(".draft-"))
      .slice(0, keptIds)
      .map((name) => idOf(inbox, name)),
  );
  for (const id of stored.ids) if (!drafts.has(id)) known.add(id);
  let searched = false;
  let queue: Promise<unknown> = Promise.resolve();

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = queue.then(work);
    queue = result.catch(() => {});
    return result;
  }

  async function writeNext(message: InboxMessage): Promise<WrittenMessage> {
    const seq = lastSeq + 1;
    const name = inboxFileName(seq, message.from);
    const draft = await writeDraft(inbox, name, `${JSON.stringify(fileContent(message, seq))}\n`);
    lastIds = [...lastIds, message.id].slice(-keptIds);
    await replaceFile(inbox, ".seq", `${seq}\n${lastIds.join("\n")}\n`);
    lastSeq = seq;
    await rename(draft, inbox.entry(name));
    known.add(message.id);
    await sync(inbox.fd);
    return { seq, name };
  }

  /** What was written before the inbox was opened, as far as it is still there. */
  function search(): void {
    searched = true;
    const newest = entriesIn(inbox.entry("."))
      .filter((name) => fileName.test(name))
      .sort()
      .slice(-searchedFiles);
    for (const name of newest) {
      const id = idOf(inbox, name);
      if (id !== undefined) known.add(id);
    }
  }

  return {
    write: (message) => inTurn(() => writeNext(message)),
    wrote(id) {
      if (!known.has(id) && !searched) search();
      return known.has(id);
    },
    writeAgents: (agents) => inTurn(() => replaceFile(inbox, ".agents", agents.map((name) => `${name}\n`).join(""))),
    async close() {
      await queue;
      inbox.close();
    },
  };
}

/** The last so many that were added. */
class RecentIds {
  private readonly ids = new Set<string>();

  constructor(private readonly limit: number) {}

  has(id: string): boolean {
    return this.ids.has(id);
  }

  add(id: string): void {
    this.ids.delete(id);
    this.ids.add(id);
    if (this.ids.size > this.limit)
      for (const oldest of [...this.ids].slice(0, this.limit / 4)) this.ids.delete(oldest);
  }
}

export function inboxFileName(seq: number, from: string): string {
  const number = seq <= 9998 ? String(seq).padStart(4, "0") : `9999${String(seq).padStart(10, "0")}`;
  return `${number}_${from.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 120)}.json`;
}

function fileContent({ from, author, content, id, tag, sentAt, replyTo }: InboxMessage, seq: number) {
  const timestamp = new Date(sentAt).toISOString();
  return { from, author, content, seq, timestamp, id, tag, ...(replyTo === undefined ? {} : { replyTo }) };
}

function openInbox(workspace: string): OpenDirectory {
  const root = openWorkspace(workspace);
  try {
    return openPrivateDirectory(root, ".inbox");
  } finally {
    root.close();
  }
}

/** What Tieline writes belongs to this user, or was given to the owner of the workspace. */
const writersOf = ({ owner }: OpenDirectory): readonly number[] => [thisUser(), owner.uid];

/** Only what we wrote ourselves and the agent left as it is. */
function idOf(inbox: OpenDirectory, name: string): string | undefined {
  const file = openUntrusted(inbox.entry(name), { owners: writersOf(inbox) });
  if (!file.ok) return undefined;
  using _ = file;
  return fileEnd.exec(file.read(Math.max(0, file.stats.size - searchedBytes), searchedBytes).toString("utf8"))?.[1];
}

function seqOf(name: string): number {
  const [, digits = "0", long] = fileName.exec(name) ?? [];
  return Number(long ?? digits);
}

function storedCounter(inbox: OpenDirectory): { seq: number; ids: string[] } {
  const path = inbox.entry(".seq");
  const file = readUntrusted(path, { maxBytes: 4_096, owners: writersOf(inbox) });
  // Counting from the start again would give numbers twice.
  if (!file.ok && file.why === "unreadable") throw refusalError(path, file);
  const [first = "", ...ids] = file.ok ? file.bytes.toString("utf8").trimEnd().split("\n") : [];
  const seq = Number(first);
  return { seq: Number.isInteger(seq) && seq > 0 && seq < maxSeq ? seq : 0, ids };
}

/** A reader sees the old file or the whole new one. A link that the agent put there is replaced, not followed. */
async function replaceFile(inbox: OpenDirectory, name: string, text: string): Promise<void> {
  await rename(await writeDraft(inbox, name, text), inbox.entry(name));
  await sync(inbox.fd);
}

async function writeDraft(inbox: OpenDirectory, name: string, text: string): Promise<string> {
  const draft = inbox.entry(`.draft-${name}`);
  await removeDraft(draft, name);
  const file = await open(draft, "wx", 0o600);
  try {
    keepPrivate(file.fd, inbox.owner);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  return draft;
}

/**
 * Removes what an interrupted write left. A directory is the agent's, however deep it is: it stays, and the write
 * fails.
 */
async function removeDraft(draft: string, name: string): Promise<void> {
  try {
    const isDirectory = (await lstat(draft)).isDirectory();
    if (isDirectory)
      throw refusalError(`.inbox/.draft-${name}`, {
        ok: false,
        why: "notRegular",
        detail: "is a directory, not a regular file",
      });
    await unlink(draft);
  } catch (thrown) {
    if (!isErrno(thrown, "ENOENT")) throw thrown;
  }
}
