import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TielineError } from "../model/errors.ts";
import { defaultHomeConfig, loadHomeConfig } from "./home.ts";

const home = mkdtempSync(join(tmpdir(), "tl-config-"));
const file = join(home, "config.json");
afterAll(() => rmSync(home, { recursive: true }));

function load(text: string) {
  writeFileSync(file, text);
  return loadHomeConfig(file);
}

function complaint(text: string): string {
  try {
    load(text);
  } catch (error) {
    if (error instanceof TielineError && error.code === "CONFIG_INVALID")
      return error.message.replace(file, "config.json");
    throw error;
  }
  throw new Error("accepted");
}

describe("config.json", () => {
  test("a home without the file has the documented defaults", () => {
    const config = loadHomeConfig(join(home, "none.json"));
    expect(config).toEqual(defaultHomeConfig());
    expect(config.session).toEqual({ name: "tieline", defaultWindow: "shell", autoCreate: true, naming: "window" });
    expect(config.terminal).toEqual({ execTimeout: 120_000, readLines: 100 });
    expect(config.delivery).toMatchObject({
      timeoutMs: 5000,
      retries: 2,
      pollIntervalMs: 200,
      readyTimeoutMs: 30_000,
      quietMs: 300,
    });
    expect(config.guards).toEqual({ maxHops: 8, perPairPerMinute: 20, perSenderPerMinute: 120 });
    expect(config.http.port).toBeNull();
  });

  test("what is set holds, the rest keeps its default", () => {
    const config = load('{"session": {"name": "mine"}, "delivery": {"retries": 0}}');
    expect(config.session.name).toBe("mine");
    expect(config.session.defaultWindow).toBe("shell");
    expect(config.delivery.retries).toBe(0);
  });

  test("an unknown key names the nearest", () => {
    expect(complaint('{\n  "delivery": {\n    "timeout": 5\n  }\n}')).toBe(
      'config.json:3:5: unknown key "delivery.timeout"; the nearest is "delivery.timeoutMs"',
    );
    expect(complaint('{"sesion": {}}')).toBe('config.json:1:2: unknown key "sesion"; the nearest is "session"');
  });

  test("a wrong value names the key, what was given and what is wanted", () => {
    expect(complaint('{"delivery": {"retries": "two"}}')).toBe(
      'config.json:1:26: delivery.retries is "two", but must be a number',
    );
    expect(complaint('{"delivery": {"retries": 1.5}}')).toEndWith(
      "delivery.retries is 1.5, but must be a whole number",
    );
    expect(complaint('{"delivery": {"retries": -1}}')).toEndWith(
      "delivery.retries is -1, but must be a number between 0 and 1000",
    );
    expect(complaint('{"session": {"naming": "tab"}}')).toEndWith(
      'session.naming is "tab", but must be one of window, session',
    );
    expect(complaint('{"session": {"autoCreate": 1}}')).toEndWith("session.autoCreate is 1, but must be true or false");
    expect(complaint('{"session": 4}')).toEndWith("session is 4, but must be a map");
    expect(complaint("[]")).toEndWith("the file is [], but must be a map");
    expect(complaint('{"retention": {"maxAgeDays": 0}}')).toEndWith(
      "retention.maxAgeDays is 0, but must be a number above 0 and at most 36500",
    );
  });

  test.each([
    ["terminal.execTimeout", 0],
    ["terminal.execTimeout", -1],
    ["terminal.execTimeout", 2 ** 53],
    ["delivery.timeoutMs", 0],
    ["delivery.readyTimeoutMs", 1e300],
    ["delivery.pollIntervalMs", 1],
    ["guards.perPairPerMinute", 0],
    ["retention.maxAgeDays", 1e12],
    ["logging.keep", 1e9],
    ["spawn.perMinute", -3],
  ])("%s of %d is refused with its range", (key, value) => {
    const [section, name] = key.split(".") as [string, string];
    expect(complaint(JSON.stringify({ [section]: { [name]: value } }))).toMatch(
      new RegExp(`${key} is .*, but must be a number (between|above) \\d+ and (at most )?\\d+$`),
    );
  });

  test("broken JSON is reported with its line", () => {
    expect(complaint('{\n  "session": {\n')).toMatch(/^config\.json:\d+:\d+: not valid JSON: /);
    expect(complaint("")).toMatch(/^config\.json:1:1: not valid JSON: /);
  });
});
