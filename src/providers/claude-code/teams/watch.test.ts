import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { until } from "../../../testing/until.ts";
import { watchClaudeTeams, type ClaudeTeamsOptions, type NativeMail } from "./watch.ts";

const at = (second: number): string => `2026-11-15T10:00:0${second}.000Z`;
const row = (from: string, text: string | object, second = 0, more: object = {}) => ({
  from,
  text: typeof text === "string" ? text : JSON.stringify(text),
  timestamp: at(second),
  read: false,
  ...more,
});
const permission = { type: "permission_request", request_id: "7" };
const idle = { type: "idle_notification", from: "bob" };

/** A team in a folder, and a watch over it that hands each row to `accept`. */
function team(config: object = {}, options: Partial<ClaudeTeamsOptions> = {}) {
  const configDir = mkdtempSync(join(tmpdir(), "tl-teams-"));
  const folder = join(configDir, "teams", "t1");
  const path = (name: string): string => join(folder, name);
  const stop = new AbortController();
  const taken: NativeMail[] = [];
  const faults: unknown[] = [];
  let watching: Promise<void> = Promise.resolve();
  mkdirSync(path("inboxes"), { recursive: true });
  writeFileSync(
    path("config.json"),
    JSON.stringify({
      name: "t1",
      leadAgentId: "team-lead@t1",
      members: [{ name: "team-lead" }, { name: "bob" }],
      ...config,
    }),
  );
  return {
    taken,
    faults,
    write(name: string, content: unknown) {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), typeof content === "string" ? content : JSON.stringify(content));
    },
    read: (name: string): unknown => JSON.parse(readFileSync(path(name), "utf8")),
    start() {
      const accept = async (mail: NativeMail): Promise<void> => void taken.push(mail);
      watching = watchClaudeTeams({
        ...{ configDir, home: "h1", layout: "inboxes", accept, relays: () => false, leadLives: async () => false },
        ...{ report: (_context, fault) => void faults.push(fault), signal: stop.signal, sweepMs: 20 },
        ...options,
      });
    },
    until: (condition: () => boolean) =>
      until(condition, () => `this: ${String(condition)}; taken: ${JSON.stringify(taken)}, faults: ${faults.join()}`),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await watching;
      rmSync(configDir, { recursive: true });
    },
  };
}

test("what a teammate writes to the user is taken once, marked as read, and keeps the other rows", async () => {
  await using t1 = team();
  const rows = [
    row("bob", "done", 0, { color: "blue" }),
    row("bob", permission, 1, { messageId: "m-2" }),
    row("bob", "old", 2, { read: true }),
  ];
  t1.write("inboxes/user.json", rows);
  t1.start();
  await t1.until(() => !readText(t1).includes("false"));
  expect(t1.taken).toMatchObject([
    {
      team: { name: "t1" },
      from: "bob",
      to: "user",
      kind: "text",
      body: "done",
      id: expect.stringMatching(/^inbox-[0-9a-f]{16}$/),
    },
    { from: "bob", kind: "permission_request", id: "m-2" },
  ]);
  expect(t1.read("inboxes/user.json")).toEqual(rows.map((one) => ({ ...one, read: true })));
});

const readText = (t1: ReturnType<typeof team>): string => JSON.stringify(t1.read("inboxes/user.json"));

test("mail for an agent that is registered here is taken out; mail for another home's stays", async () => {
  const registered = (name: string, home: string) => ({ name, tieline: { home, agent: `id-${name}` } });
  await using t1 = team({ members: [registered("engineer", "h1"), registered("tester", "h2")] });
  t1.write("inboxes/engineer.json", [row("bob", "hi")]);
  t1.write("inboxes/tester.json", [row("bob", "not for you")]);
  t1.start();
  await t1.until(() => (t1.read("inboxes/engineer.json") as unknown[]).length === 0);
  expect(t1.taken).toMatchObject([{ from: "bob", to: "engineer", body: "hi" }]);
  expect(t1.read("inboxes/tester.json")).toHaveLength(1);
});

test("the inbox of a lead that we relay to is emptied; every row once", async () => {
  await using t1 = team({}, { relays: () => true });
  t1.write("inboxes/team-lead.json", [row("bob", "found it"), row("bob", idle, 1), row("bob", permission, 2)]);
  t1.start();
  await t1.until(() => (t1.read("inboxes/team-lead.json") as unknown[]).length === 0);
  expect(t1.taken.map(({ to, kind }) => [to, kind])).toEqual([
    ["team-lead", "text"],
    ["team-lead", "idle_notification"],
    ["team-lead", "permission_request"],
  ]);
});

