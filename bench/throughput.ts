/** Durable accepts per second with concurrent senders against bare batched inserts, and 5,000 messages to one agent. */
import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCourier } from "../src/delivery/courier.ts";
import { openMailbox } from "../src/mailbox/mailbox.ts";
import { mailboxMigrations } from "../src/mailbox/sqlite/schema.ts";
import { sqliteStore } from "../src/mailbox/sqlite/store.ts";
import { agentId } from "../src/model/ids.ts";
import { seal, type Message, type Sender } from "../src/model/message.ts";
import { connect } from "../src/os/sqlite/connection.ts";
import { anAgent } from "../src/testing/agents.ts";
import { createClient } from "../src/client/client.ts";
import { homeOf } from "../src/client/home.ts";
import { callerOf } from "../src/cli/daemon/connect.ts";
import { startWorld } from "../src/testing/world.ts";
import { lowestRank } from "../src/delivery/transports/port.ts";

const messages = 5_000;
const senders = 8;
const directory = mkdtempSync(join(tmpdir(), "bench-throughput-"));

/** What SQLite can do at best with the same rows: one insert each into three tables, a commit per batch. */
function bareInserts(batch: number): number {
  const database = new Database(join(directory, `bare-${batch}.db`));
  database.run("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  database.run(
    "CREATE TABLE m (seq INTEGER PRIMARY KEY, id TEXT UNIQUE, body TEXT); CREATE TABLE d (id INTEGER PRIMARY " +
      "KEY, m INTEGER, state TEXT); CREATE TABLE h (id INTEGER PRIMARY KEY, d INTEGER, at INTEGER)",
  );
  const statements = [
    "INSERT INTO m (id, body) VALUES (?, ?)",
    "INSERT INTO d (m, state) VALUES (?, ?)",
    "INSERT INTO h (d, at) VALUES (?, ?)",
  ].map((sql) => database.prepare(sql));
  const from = performance.now();
  for (let done = 0; done < messages; done += batch) {
    database.run("BEGIN");
    for (let at = done; at < Math.min(messages, done + batch); at++) {
      statements[0]!.run(crypto.randomUUID(), `message ${at}`);
      statements[1]!.run(at, "queued");
      statements[2]!.run(at, at);
    }
    database.run("COMMIT");
  }
  return messages / ((performance.now() - from) / 1_000);
}

const sender = (name: string): Sender => ({ id: agentId(name), name, team: "web", knownBy: "token" });
const messageFrom = (name: string, body: string): Message =>
  seal({ to: "bob", body }, sender(name), { inReplyTo: null, hops: 1 });

/** Each sender waits for its own accept before it sends the next. */
async function accepts(): Promise<number> {
  const path = join(directory, "mailbox.db");
  await using mailbox = openMailbox(sqliteStore(connect(path, { mailbox: mailboxMigrations })));
  const from = performance.now();
  await Promise.all(
    Array.from({ length: senders * 8 }, async (_, name) => {
      for (let at = 0; at < messages / (senders * 8); at++)
        await mailbox.accept(messageFrom(`s${name}`, `${at}`), [{ id: agentId("bob"), name: "bob" }]);
    }),
  );
  return messages / ((performance.now() - from) / 1_000);
}

/** Eight senders, one recipient: none lost, none twice, each sender's order kept. */
async function oneRecipient(): Promise<{ perSecond: number; verdict: string }> {
  const path = join(directory, "recipient.db");
  await using mailbox = openMailbox(sqliteStore(connect(path, { mailbox: mailboxMigrations })));
  const bob = anAgent({ name: "bob" });
  const received: string[] = [];
  const { promise: done, resolve } = Promise.withResolvers<void>();
  await using courier = createCourier({
    mailbox,
    agent: () => bob,
    report: (context, fault) => console.error(context, fault),
    transports: new Map([
      [
        "tmux",
        {
          name: "tmux",
          traits: { bestProof: "screen", authority: "user", rank: lowestRank },
          ready: () => Promise.resolve({ kind: "ready" }),
          deliver: ({ message }) => {
            received.push(message.body);
            if (received.length === messages) resolve();
            return Promise.resolve({ kind: "delivered", proof: "screen" });
          },
          inspect: () => Promise.resolve({ kind: "unknown", detail: "" }),
          watch: () => ({ [Symbol.dispose]: () => undefined }),
        },
      ],
    ]),
  });
  await courier.start();
  const from = performance.now();
  await Promise.all(
    Array.from({ length: senders }, async (_, name) => {
      for (let at = 0; at < messages / senders; at++)
        await mailbox.accept(messageFrom(`s${name}`, `s${name} ${at}`), [bob]);
    }),
  );
  await done;
  const perSecond = messages / ((performance.now() - from) / 1_000);
  const inOrder = Array.from({ length: senders }, (_, name) =>
    received.filter((body) => body.startsWith(`s${name} `)),
  ).every((own) => own.every((body, at) => body.endsWith(` ${at}`)));
  const once = new Set(received).size === messages && received.length === messages;
  return {
    perSecond,
    verdict:
      `${received.length} received, ${once ? "each once" : "NOT each once"}, ` +
      `${inOrder ? "order kept" : "ORDER BROKEN"}`,
  };
}

/** The same through the daemon's socket. */
async function throughSocket(): Promise<number> {
  await using world = await startWorld();
  await world.pane(["cat"]);
  await world.json(["adopt", "%0", "--name", "ana"]);
  await world.tmux("send-keys", "-t", "%0", "a draft keeps the mail waiting");
  const home = homeOf(world.env);
  const client = createClient({ socket: home.socket }, { ...(await callerOf(home, world.env)), cwd: world.project });
  const from = performance.now();
  await Promise.all(
    Array.from({ length: senders * 8 }, async (_, name) => {
      for (let at = 0; at < messages / (senders * 8); at++)
        await client.call("send", { to: "ana", body: `${name} ${at}` });
    }),
  );
  return messages / ((performance.now() - from) / 1_000);
}

try {
  const bare = bareInserts(senders * 8);
  const accepted = await accepts();
  console.log(
    `durable accepts: ${Math.round(accepted)}/s with ${senders * 8} concurrent senders; bare batched inserts ` +
      `${Math.round(bare)}/s, ratio ${(bare / accepted).toFixed(2)}`,
  );
  const { perSecond, verdict } = await oneRecipient();
  console.log(
    `${messages} messages from ${senders} senders to one agent: ${Math.round(perSecond)}/s accepted, claimed ` +
      `and settled; ${verdict}`,
  );
  console.log(`through the daemon's socket: ${Math.round(await throughSocket())} durable sends/s`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
