/** Mailbox files that are damaged in ways that disks and people damage files, repeatably from a seed. */
import { closeSync, copyFileSync, fstatSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { documentMigrations, sqliteDocuments } from "../agents/directory/documents/sqlite.ts";
import { openMailbox } from "../mailbox/mailbox.ts";
import type { Mailbox } from "../mailbox/port.ts";
import { openMailboxFile } from "../mailbox/sqlite/file.ts";
import { mailboxMigrations } from "../mailbox/sqlite/schema.ts";
import { sqliteStore } from "../mailbox/sqlite/store.ts";
import { agentId } from "../model/ids.ts";
import { seal, type Sender } from "../model/message.ts";
import type { Documents } from "../agents/directory/documents/port.ts";

export const mailboxFileMigrations = { mailbox: mailboxMigrations, documents: documentMigrations };
const ana: Sender = { id: agentId("a"), name: "ana", team: "web", knownBy: "token" };
export const readers = ["b", "c", "d"].map((id) => ({ id: agentId(id), name: `reader-${id}` }));

export interface OpenedMailbox extends AsyncDisposable {
  readonly mailbox: Mailbox;
  readonly documents: Documents;
}

export function openMailboxAt(path: string): OpenedMailbox {
  const { connection } = openMailboxFile(path, mailboxFileMigrations, { report: () => undefined });
  try {
    const mailbox = openMailbox(sqliteStore(connection));
    return {
      mailbox,
      documents: sqliteDocuments(connection),
      [Symbol.asyncDispose]: () => mailbox[Symbol.asyncDispose](),
    };
  } catch (thrown) {
    connection[Symbol.dispose]();
    throw thrown;
  }
}

/** A mailbox with mail in several states, closed. Returns the text of each tag. */
export async function filledMailbox(path: string, messages = 300): Promise<ReadonlyMap<string, string>> {
  const sent = new Map<string, string>();
  await using opened = openMailboxAt(path);
  const { mailbox, documents } = opened;
  const number = seeded(messages);
  const sealing = {
    clock: () => 1_800_000_000_000,
    random: (bytes: number) => Uint8Array.from({ length: bytes }, () => Math.floor(number() * 256)),
  };
  for (let at = 0; at < 20; at++)
    documents.put("agent", `agent-${at}`, { name: `agent-${at}`, note: "x".repeat(at * 40) });
  for (let at = 0; at < messages; at++) {
    const body = `message ${at}: ${"lorem ipsum dolor ".repeat(at % 40)}${at % 97 === 0 ? "long ".repeat(3_000) : ""}`;
    const message = seal({ to: "ben", body }, ana, { inReplyTo: null, hops: 1 }, sealing);
    const { deliveries } = await mailbox.accept(message, [readers[at % readers.length]!]);
    sent.set(message.tag, body);
    const claimed =
      at % 3 === 0
        ? await mailbox.claim(deliveries[0]!.id, { lane: "pull", now: 1_800_000_000_000, transport: "pull" })
        : null;
    if (claimed && at % 2 === 0)
      await mailbox.settle(claimed.id, { kind: "delivered", proof: "tool" }, { transport: "pull", authority: "peer" });
  }
  await mailbox.index(Math.floor(messages / 2));
  return sent;
}

export type Damage =
  | "swapped pages"
  | "zeroed page"
  | "page of noise"
  | "altered byte"
  | "altered bits"
  | "doubled page";
export const damages: readonly Damage[] = [
  "swapped pages",
  "zeroed page",
  "page of noise",
  "altered byte",
  "altered bits",
  "doubled page",
];

/** A copy of the file with one damage. */
export function damagedCopy(path: string, dir: string, damage: Damage, random: () => number): string {
  mkdirSync(dir, { recursive: true });
  const copy = join(dir, "mailbox.db");
  for (const suffix of ["", "-mark"]) copyFileSync(path + suffix, copy + suffix);
  const fd = openSync(copy, "r+");
  try {
    const pages = fstatSync(fd).size / pageBytes;
    const some = (): number => 1 + Math.floor(random() * (pages - 1));
    apply(fd, damage, [some(), some()], random);
  } finally {
    closeSync(fd);
  }
  return copy;
}

const pageBytes = 4096;

function apply(fd: number, damage: Damage, [one, other]: readonly [number, number], random: () => number): void {
  const first = pageOf(fd, one);
  switch (damage) {
    case "swapped pages":
      putPage(fd, one, pageOf(fd, other));
      putPage(fd, other, first);
      break;
    case "doubled page":
      putPage(fd, other, first);
      break;
    case "zeroed page":
      putPage(fd, one, Buffer.alloc(pageBytes));
      break;
    case "page of noise":
      putPage(fd, one, Buffer.from(first.map(() => Math.floor(random() * 256))));
      break;
    case "altered byte":
      first[Math.floor(random() * pageBytes)] = Math.floor(random() * 256);
      putPage(fd, one, first);
      break;
    case "altered bits":
      for (let times = 0; times < 16; times++)
        first[Math.floor(random() * pageBytes)]! ^= 1 << Math.floor(random() * 8);
      putPage(fd, one, first);
      break;
  }
}

function pageOf(fd: number, page: number): Buffer {
  const bytes = Buffer.alloc(pageBytes);
  readSync(fd, bytes, 0, pageBytes, page * pageBytes);
  return bytes;
}

const putPage = (fd: number, page: number, bytes: Buffer): number =>
  writeSync(fd, bytes, 0, pageBytes, page * pageBytes);

/** Numbers from 0 to 1 that are the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