test.each([
  [true, ["idle_notification"]],
  [false, ["idle_notification", "permission_request"]],
])("another lead's inbox is only looked at; requests only where no lead lives (%j)", async (lives, kinds) => {
  await using t1 = team({}, { leadLives: async () => lives });
  const rows = [row("bob", "found it"), row("bob", idle, 1), row("bob", permission, 2)];
  t1.write("inboxes/team-lead.json", rows);
  t1.write("inboxes/user.json", [row("bob", "done", 3)]);
  t1.start();
  await t1.until(() => t1.taken.length > kinds.length && !readText(t1).includes("false"));
  expect(t1.taken.map(({ kind }) => kind)).toEqual(["text", ...kinds] as never);
  expect(t1.read("inboxes/team-lead.json")).toEqual(rows);
});

test("a row that is refused now stays, the others are accepted; a broken inbox blocks no other", async () => {
  const accepted: string[] = [];
  let patience = 2;
  const accept = async ({ body }: NativeMail): Promise<void> => {
    if (body === "later" && patience-- > 0) throw new Error("not now");
    accepted.push(body);
  };
  await using t1 = team({ members: [{ name: "engineer", tieline: { home: "h1", agent: "id" } }] }, { accept });
  t1.write("inboxes/user.json", [row("bob", "later"), row("bob", "now", 1)]);
  t1.write("inboxes/engineer.json", "[{");
  t1.start();
  await t1.until(() => accepted.length === 2);
  expect(accepted).toEqual(["now", "later"]);
  expect(t1.faults).toHaveLength(2);
});

test("a bad row in a lead's inbox hides no other, is reported once, and is tried again", async () => {
  const accepted: string[] = [];
  let looks = 0;
  const accept = async ({ from, kind }: NativeMail): Promise<void> => {
    if (from === "bad") looks++;
    if (from === "bad" && looks < 10) throw new Error(`team t1 already has an agent named ${from}`);
    accepted.push(`${from} ${kind}`);
  };
  await using t1 = team({}, { accept });
  const rows = [
    null,
    7,
    "text",
    { from: "bob" },
    { text: "no sender" },
    row("bad", idle),
    row("bob", permission, 1),
    row("bob", idle, 2),
  ];
  t1.write("inboxes/team-lead.json", rows);
  t1.start();
  await t1.until(() => accepted.includes("bad idle_notification"));
  expect(accepted).toEqual(["bob permission_request", "bob idle_notification", "bad idle_notification"]);
  expect(t1.faults.map(String).toSorted()).toEqual([
    ...[1, 2, 3, 4, 5].map(
      (at) => expect.stringMatching(new RegExp(`row ${at} of .*team-lead.json is no message`)) as never,
    ),
    expect.stringContaining("already has an agent named bad") as never,
  ]);
  expect(t1.read("inboxes/team-lead.json")).toEqual(rows);
});

test("damaged rows stay where they are when others are taken", async () => {
  await using t1 = team({ members: [{ name: "engineer", tieline: { home: "h1", agent: "id" } }] });
  t1.write("inboxes/engineer.json", [null, row("bob", "hi"), { from: "bob" }]);
  t1.write("inboxes/user.json", [{ from: 7, text: "x" }, row("bob", "hello", 1)]);
  t1.start();
  await t1.until(() => t1.taken.length === 2 && (t1.read("inboxes/engineer.json") as unknown[]).length === 2);
  expect(t1.read("inboxes/engineer.json")).toEqual([null, { from: "bob" }]);
  await t1.until(() => readText(t1).includes("true"));
  expect(t1.read("inboxes/user.json")).toEqual([
    { from: 7, text: "x" },
    { ...row("bob", "hello", 1), read: true },
  ]);
});

test("the older layout: a folder per member, a file per message", async () => {
  await using t1 = team({ members: [{ name: "engineer", tieline: { home: "h1", agent: "id" } }] }, { layout: "drop" });
  t1.write("inbox/engineer/msg-2.json", row("bob", "second", 1));
  t1.write("inbox/engineer/msg-1.json", row("bob", "first"));
  t1.write("inbox/user/msg-1.json", row("bob", "for you", 2));
  t1.start();
  await t1.until(() => t1.taken.length === 3);
  expect(t1.taken.map(({ to, body }) => [to, body])).toEqual([
    ["user", "for you"],
    ["engineer", "first"],
    ["engineer", "second"],
  ]);
  await t1.until(() => (t1.read("inbox/user/msg-1.json") as { read: boolean }).read);
});
