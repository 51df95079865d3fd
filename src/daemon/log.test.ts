import { afterEach, expect, spyOn, test } from "bun:test";
import {
  closeSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TielineError } from "../model/errors.ts";
import { until } from "../testing/until.ts";
import { emptyLongLogs, openLog } from "./log.ts";

const directory = mkdtempSync(join(tmpdir(), "tieline-log-"));
afterEach(() => readdirSync(directory).forEach((file) => rmSync(join(directory, file))));

test("a log that has grown moves aside, and only so many old ones are kept", () => {
  const path = join(directory, "daemon.log");
  const log = openLog(path, { maxBytes: 200, keep: 2, clock: () => 0 });
  for (let line = 0; line < 40; line++) log.info(`line ${line}`);
  expect(readdirSync(directory).sort()).toEqual(["daemon.log", "daemon.log.1", "daemon.log.2"]);
  expect(readFileSync(path, "utf8")).toEndWith("line 39\n");
  for (const file of readdirSync(directory)) expect(statSync(join(directory, file)).size).toBeLessThanOrEqual(200);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a fault says its code; only our own mistakes bring a stack", () => {
  const path = join(directory, "daemon.log");
  const log = openLog(path, { maxBytes: 10_000, keep: 1 });
  log.fault("deliver", new TielineError("TMUX_UNAVAILABLE", "no server", { remedy: "start it" }));
  expect(readFileSync(path, "utf8")).toContain("fault deliver: TMUX_UNAVAILABLE no server\n");
  log.fault("deliver", new Error("boom"));
  expect(readFileSync(path, "utf8")).toContain("log.test.ts");
});

test("a fault that repeats is written once, then counted", async () => {
  const path = join(directory, "daemon.log");
  const log = openLog(path, { maxBytes: 100_000, keep: 1, repeatMs: 30 });
  for (let time = 0; time < 1_000; time++) log.fault("deliver", new Error("boom"));
  for (let time = 0; time < 1_000; time++)
    log.fault(`GET /${time}`, new TielineError("USAGE", "x".repeat(5_000), { remedy: "none" }));
  const faults = (): string[] =>
    readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line.includes(" fault "));
  expect(faults()).toHaveLength(50);
  await until(() => faults().length > 50, "the counts");
  expect(
    faults()
      .slice(50)
      .map((line) => line.slice(25)),
  ).toEqual(["fault deliver: INTERNAL boom (999 more times)", "fault 951 other faults"]);
  log.fault("deliver", new Error("boom"));
  expect(faults().at(-1)).toEndWith("fault deliver: INTERNAL boom");
  log[Symbol.dispose]();
  expect(faults()).toHaveLength(53);
});

test("what the runtime prints into the same file is rotated as well", async () => {
  const path = join(directory, "daemon.log");
  const stderr = openSync(path, "a", 0o600);
  using log = openLog(path, { maxBytes: 2_000, keep: 2, stderr, checkMs: 10 });
  log.info("first");
  for (let round = 0; round < 5; round++) {
    for (let line = 0; line < 20; line++) writeSync(stderr, `printed ${round} ${"x".repeat(100)}\n`);
    await until(() => statSync(path).size === 0, "the log to be rotated");
  }
  log.info("still written");
  expect(readdirSync(directory).sort()).toEqual(["daemon.log", "daemon.log.1", "daemon.log.2"]);
  expect(readFileSync(path, "utf8")).toEndWith("still written\n");
  expect(readFileSync(`${path}.1`, "utf8")).toContain("printed 4");
  for (const file of readdirSync(directory)) expect(statSync(join(directory, file)).size).toBeLessThan(4_000);
  // A log that was removed has no name any more, but takes as much of the disk.
  rmSync(path);
  for (let line = 0; line < 20; line++) writeSync(stderr, `printed ${"x".repeat(100)}\n`);
  await until(() => fstatSync(stderr).size === 0, "the removed log to be emptied");
  closeSync(stderr);
});

test("an stderr that is not the log is left alone", async () => {
  const path = join(directory, "daemon.log");
  const stderr = openSync(join(directory, "other"), "a");
  using log = openLog(path, { maxBytes: 100, keep: 1, stderr, checkMs: 5 });
  writeSync(stderr, "x".repeat(1_000));
  log.info("a line");
  await Bun.sleep(50);
  expect(fstatSync(stderr).size).toBe(1_000);
  closeSync(stderr);
});

test("logs of agents' programs are emptied when they have grown, and links are left alone", () => {
  const elsewhere = join(directory, "elsewhere");
  const folder = join(directory, "sockets");
  mkdirSync(folder);
  writeFileSync(elsewhere, "x".repeat(2_000));
  writeFileSync(join(folder, "long.sock.log"), "x".repeat(2_000));
  writeFileSync(join(folder, "short.sock.log"), "x");
  writeFileSync(join(folder, "other"), "x".repeat(2_000));
  symlinkSync(elsewhere, join(folder, "link.log"));
  emptyLongLogs(folder, 1_000);
  expect(
    readdirSync(folder)
      .toSorted()
      .map((name) => [name, statSync(join(folder, name)).size]),
  ).toEqual([
    ["link.log", 2_000],
    ["long.sock.log", 0],
    ["other", 2_000],
    ["short.sock.log", 1],
  ]);
  emptyLongLogs(join(directory, "none"), 1_000);
  rmSync(folder, { recursive: true });
});

test("text from outside begins no line of its own and steers no terminal", () => {
  const path = join(directory, "daemon.log");
  const log = openLog(path, { maxBytes: 10_000, keep: 1, clock: () => 0 });
  log.info("GET /\u001b]0;owned\u0007\r\n1970-01-01T00:00:00.000Z info forged\rover\u009b2J\u202e");
  expect(readFileSync(path, "utf8")).toBe(
    "1970-01-01T00:00:00.000Z info GET /␛]0;owned␇\n    1970-01-01T00:00:00.000Z info forged␍over⟨U+009B⟩2J⟨U+202E⟩\n",
  );
});

test("a log that cannot be written ends nothing", () => {
  const log = openLog(join(directory, "gone", "daemon.log"), { maxBytes: 200, keep: 1 });
  const complained = spyOn(console, "error").mockImplementation(() => undefined);
  log.info("this is lost");
  expect(complained).toHaveBeenCalledWith(expect.stringContaining("this is lost"));
  complained.mockRestore();
});
