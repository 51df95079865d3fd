/**
 * Writes what an agent receives to `{workspace}/.inbox/{seq}_{from}.json`, for agents that have only files.
 *
 * Names sort in the order of `seq`, both as text and as numbers: four digits up to 9998, then 9999 followed by ten digits
 * (…, 9998, 99990000009999, 99990000010000, …). The number lives on in `.inbox/.seq`, so that an agent that removes what
 * it has read does not make it start again. Beside it stand the ids of the last messages: a file that is not there was
 * never written, or it was and the agent has removed it, and only this tells which.
 */
import { fsyncSync, readdirSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { type Directory, isErrno, openDirectory, readRegularFile } from "../../workspace/directory.ts";

export interface InboxMessage {
  from: string;
  /** Whose words they are: nobody can be asked for more where there are only files. */
  author: "user" | "agent" | "tieline";
  content: string;
  id: string;
  tag: string;
  /** When it was sent. */
  sentAt: number;
  /** The id that the reader knows the answered message by: the one in its own outbox file, where it gave one. */
  replyTo?: string;
}

export interface Written {
  seq: number;
  name: string;
}

export interface WorkspaceInbox {
  /** Resolves when the file is there, complete and on disk. Calls are served in order. */
  write(message: InboxMessage): Promise<Written>;
  /** The file that holds the message with this id, while the agent has not removed it. */
  find(id: string): Written | undefined;
  /** Was a message with this id written, be its file still there or not? Right for the last messages only. */
  wrote(id: string): boolean;
  /** Replaces the list that `swarm-msg list` prints. */
  writeAgents(names: readonly string[]): Promise<void>;
  /** Waits for the writes under way. */
  close(): Promise<void>;
}

const maxSeq = 9_999_999_999;
const maxInboxFileBytes = 16 << 20;
/** How many ids are kept: more than can be under way when the switch ends without a word. */
const keptIds = 32;
const fileName = /^(\d{4}|9999(\d{10}))_.*\.json$/;

/** Throws ELOOP or ENOTDIR when `.inbox` is a link or no directory. */
export function openWorkspaceInbox(workspace: string): WorkspaceInbox {
  const inbox = openInbox(workspace);
  const stored = storedCounter(inbox);
  let lastSeq = Math.max(stored.seq, ...namesIn(inbox).map(seqOf).slice(-1));
  let lastIds = stored.ids;
  let queue: Promise<unknown> = Promise.resolve();

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = queue.then(work);
    queue = result.catch(() => {});
    return result;
  }

  async function writeNext(message: InboxMessage): Promise<Written> {
    const seq = lastSeq + 1;
    const name = inboxFileName(seq, message.from);
    const draft = await writeDraft(inbox, name, `${JSON.stringify(fileContent(message, seq))}\n`);
    lastIds = [...lastIds, message.id].slice(-keptIds);
    await replaceFile(inbox, ".seq", `${seq}\n${lastIds.join("\n")}\n`);
    lastSeq = seq;
    await publish(inbox, draft, name);
    return { seq, name };
  }

  /** A draft that is still there was never published. */
  function wrote(id: string): boolean {
    if (find(id)) return true;
    return lastIds.includes(id) && !draftsIn(inbox).some((name) => idOf(inbox, name) === id);
  }

  function find(id: string): Written | undefined {
    for (const name of namesIn(inbox).reverse()) {
      if (idOf(inbox, name) === id) return { seq: seqOf(name), name };
    }
    return undefined;
  }

  return {
    write: (message) => inTurn(() => writeNext(message)),
    find,
    wrote,
    writeAgents: (names) => inTurn(() => replaceFile(inbox, ".agents", names.map((name) => `${name}\n`).join(""))),
    async close() {
      await queue;
      inbox.close();
    },
  };
}

export function inboxFileName(seq: number, from: string): string {
  const number = seq <= 9998 ? String(seq).padStart(4, "0") : `9999${String(seq).padStart(10, "0")}`;
  return `${number}_${from.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 120)}.json`;
}

function fileContent({ from, author, content, id, tag, sentAt, replyTo }: InboxMessage, seq: number) {
  const timestamp = new Date(sentAt).toISOString();
  return { from, author, content, seq, timestamp, id, tag, ...(replyTo === undefined ? {} : { replyTo }) };
}

function openInbox(workspace: string): Directory {
  const root = openDirectory(workspace, { follow: true });
  try {
    return openDirectory(root.entry(".inbox"), { create: true });
  } finally {
    root.close();
  }
}

function namesIn(inbox: Directory): string[] {
  return entriesOf(inbox).filter((name) => fileName.test(name)).sort();
}

/** An inbox that the agent removed has nothing in it. */
function entriesOf(inbox: Directory): string[] {
  try {
    return readdirSync(inbox.entry("."));
  } catch (error) {
    if (isErrno(error, "ENOENT")) return [];
    throw error;
  }
}

function draftsIn(inbox: Directory): string[] {
  return entriesOf(inbox).filter((name) => name.startsWith(".draft-"));
}

function idOf(inbox: Directory, name: string): unknown {
  try {
    const file = readRegularFile(inbox.entry(name), maxInboxFileBytes);
    return file.ok ? idIn(file.bytes) : undefined;
  } catch (error) {
    // The agent may remove a file while we look.
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
}

function seqOf(name: string): number {
  const [, digits = "0", long] = fileName.exec(name) ?? [];
  return Number(long ?? digits);
}

function storedCounter(inbox: Directory): { seq: number; ids: string[] } {
  try {
    const file = readRegularFile(inbox.entry(".seq"), 4_096);
    const [first = "", ...ids] = file.ok ? new TextDecoder().decode(file.bytes).trimEnd().split("\n") : [];
    const seq = Number(first);
    return { seq: Number.isInteger(seq) && seq > 0 && seq < maxSeq ? seq : 0, ids };
  } catch (error) {
    if (isErrno(error, "ENOENT")) return { seq: 0, ids: [] };
    throw error;
  }
}

function idIn(bytes: Uint8Array): unknown {
  try {
    return (JSON.parse(new TextDecoder().decode(bytes)) as { id?: unknown } | null)?.id;
  } catch {
    // The agent may do with its files what it likes.
    return undefined;
  }
}

/** A reader sees the old file or the whole new one. A link that the agent put there is replaced, not followed. */
async function replaceFile(inbox: Directory, name: string, text: string): Promise<void> {
  await publish(inbox, await writeDraft(inbox, name, text), name);
}

async function writeDraft(inbox: Directory, name: string, text: string): Promise<string> {
  const draft = inbox.entry(`.draft-${name}`);
  await rm(draft, { force: true, recursive: true });
  const file = await open(draft, "wx", 0o644);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  return draft;
}

async function publish(inbox: Directory, draft: string, name: string): Promise<void> {
  await rename(draft, inbox.entry(name));
  fsyncSync(inbox.fd);
}
