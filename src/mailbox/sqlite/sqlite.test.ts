import { afterEach, describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentId, type Clock } from "../../model/ids.ts";
import { seal } from "../../model/message.ts";
import { mailboxContract, user, type MailboxUnderTest } from "../../testing/mailboxContract.ts";
import { mailboxTimeContract } from "../../testing/mailboxTimeContract.ts";
import { openMailbox } from "../mailbox.ts";
import { connect, DatabaseTaken } from "../../os/sqlite/connection.ts";
import { mailboxMigrations } from "./schema.ts";
import { sqliteStore } from "./store.ts";

const migrations = { mailbox: mailboxMigrations };
const temporary = (): string => mkdtempSync(join(tmpdir(), "tieline-mailbox-"));

const onDisk = async (clock: Clock): Promise<MailboxUnderTest> => {
  const directory = temporary();
  const path = join(directory, "mailbox.db");
  const open = () => openMailbox(sqliteStore(connect(path, migrations)), { clock });
  let mailbox = open();
  return {
    mailbox,
    async reopen() {
      await mailbox[Symbol.asyncDispose]();
      return (mailbox = open());
    },
    async cleanUp() {
      await mailbox[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true });
    },
  };
};

mailboxContract("sqlite", onDisk);
mailboxTimeContract("sqlite", onDisk);

