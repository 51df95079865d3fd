import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentView, ReceiptView, HistoryView } from "../src/api/schema.ts";
import { startWorld, type World } from "../src/testing/world.ts";

/** A home that 0.1.0 wrote, killed in the middle of a delivery, served by the code of today. */
describe("a home of 0.1.0", () => {
  let world: World;
  let dir: string;
  let exported: Line[];
  let record: { ls: AgentView[]; log: ReceiptView[] };
  let eventsBefore: unknown[];

  interface Line extends Record<string, unknown> {
    type: "message" | "transition";
    id: string;
    tag: string;
    to: string;
    at: string;
  }

  const linesIn = (text: string): Line[] =>
    text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Line);
  const eventsIn = (home: string): unknown[] => {
    using database = new Database(join(home, "events.db"));
    return database.query("SELECT * FROM events ORDER BY seq").all();
  };

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "tl-upgrade-"));
    const archive = new URL("../fixtures/homes/0.1.0.tar.gz", import.meta.url).pathname;
    expect(Bun.spawnSync(["tar", "-xzf", archive, "-C", dir]).exitCode).toBe(0);
    const root = join(dir, "tieline-home-fixture");
    exported = linesIn(inPresentWords(readFileSync(join(root, "export.jsonl"), "utf8")));
    record = JSON.parse(inPresentWords(readFileSync(join(root, "record.json"), "utf8"))) as typeof record;
    eventsBefore = JSON.parse(inPresentWords(JSON.stringify(eventsIn(join(root, "home"))))) as unknown[];
    world = await startWorld();
    Object.assign(world.env, { TIELINE_HOME: join(root, "home") });
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    rmSync(dir, { recursive: true });
  });

  test("keeps every message and every step", async () => {
    const now = linesIn((await world.tieline(["export"])).stdout);
    const then = exported.filter(({ type }) => type === "message");
    expect(then).toHaveLength(24);
    const messages = new Map(now.filter(({ type }) => type === "message").map((line) => [line.tag, line]));
    expect(then.map(({ tag }) => messages.get(tag))).toEqual(then);
    const steps = (lines: readonly Line[], tag: string): Line[] =>
      lines.filter((line) => line.type === "transition" && line.tag === tag);
    // A step says more of its agent now; what it said before is the same.
    for (const { tag } of then)
      expect(steps(now, tag).slice(0, steps(exported, tag).length)).toMatchObject(steps(exported, tag));
  });

  test("keeps the state and the proof of every delivery", async () => {
    expect(record.log).toHaveLength(24);
    for (const before of record.log) {
      const after = await world.status(before.tag);
      const { deliveries: then, ...message } = before;
      const { deliveries: now, steps: _steps, answers: _answers, ...same } = after;
      expect(same).toEqual(message);
      for (const [at, delivery] of then.entries()) {
        const { state, proof, transport, authority, answeredAt, agent, attempts } = delivery;
        const found = now[at]!;
        // What still waits may have been looked at again, or have run out of time since the fixture was made.
        if (state === "queued")
          expect([agent, ["queued", "expired"]]).toEqual([found.agent, expect.arrayContaining([found.state])]);
        else expect(found).toMatchObject({ agent, state, proof, transport, authority, answeredAt, attempts });
      }
    }
  });

  test("makes the attempt that was cut off uncertain, and repeats nothing", async () => {
    const last = linesIn((await world.tieline(["export"])).stdout).filter(
      ({ type, tag }) => type === "message" && !exported.some((line) => line.tag === tag) && tag.startsWith("MSG_USER"),
    );
    expect(last).toHaveLength(1);
    const history: HistoryView = await world.status(last[0]!.tag);
    expect(history.deliveries.map(({ state }) => state)).toEqual(["uncertain"]);
    expect(history.steps.map(({ verb, to }) => `${verb} ${to}`)).toEqual([
      "accept queued",
      "hold queued",
      "claim claimed",
      "recover uncertain",
    ]);
  });

  test("keeps its agents, with their teams and notes", async () => {
    const lasting = ({ id, name, team, role, kind, provider, note, profile }: AgentView) => ({
      id,
      name,
      team,
      role,
      kind,
      provider,
      note,
      profile,
    });
    // Objects are made from the project's files, which have to be trusted first.
    const sorted = (agents: readonly AgentView[]) =>
      agents
        .filter(({ kind }) => kind === "program")
        .map(lasting)
        .toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(record.ls).toHaveLength(7);
    expect(sorted(await world.json<AgentView[]>(["ls", "--team", "fixture"]))).toEqual(sorted(record.ls));
    expect((await world.json<AgentView[]>(["ls", "--team", "default"])).map(({ name }) => name)).toEqual(["fetcher"]);
  });

  test("keeps every event, and continues its numbers", async () => {
    await world.tieline(["daemon", "stop"]);
    const now = eventsIn(world.env["TIELINE_HOME"]!) as { seq: number }[];
    expect(eventsBefore).toHaveLength(154);
    expect(now.slice(0, 154)).toEqual(eventsBefore as typeof now);
    expect(now.slice(154).every(({ seq }) => seq > (eventsBefore.at(-1) as { seq: number }).seq)).toBe(true);
    const told = eventsBefore.map(
      (row) => JSON.parse((row as { event: string }).event) as { type: string; tag?: string },
    );
    for (const { tag, to } of exported.filter(({ type }) => type === "transition"))
      expect(told).toContainEqual(expect.objectContaining({ type: `delivery.${to}`, tag }));
  });

  test("calls a delivered message delivered, in its rows and in what they may hold", () => {
    using database = new Database(join(world.env["TIELINE_HOME"]!, "mailbox.db"));
    const sql = database.query("SELECT group_concat(sql) AS sql FROM sqlite_schema").get() as { sql: string };
    expect(sql.sql).toContain("'delivered'");
    expect(sql.sql).not.toMatch(/handed|boundary/);
    const left =
      "SELECT (SELECT count(*) FROM deliveries WHERE state = 'handed') + (SELECT count(*) FROM messages " +
      "WHERE known_by = 'person') AS n";
    expect(database.query(left).get()).toEqual({ n: 0 });
    expect(database.query("PRAGMA foreign_key_check").all()).toEqual([]);
    expect(database.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  });

  test("has a checksum for every message, also of those that were stored without", () => {
    using database = new Database(join(world.env["TIELINE_HOME"]!, "mailbox.db"));
    const messages = 25 + bounces(database);
    expect(database.query("SELECT count(*) AS n, count(checksum) AS checked FROM messages").get()).toEqual({
      n: messages,
      checked: messages,
    });
  });
});

/** What 0.1.0 called `handed` and `person`. In the event log JSON is quoted twice. */
const inPresentWords = (text: string): string =>
  text
    .replaceAll(/"(delivery\.)?handed(?=\\?")/g, '"$1delivered')
    .replaceAll(/\\"(delivery\.)?handed(?=\\")/g, '\\"$1delivered')
    .replaceAll(/"(kind|provider|knownBy)": ?"person"/g, '"$1":"user"');

/** What expired since the fixture was made has told its senders. */
function bounces(database: Database): number {
  return (
    database
      .query(
        "SELECT count(*) AS n FROM messages WHERE kind = 'bounce' AND accepted_at > unixepoch('2026-11-16 " +
          "04:10:00') * 1000",
      )
      .get() as { n: number }
  ).n;
}
