import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TielineError } from "../../model/errors.ts";
import { Conditions } from "../../testing/conditions.ts";
import { until } from "../../testing/until.ts";
import { type OutboxEntry } from "./parse.ts";
import { type OutboxOptions, watchOutbox } from "./watch.ts";

let workspace: string;
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), "outbox-"));
});
afterEach(() => rmSync(workspace, { recursive: true, force: true }));

const path = (...names: string[]) => join(workspace, ".outbox", ...names);
const files = (...names: string[]) => (existsSync(path(...names)) ? readdirSync(path(...names)).sort() : []);
const waiting = () => files().filter((name) => !name.startsWith("."));
const reason = (name: string) => readFileSync(path(".rejected", `${name}.reason.txt`), "utf8");

/** As swarm-msg does it: the file appears complete. */
function put(name: string, value: unknown): void {
  mkdirSync(path(), { recursive: true });
  writeFileSync(path(`.draft-${name}`), JSON.stringify(value));
  renameSync(path(`.draft-${name}`), path(name));
}

/** Runs a reader and records what it does; `until` waits for a state of affairs, checked after each event. */
function start(options: Partial<OutboxOptions> = {}) {
  const controller = new AbortController();
  const accepted: { entry: OutboxEntry; key: string }[] = [];
  const rejected: string[] = [];
  const faults: string[] = [];
  const { changed, until } = new Conditions();
  const accept = options.accept ?? (async () => {});
  const done = watchOutbox({
    workspace,
    signal: controller.signal,
    rescanMs: 50,
    settleMs: 0,
    ...options,
    async accept(entry, key) {
      await accept(entry, key);
      accepted.push({ entry, key });
      changed();
    },
    onRejected({ name }) {
      rejected.push(name);
      changed();
    },
    onFault({ code }) {
      faults.push(code);
      changed();
    },
  });
  return {
    accepted,
    rejected,
    faults,
    contents: () => accepted.map(({ entry }) => entry.content),
    until,
    async stop() {
      controller.abort();
      await done;
    },
  };
}

/** Moves files from one directory to another by their names, one after the other. */
const mover = `const { readdirSync, renameSync } = require("node:fs"); const [from, to] = process.argv.slice(-2);
for (const name of readdirSync(from).sort()) renameSync(from + "/" + name, to + "/" + name);`;

test("files that another process makes in order while they are listed are accepted in that order", async () => {
  const drafts = join(workspace, "drafts");
  mkdirSync(drafts);
  const wanted = Array.from({ length: 3_000 }, (_, at) => String(at).padStart(4, "0"));
  for (const content of wanted) writeFileSync(join(drafts, `${content}.json`), JSON.stringify({ to: "a", content }));
  mkdirSync(path());
  const reader = start();
  expect(await Bun.spawn([process.execPath, "-e", mover, drafts, path()]).exited).toBe(0);
  await reader.until(() => reader.accepted.length === wanted.length);
  await reader.stop();
  expect(reader.contents()).toEqual(wanted);
});

