import { describe, expect, test } from "bun:test";
import { notRunningWords, tellingLine, tellingLines } from "./agent.ts";

describe("the line that says why a program exited", () => {
  const node = [
    "/app/bot.js:1",
    'throw new Error("no key")',
    "^",
    "Error: no key",
    "    at Object.<anonymous> (/app/bot.js:1:7)",
    "    at node:internal/main:28:49",
    "Node.js v20.20.2",
  ];
  const module = [
    "node:internal/modules/cjs/loader:1148",
    "  throw err;",
    "  ^",
    "Error: Cannot find module '/app/x.js'",
    "    at Module._load (x:1:1) {",
    "  code: 'MODULE_NOT_FOUND',",
    "  requireStack: []",
    "}",
    "Node.js v20.20.2",
  ];
  const python = [
    "Traceback (most recent call last):",
    '  File "bot.py", line 1, in <module>',
    "    import nope",
    "ModuleNotFoundError: No module named 'nope'",
  ];

  test.each([
    ["Node", node, "Error: no key"],
    ["a module that is missing", module, "Error: Cannot find module '/app/x.js'"],
    ["Python", python, "ModuleNotFoundError: No module named 'nope'"],
    ["a shell", ["sh: 1: bot: not found", "see the manual"], "sh: 1: bot: not found"],
    [
      "Rust",
      ["thread 'main' panicked at src/main.rs:2:5:", "no key", "note: run with `RUST_BACKTRACE=1`"],
      "thread 'main' panicked at src/main.rs:2:5:",
    ],
    ["no complaint", ["one", "no such model", "  "], "no such model"],
    ["nothing but noise", ["Node.js v20.20.2"], "Node.js v20.20.2"],
    ["nothing", [], "it printed nothing"],
  ])("%s", (_, output, line) => expect(tellingLine(output)).toBe(line));

  test("is among the few lines that are shown", () => {
    expect(tellingLines(node, 5)).toEqual(node.slice(2));
    expect(tellingLines(module, 5)).toEqual(module.slice(3, 8));
    expect(tellingLines(["one", "two"], 5)).toEqual(["one", "two"]);
    expect(tellingLines([], 5)).toEqual([]);
  });
});

test("the agent that is not running is named once", () => {
  expect(notRunningWords("bot", null)).toBe("bot is not running");
  expect(notRunningWords("bot", "exited with code 3")).toBe("bot is not running: exited with code 3");
  expect(notRunningWords("bot", "bot exited at once in %3")).toBe("bot exited at once in %3");
});
