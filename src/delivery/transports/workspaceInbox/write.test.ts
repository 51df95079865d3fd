import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inboxFileName, openWorkspaceInbox } from "./write.ts";

let workspace: string;
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), "inbox-"));
});
afterEach(() => rmSync(workspace, { recursive: true, force: true }));

const message = (n: number) => ({
  from: "bob",
  author: "agent" as const,
  content: `text "${n}"\n`,
  id: `id-${n}`,
  tag: `MSG_BOB_${n}`,
  sentAt: Date.UTC(2026, 0, 31, 9),
});
const files = () =>
  readdirSync(join(workspace, ".inbox"))
    .filter((name) => !name.startsWith("."))
    .sort();
const read = (name: string) => readFileSync(join(workspace, ".inbox", name), "utf8");

async function writeWith(...numbers: number[]) {
  const inbox = openWorkspaceInbox(workspace);
  const written = await Promise.all(numbers.map((n) => inbox.write(message(n))));
  await inbox.close();
  return written.map(({ seq }) => seq);
}

describe("the workspace inbox", () => {
  test("writes each message as one JSON object, in order, and leaves no drafts", async () => {
    expect(await writeWith(1, 2, 3)).toEqual([1, 2, 3]);
    expect(files()).toEqual(["0001_bob.json", "0002_bob.json", "0003_bob.json"]);
    expect(JSON.parse(read("0002_bob.json"))).toEqual({
      from: "bob",
      author: "agent",
      content: 'text "2"\n',
      seq: 2,
      timestamp: "2026-01-31T09:00:00.000Z",
      id: "id-2",
      tag: "MSG_BOB_2",
    });
    expect(readdirSync(join(workspace, ".inbox")).filter((name) => name.includes("draft"))).toEqual([]);
  });

  test("continues counting after a restart, also when everything was read and removed", async () => {
    await writeWith(1, 2);
    for (const name of files()) rmSync(join(workspace, ".inbox", name));
    expect(await writeWith(3)).toEqual([3]);
    rmSync(join(workspace, ".inbox/.seq"));
    expect(await writeWith(4)).toEqual([4]);
  });

  test("names sort as text and as numbers on both sides of 9999", () => {
    const seqs = [1, 42, 9_997, 9_998, 9_999, 10_000, 99_999, 123_456_789];
    const names = seqs.map((seq) => inboxFileName(seq, "zed"));
    expect(names[0]).toBe("0001_zed.json");
    expect([...names].reverse().sort()).toEqual(names);
    expect([...names].reverse().sort((a, b) => Number.parseInt(a) - Number.parseInt(b))).toEqual(names);
  });

  test("continues after 9999 across restarts", async () => {
    mkdirSync(join(workspace, ".inbox"));
    writeFileSync(join(workspace, ".inbox/.seq"), "9998\n");
    expect(await writeWith(1, 2)).toEqual([9_999, 10_000]);
    rmSync(join(workspace, ".inbox/.seq"));
    expect(await writeWith(3)).toEqual([10_001]);
  });

  test("remembers what it wrote after a removal and a restart, and that a draft was never published", async () => {
    const before = openWorkspaceInbox(workspace);
    await before.write(message(1));
    rmSync(join(workspace, ".inbox/0001_bob.json"));
    await before.close();
    const after = openWorkspaceInbox(workspace);
    expect([after.wrote("id-1"), after.wrote("id-2")]).toEqual([true, false]);
    await after.write(message(2));
    await after.close();
    renameSync(join(workspace, ".inbox/0002_bob.json"), join(workspace, ".inbox/.draft-0002_bob.json"));
    const again = openWorkspaceInbox(workspace);
    expect(again.wrote("id-2")).toBe(false);
    await again.close();
  });

  test("knows the files that are there after a restart, also more than it keeps the ids of", async () => {
    await writeWith(...Array.from({ length: 100 }, (_, at) => at));
    const inbox = openWorkspaceInbox(workspace);
    expect([inbox.wrote("id-3"), inbox.wrote("id-99"), inbox.wrote("id-100")]).toEqual([true, true, false]);
    await inbox.close();
  });

  test("what the agent puts into its inbox is neither read as a whole nor believed to be written", async () => {
    mkdirSync(join(workspace, ".inbox"));
    const own = join(workspace, ".inbox", "0001_self.json");
    writeFileSync(own, "");
    truncateSync(own, 2 ** 36);
    Bun.spawnSync(["mkfifo", join(workspace, ".inbox", "0002_self.json")]);
    symlinkSync("/dev/zero", join(workspace, ".inbox", "0003_self.json"));
    const inbox = openWorkspaceInbox(workspace);
    expect(inbox.wrote("id-1")).toBe(false);
    expect(await inbox.write(message(1))).toMatchObject({ name: "0004_bob.json" });
    expect(inbox.wrote("id-1")).toBe(true);
    await inbox.close();
  });

  test("a name never becomes a path", async () => {
    const inbox = openWorkspaceInbox(workspace);
    expect(await inbox.write({ ...message(1), from: "../../x/y" })).toMatchObject({ name: "0001_______x_y.json" });
    await inbox.close();
  });

  test("the list of agents is replaced as a whole", async () => {
    const inbox = openWorkspaceInbox(workspace);
    await inbox.writeAgents(["coder", "ops"]);
    await inbox.writeAgents(["ops"]);
    await inbox.close();
    expect(read(".agents")).toBe("ops\n");
  });

  test("a link in place of the inbox is refused", () => {
    const outside = mkdtempSync(join(tmpdir(), "outside-"));
    symlinkSync(outside, join(workspace, ".inbox"));
    expect(() => openWorkspaceInbox(workspace)).toThrow();
    expect(readdirSync(outside)).toEqual([]);
    rmSync(outside, { recursive: true });
  });

  test("links inside the inbox are replaced, not followed", async () => {
    const outside = join(workspace, "outside");
    writeFileSync(outside, "untouched");
    mkdirSync(join(workspace, ".inbox"));
    for (const name of [".seq", ".draft-.seq", ".draft-0001_bob.json", "0001_bob.json"])
      symlinkSync(outside, join(workspace, ".inbox", name));
    const inbox = openWorkspaceInbox(workspace);
    const { name } = await inbox.write(message(1));
    await inbox.close();
    expect(JSON.parse(read(name)).id).toBe("id-1");
    expect(readFileSync(outside, "utf8")).toBe("untouched");
  });

  test("a directory in place of a draft is refused, not removed, and does not stop later writes", async () => {
    const inbox = openWorkspaceInbox(workspace);
    for (const name of [".draft-0001_bob.json", ".draft-.seq", ".draft-.agents"]) {
      const nested = join(workspace, ".inbox", name, "a/b/c");
      mkdirSync(nested, { recursive: true });
      const refused = name === ".draft-.agents" ? inbox.writeAgents(["bob"]) : inbox.write(message(1));
      await expect(refused).rejects.toMatchObject({
        code: "FILE_REFUSED",
        message: `.inbox/${name} is a directory, not a regular file`,
      });
      expect(existsSync(nested)).toBe(true);
      expect(inbox.wrote("id-1")).toBe(false);
      rmSync(join(workspace, ".inbox", name), { recursive: true });
    }
    expect(await inbox.write(message(1))).toMatchObject({ seq: 1 });
    await inbox.close();
  });

  test("a swapped directory does not lead a running writer astray", async () => {
    const outside = mkdtempSync(join(tmpdir(), "outside-"));
    const inbox = openWorkspaceInbox(workspace);
    rmSync(join(workspace, ".inbox"), { recursive: true });
    symlinkSync(outside, join(workspace, ".inbox"));
    await inbox.write(message(1)).catch(() => {});
    await inbox.close();
    expect(readdirSync(outside)).toEqual([]);
    rmSync(outside, { recursive: true });
  });
});
