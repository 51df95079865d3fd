import { afterEach, expect, spyOn, test } from "bun:test";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TielineError } from "../model/errors.ts";
import { openLog } from "./log.ts";

const directory = mkdtempSync(join(tmpdir(), "tieline-log-"));
afterEach(() => readdirSync(directory).forEach((file) => rmSync(join(directory, file))));

test("a log that has grown moves aside, and only so many old ones are kept", () => {
  const path = join(directory, "daemon.log");
  const log = openLog(path, { maxBytes: 200, keep: 2, clock: () => new Date(0) });
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

test("text from outside begins no line of its own and steers no terminal", () => {
  const path = join(directory, "daemon.log");
  const log = openLog(path, { maxBytes: 10_000, keep: 1, clock: () => new Date(0) });
  log.info("GET /\u001b]0;owned\u0007\r\n1970-01-01T00:00:00.000Z info forged\rover\u009b2J\u202e");
  expect(readFileSync(path, "utf8")).toBe(
    "1970-01-01T00:00:00.000Z info GET /␛]0;owned␇\n    1970-01-01T00:00:00.000Z info forged␍over⟨U+009B⟩2J⟨U+202E⟩\n",
  );
});

test("a log that can not be written ends nothing", () => {
  const log = openLog(join(directory, "gone", "daemon.log"), { maxBytes: 200, keep: 1 });
  const complained = spyOn(console, "error").mockImplementation(() => undefined);
  log.info("nobody reads this");
  expect(complained).toHaveBeenCalledWith(expect.stringContaining("nobody reads this"));
  complained.mockRestore();
});