describe("the outbox", () => {
  test("takes what was there before, and what comes later, in order", async () => {
    put("0002_b.json", { to: "b", content: "two" });
    put("0001_a.json", { to: "a", content: "one" });
    const reader = start({ rescanMs: 600_000 });
    await reader.until(() => reader.accepted.length === 2);
    put("0001_broadcast.json", { broadcast: true, content: "three" });
    await reader.until(() => reader.accepted.length === 3);
    await reader.stop();
    expect(reader.accepted.map(({ entry }) => entry)).toEqual([
      { to: "a", content: "one" },
      { to: "b", content: "two" },
      { broadcast: true, content: "three" },
    ]);
    expect([waiting(), files(".taken")]).toEqual([[], []]);
  });

  test("gives a name that is used again a new key", async () => {
    const reader = start();
    for (const n of [1, 2]) {
      put("0001_a.json", { to: "a", content: `${n}` });
      await reader.until(() => reader.accepted.length === n);
    }
    await reader.stop();
    expect(new Set(reader.accepted.map(({ key }) => key)).size).toBe(2);
  });

  test("10,000 files at once come in order", async () => {
    mkdirSync(path());
    const names = Array.from({ length: 10_000 }, (_, i) => String(i).padStart(5, "0"));
    for (const name of names) writeFileSync(path(`${name}_a.json`), `{"to":"a","content":"${name}"}`);
    const reader = start();
    await reader.until(() => reader.accepted.length === names.length);
    await reader.stop();
    expect(reader.contents()).toEqual(names);
    expect([waiting(), files(".taken")]).toEqual([[], []]);
  }, 60_000);

  test("after a crash what was taken is offered again, under the same key and first", async () => {
    put("0001_a.json", { to: "a", content: "one" });
    const keys: string[] = [];
    const crashing = start({
      async accept(_, key) {
        keys.push(key);
        throw new Error("killed here");
      },
    });
    await crashing.until(() => crashing.faults.length > 0);
    await crashing.stop();
    expect(files(".taken")).toEqual([keys[0]!]);

    put("0000_a.json", { to: "a", content: "later" });
    const reader = start();
    await reader.until(() => reader.accepted.length === 2);
    await reader.stop();
    expect(reader.contents()).toEqual(["one", "later"]);
    expect(reader.accepted[0]!.key).toBe(keys[0]!);
  });

  test("a message that is refused for good is put aside with the reason; one refused for now stays", async () => {
    put("0001_a.json", { to: "a", content: "denied" });
    put("0002_a.json", { to: "a", content: "busy" });
    let busy = true;
    const reader = start({
      async accept({ content }) {
        if (content === "denied") throw new TielineError("ROUTE_DENIED", "no edge to a", { remedy: "allowed: b" });
        if (busy) throw new TielineError("STORE_UNAVAILABLE", "locked", { remedy: "wait" });
      },
    });
    await reader.until(() => reader.faults.includes("STORE_UNAVAILABLE"));
    busy = false;
    await reader.until(() => reader.accepted.length === 1);
    await reader.stop();
    expect(reader.contents()).toEqual(["busy"]);
    expect(reader.rejected).toEqual(["0001_a.json"]);
    expect(reason("0001_a.json")).toBe("ROUTE_DENIED: no edge to a; allowed: b\n");
  });

  test("files of neither shape are kept, with the reason beside them", async () => {
    put("0001_a.json", { content: "x" });
    const reader = start();
    await reader.until(() => reader.rejected.length === 1);
    put("0001_a.json", { to: "a" });
    await reader.until(() => reader.rejected.length === 2);
    await reader.stop();
    expect(reader.rejected).toEqual(["0001_a.json", "2~0001_a.json"]);
    expect(readFileSync(path(".rejected/0001_a.json"), "utf8")).toBe('{"content":"x"}');
    expect(reason("0001_a.json")).toContain('needs either "to" or "broadcast"');
    expect(reader.accepted).toEqual([]);
  });

  test("a half-written file is left until it is whole, or has stood still for long enough", async () => {
    let now = 0;
    mkdirSync(path());
    writeFileSync(path("0001_a.json"), '{"to":"a","con');
    writeFileSync(path("0002_a.json"), '{"to":"a"');
    writeFileSync(path("0003_a.json.tmp"), '{"to":"a"');
    const reader = start({ settleMs: 1_000, clock: () => now });
    put("0004_a.json", { to: "a", content: "passes" });
    await reader.until(() => reader.accepted.length === 1);
    expect(reader.rejected).toEqual([]);
    now = 900;
    writeFileSync(path("0001_a.json"), '{"to":"a","content":"whole"}');
    await reader.until(() => reader.accepted.length === 2);
    expect(reader.rejected).toEqual([]);
    now = 1_100;
    await reader.until(() => reader.rejected.length === 1);
    await reader.stop();
    expect(reader.contents()).toEqual(["passes", "whole"]);
    expect(reader.rejected).toEqual(["0002_a.json"]);
    expect(waiting()).toEqual(["0003_a.json.tmp"]);
  });

  test("links, directories, FIFOs and huge files are put aside unread", async () => {
    const secret = join(workspace, "secret.json");
    writeFileSync(secret, '{"to":"a","content":"secret"}');
    mkdirSync(path());
    symlinkSync(secret, path("1_link.json"));
    symlinkSync("/dev/zero", path("2_device.json"));
    mkdirSync(path("3_directory.json"));
    expect(Bun.spawnSync(["mkfifo", path("4_fifo.json")]).exitCode).toBe(0);
    writeFileSync(path("5_huge.json"), "");
    truncateSync(path("5_huge.json"), 100_000_000);
    const reader = start();
    await reader.until(() => reader.rejected.length === 5);
    await reader.stop();
    expect(reader.accepted).toEqual([]);
    expect(reader.rejected.map(reason)).toEqual([
      "it is a link; links are not followed here\n",
      "it is a link; links are not followed here\n",
      "it is a directory, not a regular file\n",
      "it is a FIFO, not a regular file\n",
      "it has 100000000 bytes; the limit is 6356992\n",
    ]);
    expect(existsSync(secret)).toBe(true);
  });

  test.each([".outbox", ".outbox/.taken", ".outbox/.rejected"])(
    "a link at %s is refused, and nothing behind it is touched",
    async (place) => {
      const outside = mkdtempSync(join(tmpdir(), "outside-"));
      writeFileSync(join(outside, "0001_a.json"), '{"to":"a","content":"not ours"}');
      if (place !== ".outbox") mkdirSync(path());
      symlinkSync(outside, join(workspace, place));
      const reader = start();
      await reader.until(() => reader.faults.includes("NOT_PERMITTED"));
      await reader.stop();
      expect(reader.accepted).toEqual([]);
      expect(readdirSync(outside)).toEqual(["0001_a.json"]);
      rmSync(outside, { recursive: true });
    },
  );

  test("an outbox that is removed and made again is watched again", async () => {
    const reader = start();
    put("0001_a.json", { to: "a", content: "one" });
    await reader.until(() => reader.accepted.length === 1);
    rmSync(path(), { recursive: true, force: true });
    put("0001_a.json", { to: "a", content: "two" });
    await reader.until(() => reader.accepted.length === 2);
    await reader.stop();
    expect(reader.contents()).toEqual(["one", "two"]);
  });

  test("stopping leaves no handle open", async () => {
    const before = readdirSync("/proc/self/fd").length;
    for (let i = 0; i < 20; i++) await start().stop();
    expect(readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(before + 2);
  });

  test("files whose names are no UTF-8 are reported once, and keep it neither busy nor from the others", async () => {
    for (const folder of [path(), path(".taken")]) {
      mkdirSync(folder, { recursive: true });
      const made = Bun.spawnSync(
        ["perl", "-e", 'for (0 .. 16500) { open(my $f, ">", sprintf("\\xff%05d.json", $_)) or die $! }'],
        { cwd: folder },
      );
      expect(made.exitCode).toBe(0);
    }
    put("z.json", { to: "bob", content: "sent" });
    let sweeps = 0;
    const reader = start({ onIdle: () => sweeps++ });
    await reader.until(() => reader.accepted.length === 1 && reader.faults.length === 1);
    const before = sweeps;
    put("z2.json", { to: "bob", content: "sent too" });
    await reader.until(() => reader.accepted.length === 2);
    await until(() => sweeps > before + 1, "further sweeps that end");
    await reader.stop();
    expect(reader.contents()).toEqual(["sent", "sent too"]);
    expect(reader.faults).toEqual(["FILE_REFUSED"]);
    expect(reader.rejected).toEqual([]);
  }, 60_000);
});
