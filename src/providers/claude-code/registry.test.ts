import { expect, test } from "bun:test";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lackOfLinux, testUnless } from "../../testing/needing.ts";
import { until } from "../../testing/until.ts";
import { isSameProcess, readRegistry } from "./registry.ts";

/** A config folder with the given registry files, removed at the end of the test. */
async function configDir(files: Record<string, unknown>) {
  const path = await mkdtemp(join(tmpdir(), "tl-registry-"));
  await mkdir(join(path, "sessions"));
  for (const [name, content] of Object.entries(files)) {
    const text = typeof content === "string" ? content : JSON.stringify(content);
    await Bun.write(join(path, "sessions", name), text);
  }
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

const session = (fields: Record<string, unknown>) => ({
  pid: 41,
  sessionId: "s",
  cwd: "/p",
  procStart: "7",
  ...fields,
});

test("a waiting session in tmux is read with its pane, socket and reason", async () => {
  const file = session({
    status: "waiting",
    waitingFor: "permission prompt",
    tmux: "odd:name.x:@3.%14",
    messagingSocketPath: "/run/41.sock",
    somethingNew: true,
  });
  await using config = await configDir({ "41.json": file });
  const { sessions } = await readRegistry(config.path, async () => true);
  expect(sessions).toEqual([
    {
      pid: 41,
      sessionId: "s",
      cwd: "/p",
      procStart: "7",
      status: "waiting",
      waitingFor: "permission prompt",
      pane: "%14",
      messagingSocketPath: "/run/41.sock",
      alive: true,
    },
  ]);
});

testUnless(lackOfLinux)("a file is stale when its pid went to another process, or the process ended", async () => {
  const child = Bun.spawn(["cat"], { stdin: "pipe" });
  const stat = await Bun.file(`/proc/${child.pid}/stat`).text();
  const procStart = stat.split(" ")[21];
  await using config = await configDir({
    "1.json": session({ pid: child.pid, procStart }),
    "2.json": session({ pid: child.pid, procStart: "1" }),
  });
  const alive = async () => (await readRegistry(config.path)).sessions.map((one) => one.alive).sort();
  expect(await alive()).toEqual([false, true]);
  child.kill();
  await child.exited;
  expect(await alive()).toEqual([false, false]);
  expect(await isSameProcess(process.pid, undefined)).toBe(true);
});

testUnless(lackOfLinux)("a process that ended but was not collected by its parent is not alive", async () => {
  const parent = Bun.spawn(["sh", "-c", "sleep 1000 & echo $!; exec cat"], { stdin: "pipe", stdout: "pipe" });
  const { value } = await parent.stdout.getReader().read();
  const zombie = Number(new TextDecoder().decode(value));
  // The shell would collect its child; cat, which takes its place, does not.
  await until(
    async () => (await Bun.file(`/proc/${parent.pid}/comm`).text()) === "cat\n",
    "cat to take the shell's place",
  );
  process.kill(zombie);
  await until(async () => (await Bun.file(`/proc/${zombie}/stat`).text()).includes(") Z "), "the zombie");
  expect(await isSameProcess(zombie, undefined)).toBe(false);
  parent.kill();
  await parent.exited;
});

test("an unrecognised status is unknown, never idle", async () => {
  await using config = await configDir({ "1.json": session({}), "2.json": session({ status: "dreaming" }) });
  const { sessions } = await readRegistry(config.path, async () => true);
  expect(sessions.map(({ status }) => status)).toEqual(["unknown", "unknown"]);
});

test("names broken files, ignores other files, and takes a missing folder as empty", async () => {
  await using config = await configDir({ "41.json": '{"pid":41', "42.json": { pid: 42 }, "notes.txt": "x" });
  const { sessions, unreadable } = await readRegistry(config.path);
  expect(sessions).toEqual([]);
  expect(unreadable.map(({ path }) => path).sort()).toEqual(
    ["41.json", "42.json"].map((name) => join(config.path, "sessions", name)),
  );
  expect(await readRegistry(join(config.path, "nowhere"))).toEqual({ sessions: [], unreadable: [] });
});
