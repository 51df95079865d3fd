import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentId } from "../../model/ids.ts";
import { seal } from "../../model/message.ts";
import { connect } from "../../os/sqlite/connection.ts";
import { user } from "../../testing/mailboxContract.ts";
import { openMailbox } from "../mailbox.ts";
import { checksumOf, isIntact } from "./checksum.ts";
import { messageToRow, type MessageRow } from "./rows.ts";
import { mailboxMigrations } from "./schema.ts";
import { sqliteStore } from "./store.ts";

const row = (body: string): MessageRow => messageToRow(seal({ to: "bob", body }, user, { inReplyTo: null, hops: 1 }));

test("a checksum never changes from one version to the next", () => {
  const known: MessageRow = {
    ...{
      id: "01a1e289-b5cd-7140-be0c-7e5e3c643edd",
      tag: "MSG_USER_3c643edd",
      from_id: "user",
      from_name: "user",
      from_team: "web",
      known_by: "token",
    },
    ...{
      to_text: "coder",
      team: "web",
      body: "uploads fail: ünï 漢字 🎉",
      summary: "uploads fail",
      kind: "text",
      served: "turn",
      hard: 0,
      in_reply_to: null,
    },
    ...{
      thread: "01a1e289-b5cd-7140-be0c-7e5e3c643edd",
      expects_reply: 0,
      starts: 1,
      expires_at: null,
      hops: 1,
      idempotency_key: null,
      accepted_at: 1_794_802_038_221,
      checksum: null,
    },
  };
  expect(checksumOf(known)).toBe("a630b009e6a47618");
});

test("any other value in any field is another checksum", () => {
  const right = row("hello");
  for (const [field, value] of Object.entries(right)) {
    if (field === "checksum") continue;
    const other = typeof value === "number" ? value + 1 : `${value ?? ""}x`;
    expect([field, isIntact({ ...right, [field]: other })]).toEqual([field, false]);
  }
  expect(isIntact({ ...right, checksum: null })).toBe(false);
  expect(isIntact(right)).toBe(true);
});

test("whatever text is stored comes back intact", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tl-checksum-"));
  const connection = connect(join(directory, "mailbox.db"), { mailbox: mailboxMigrations });
  connection.database.run("PRAGMA synchronous = OFF");
  await using mailbox = openMailbox(sqliteStore(connection));
  const text = fc.string({ unit: "binary", minLength: 1 }).filter((body) => body.trim() !== "" && !body.includes("\0"));
  await fc.assert(
    fc.asyncProperty(text, text, async (body, summary) => {
      const message = seal({ to: "bob", body, summary }, user, { inReplyTo: null, hops: 1 });
      await mailbox.accept(message, [{ id: agentId("b"), name: "bob" }]);
      expect(mailbox.isIntact(message.id)).toBe(true);
    }),
    { numRuns: 300 },
  );
  rmSync(directory, { recursive: true });
});

test("messages without a checksum get one, also when that was interrupted", () => {
  using database = new Database(":memory:");
  for (const step of mailboxMigrations.slice(0, 3)) database.run(step as string);
  const { checksum: _checksum, ...columns } = row("x");
  const names = Object.keys(columns);
  const insert = database.prepare(
    `INSERT INTO messages (${names.join(", ")}) VALUES (${names.map((name) => `$${name}`).join(", ")})`,
  );
  for (let at = 0; at < 2_500; at++) {
    const { checksum: _, ...values } = row(`message ${at}`);
    insert.run(Object.fromEntries(Object.entries(values).map(([name, value]) => [`$${name}`, value])));
  }
  const fill = mailboxMigrations[3] as (database: Database) => void;
  fill(database);
  database.run("UPDATE messages SET checksum = NULL WHERE seq > 1200");
  fill(database);
  const rows = database.query<MessageRow, []>("SELECT * FROM messages").all();
  expect(rows).toHaveLength(2_500);
  expect(rows.every(isIntact)).toBe(true);
});