describe("sqlite", () => {
  const directories: string[] = [];
  const newPath = (): string => {
    const directory = temporary();
    directories.push(directory);
    return join(directory, "mailbox.db");
  };
  afterEach(() => directories.splice(0).forEach((directory) => rmSync(directory, { recursive: true, force: true })));

  const hello = (body = "hello") => seal({ to: "bob", body }, user, { inReplyTo: null, hops: 1 });
  const bob = [{ id: agentId("b"), name: "bob" }];

  test("the first to open a mailbox has it; another process gets an error", () => {
    const path = newPath();
    const held = connect(path, migrations);
    const script = `
      import { connect } from ${JSON.stringify(join(import.meta.dir, "../../os/sqlite/connection.ts"))};
      import { mailboxMigrations } from ${JSON.stringify(join(import.meta.dir, "schema.ts"))};
      try {
        connect(${JSON.stringify(path)}, { mailbox: mailboxMigrations });
        console.log("opened");
      } catch (error) {
        console.log(error.name);
      }`;
    const attempt = () => Bun.spawnSync([process.execPath, "-e", script]).stdout.toString().trim();
    expect(attempt()).toBe(DatabaseTaken.name);
    held[Symbol.dispose]();
    expect(attempt()).toBe("opened");
  });

  test("a full disk refuses what does not fit, keeps what was accepted and recovers", async () => {
    const path = newPath();
    const connection = connect(path, migrations);
    const { database } = connection;
    const mailbox = openMailbox(sqliteStore(connection));
    const kept = await mailbox.accept(hello("before"), bob);
    const { page_count: pages } = connection.statement("PRAGMA page_count").get() as { page_count: number };
    database.run(`PRAGMA max_page_count = ${pages + 2}`);
    const refused = await mailbox
      .accept(hello("x".repeat(100_000)), bob)
      .catch((error: { code: string }) => error.code);
    expect(refused).toBe("STORE_UNAVAILABLE");
    expect(mailbox.inbox(bob[0]!.id).map((row) => row.message.body)).toEqual(["before"]);
    expect(mailbox.pending(bob[0]!.id)).toBe(1);
    database.run("PRAGMA max_page_count = 1000000");
    await mailbox.accept(hello("after"), bob);
    expect(mailbox.receipt(kept.message.tag)).not.toBeNull();
    expect(mailbox.pending(bob[0]!.id)).toBe(2);
    await mailbox[Symbol.asyncDispose]();
  });

  test("only its owner can read it, wherever it lies", () => {
    const path = newPath();
    using connection = connect(path, migrations);
    expect(connection.database.filename).toBe(path);
    for (const file of [path, `${path}-wal`]) expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("what a process that died has left in a log that is longer than its entries is found by the next", async () => {
    const path = newPath();
    const after = newPath();
    await using mailbox = openMailbox(sqliteStore(connect(path, migrations)));
    const bodies = Array.from({ length: 30 }, (_, at) => `message ${at}`);
    for (const body of bodies) await mailbox.accept(hello(body), bob);
    for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, after + suffix);
    expect(statSync(`${after}-wal`).size).toBeGreaterThan(4_000_000);
    await using next = openMailbox(sqliteStore(connect(after, migrations)));
    expect(next.inbox(bob[0]!.id, { limit: 100 }).map((row) => row.message.body)).toEqual(bodies);
    expect(next.id).toBe(mailbox.id);
  });

  test("a file that is not a mailbox is left as it is", () => {
    const path = newPath();
    writeFileSync(path, "this is not a database, and it may be needed ".repeat(100));
    const before = readFileSync(path, "utf8");
    expect(() => connect(path, migrations)).toThrow(expect.objectContaining({ code: "STORE_CORRUPT" }));
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  test("a mailbox of a newer version is refused with the remedy", () => {
    const path = newPath();
    connect(path, { mailbox: [...mailboxMigrations, "CREATE TABLE later (x)"] })[Symbol.dispose]();
    expect(() => connect(path, migrations)).toThrow(expect.objectContaining({ code: "STORE_UNAVAILABLE" }));
  });

  test("a mailbox that claims to be older than its tables are is named as that", () => {
    const path = newPath();
    {
      using connection = connect(path, migrations);
      connection.database.run("UPDATE migrations SET version = 1");
    }
    expect(() => connect(path, migrations)).toThrow(
      expect.objectContaining({
        code: "STORE_CORRUPT",
        message: expect.stringContaining(
          "says that its mailbox schema is 1, and its tables are of another one (table message_words already exists)",
        ),
      }),
    );
  });

  test("a number that a damaged page gives is not taken for a newer version", () => {
    const path = newPath();
    connect(path, { mailbox: [...mailboxMigrations, "CREATE TABLE later (x)"] })[Symbol.dispose]();
    const bytes = readFileSync(path);
    bytes.fill(0, 5 * 4096, 6 * 4096);
    writeFileSync(path, bytes);
    expect(() => connect(path, migrations)).toThrow(expect.objectContaining({ code: "STORE_CORRUPT" }));
  });

  test("a search index that is damaged is made again", async () => {
    const path = newPath();
    {
      await using before = openMailbox(sqliteStore(connect(path, migrations)));
      for (const body of ["the quick fox", "the lazy dog"]) await before.accept(hello(body), bob);
      await before.index(100);
    }
    const bytes = readFileSync(path);
    const terms = bytes.indexOf("0dog");
    expect(terms).toBeGreaterThan(0);
    bytes.fill(0xff, terms - 4, terms + 20);
    writeFileSync(path, bytes);
    await using mailbox = openMailbox(sqliteStore(connect(path, migrations)));
    expect(mailbox.log({ grep: "lazy" }).map(({ message }) => message.body)).toEqual(["the lazy dog"]);
    expect(await mailbox.index(100)).toBe(2);
    expect(mailbox.log({ grep: "quick" })).toHaveLength(1);
  });

  test("a read that fails for once is repeated, and one that fails again is damage", () => {
    using connection = connect(newPath(), migrations);
    const malformed = (): never => {
      throw Object.assign(new Error("database disk image is malformed"), { code: "SQLITE_CORRUPT" });
    };
    const failing = (times: number) => {
      let calls = 0;
      return (): string => (++calls <= times ? malformed() : "read");
    };
    expect(connection.run(failing(1))).toBe("read");
    expect(connection.run(failing(2))).toBe("read");
    expect(() => connection.run(failing(3))).toThrow(expect.objectContaining({ code: "STORE_CORRUPT" }));
  });

  test("a write that fails for once is STORE_UNAVAILABLE with nothing kept, and damage when it fails again", () => {
    using connection = connect(newPath(), migrations);
    const failing = (): never => {
      connection.statement("INSERT INTO mailbox (id) VALUES ('x')").run();
      throw Object.assign(new Error("database disk image is malformed"), { code: "SQLITE_CORRUPT" });
    };
    const succeed = (): void =>
      void connection.commit(() => connection.statement("UPDATE mailbox SET changes = changes + 1").run());
    for (let round = 0; round < 2; round++) {
      expect(() => connection.commit(failing)).toThrow(
        expect.objectContaining({ code: "STORE_UNAVAILABLE", message: expect.stringContaining("not damaged") }),
      );
      succeed();
    }
    expect(() => connection.commit(failing)).toThrow(expect.objectContaining({ code: "STORE_UNAVAILABLE" }));
    expect(() => connection.commit(failing)).toThrow(expect.objectContaining({ code: "STORE_CORRUPT" }));
    expect(connection.statement("SELECT count(*) AS n FROM mailbox").get()).toEqual({ n: 0 });
  });

  test("a directory that is not there is a clear error", () => {
    expect(() => connect("/nonexistent/mailbox.db", migrations)).toThrow(
      expect.objectContaining({ code: "STORE_UNAVAILABLE" }),
    );
  });

  test("the schema refuses states that the table does not know", () => {
    using connection = connect(newPath(), migrations);
    const insert = `INSERT INTO deliveries
        (message, agent, agent_name, state, served, wakes, attempts, queued_at, updated_at)
      VALUES (1, 'b', 'bob', 'landed', 'turn', 1, 0, 0, 0)`;
    expect(() => connection.database.run(insert)).toThrow("CHECK constraint");
  });

  test("concurrent accepts share a commit", async () => {
    const path = newPath();
    const store = sqliteStore(connect(path, migrations));
    let commits = 0;
    const mailbox = openMailbox({ ...store, commit: (work) => (commits++, store.commit(work)) });
    await Promise.all(Array.from({ length: 500 }, (_, index) => mailbox.accept(hello(`n${index}`), bob)));
    expect(commits).toBeLessThan(5);
    await mailbox[Symbol.asyncDispose]();
  });
});
