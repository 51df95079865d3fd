import { expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { registerMembers, type Registration } from "./teamMembers.ts";

const engineer: Registration = {
  agent: "id-1",
  name: "engineer",
  agentType: "builder",
  joinedAt: 7,
  pane: "%3",
  cwd: "/p",
  isActive: false,
};
const bob = { agentId: "bob@t1", name: "bob", prompt: "dig", subscriptions: ["x"] };

function team(config: unknown = { name: "t1", leadProcess: { pid: 1 }, members: [bob] }) {
  const folder = mkdtempSync(join(tmpdir(), "tl-members-"));
  const file = join(folder, "config.json");
  writeFileSync(file, typeof config === "string" ? config : JSON.stringify(config));
  return {
    folder,
    file,
    read: () => JSON.parse(readFileSync(file, "utf8")) as { members: Record<string, unknown>[] },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

test("merges a record into the file, keeps it, and removes only it", async () => {
  using t1 = team();
  expect(await registerMembers(t1.folder, "h1", [engineer])).toBe(true);
  const record = {
    agentId: "engineer@t1",
    name: "engineer",
    joinedAt: 7,
    color: expect.any(String),
    planModeRequired: false,
    subscriptions: [],
    agentType: "builder",
    tmuxPaneId: "%3",
    cwd: "/p",
    backendType: "tieline",
    isActive: false,
    tieline: { home: "h1", agent: "id-1" },
  };
  expect(t1.read() as object).toEqual({ name: "t1", leadProcess: { pid: 1 }, members: [bob, record] });

  const before = readFileSync(t1.file, "utf8");
  expect(await registerMembers(t1.folder, "h1", [engineer])).toBe(false);
  expect(readFileSync(t1.file, "utf8")).toBe(before);

  writeFileSync(
    t1.file,
    JSON.stringify({ ...t1.read(), members: [{ ...t1.read().members[1], model: "opus", color: "teal" }, bob] }),
  );
  await registerMembers(t1.folder, "h1", [{ ...engineer, joinedAt: 9, isActive: true }]);
  expect(t1.read().members).toEqual([{ ...record, model: "opus", color: "teal", isActive: true }, bob]);

  await registerMembers(t1.folder, "h1", []);
  expect(t1.read() as object).toEqual({ name: "t1", leadProcess: { pid: 1 }, members: [bob] });
});

test("a name that the team has already stays the team's, and another home's records stay its own", async () => {
  using t1 = team({ name: "t1", members: [bob, { name: "engineer", tieline: { home: "h2", agent: "id-9" } }] });
  expect(await registerMembers(t1.folder, "h1", [engineer, { ...engineer, name: "bob" }])).toBe(false);
  expect(await registerMembers(t1.folder, "h1", [])).toBe(false);
});

test("the file's lock is waited for, and what was written meanwhile stays", async () => {
  using t1 = team();
  mkdirSync(`${t1.file}.lock`);
  const writing = registerMembers(t1.folder, "h1", [engineer]);
  writeFileSync(t1.file, JSON.stringify({ ...t1.read(), hidden: true }));
  rmdirSync(`${t1.file}.lock`);
  await writing;
  expect(t1.read()).toMatchObject({ hidden: true, members: [bob, { name: "engineer" }] });
  expect(existsSync(`${t1.file}.lock`)).toBe(false);
});

test.each(["{", "[]", '{"members":3}', ""])("a file that is no team is left alone: %j", async (text) => {
  using t1 = team(text);
  expect(await registerMembers(t1.folder, "h1", [engineer])).toBe(false);
  expect(readFileSync(t1.file, "utf8")).toBe(text);
});
