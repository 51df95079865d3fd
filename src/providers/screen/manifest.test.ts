import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { classify, overrideManifest, parseManifest, withPrompt } from "../screen.ts";
import { providers } from "../../compose/providers.ts";

describe("manifests", () => {
  test("every built-in manifest is valid, its rule names are unique", () => {
    for (const provider of providers.names) {
      const names = providers.screen(provider).rules.map((rule) => rule.name);
      expect(new Set(names).size).toBe(names.length);
    }
  });

  test.each([
    [{ provider: "x", rules: [], colour: 1 }, "colour"],
    [{ provider: "x", rules: [{ name: "a", state: "idle", why: "b", all: [{ titel: "x" }] }] }, "rules.0.all.0.titel"],
    [{ provider: "x", rules: [{ name: "a", state: "sleepy", why: "b" }] }, "rules.0.state"],
    [{ provider: "x", rules: [{ name: "a", state: "idle", why: "b", all: [{ line: "(" }] }] }, "rules.0.all.0.line"],
  ])("a wrong field is named: %j", (data, field) => {
    expect(() => parseManifest(data, "my.json")).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", operands: { source: "my.json", field } }),
    );
  });

  test("an unknown provider or rule is refused", () => {
    expect(() => providers.screen("emacs")).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    expect(() => overrideManifest(providers.screen("pi"), { provider: "pi", without: ["spiner"] }, "my.json")).toThrow(
      'there is no rule "spiner"',
    );
    expect(() => overrideManifest(providers.screen("pi"), { provider: "codex" }, "my.json")).toThrow('not for "pi"');
  });

  test("own rules come first, those of the same name replace, others can be left out", () => {
    const base = providers.screen("generic");
    const own = {
      name: "compiling",
      state: "working",
      why: "the compiler counts files",
      all: [{ line: "^\\[\\d+/\\d+\\]", rows: 1 }],
    };
    const changed = { name: "cursor-at-end", state: "unknown", why: "never sure" };
    const merged = overrideManifest(
      base,
      { provider: "generic", rules: [own, changed], without: ["shell-in-foreground"] },
      "my.json",
    );
    expect(merged.rules.map((rule) => rule.name)).toEqual([
      "compiling",
      ...base.rules.map((rule) => rule.name).filter((name) => name !== "shell-in-foreground"),
    ]);
    const screen = { lines: ["[3/9] main.c"], cursor: { x: 12, y: 0 }, command: "bash" };
    expect(classify(base, screen).state).toBe("done");
    expect(classify(merged, screen)).toMatchObject({ state: "working", rule: "compiling" });
  });
});

test("the example in docs/screens.md does what it says", () => {
  const page = readFileSync(join(import.meta.dir, "../../../docs/screens.md"), "utf8");
  const example: unknown = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)![1]!);
  const manifest = overrideManifest(providers.screen("claude-code"), example, "docs/screens.md");
  const frame = "\x1b[38;5;244m────────────────────\x1b[39m";
  const lines = ["  \x1b[33mindexing 40%\x1b[39m", "", frame, "❯\u00a0", frame];
  expect(classify(providers.screen("claude-code"), { lines }).state).toBe("idle");
  expect(classify(manifest, { lines })).toMatchObject({ state: "working", rule: "indexing" });
  expect(classify(manifest, { lines: ["  indexing 40%", ...lines.slice(1)] }).state).toBe("idle");
  expect(classify(manifest, { lines: lines.slice(1), title: "⠐ api" }).rule).toBe("composer");
});

describe("programs without captures", () => {
  const read = (provider: string, line: string, command?: string, more: string[] = []) =>
    classify(providers.screen(provider), {
      lines: ["earlier output", line, ...more, "", ""],
      cursor: { x: line.length, y: 1 },
      ...(command && { command }),
    });

  test.each([
    ["dev@host:~/proj$ ", "bash", "idle", false],
    ["dev@host:~/proj$ git st", "bash", "idle", true],
    ["~/proj % ", "zsh", "idle", false],
    ["❯ ", "fish", "idle", false],
    ["> ", "bash", "idle", true],
    ["Password: ", "bash", "unknown", false],
    ["dev@host:~/proj$ ", "make", "working", false],
  ])("shell %j under %s is %s", (line, command, state, draft) => {
    if (state === "working") expect(read("shell", line, command).state).toBe("working");
    else expect(read("shell", line, command)).toMatchObject({ state, draft });
  });

  test.each([
    [">>> ", "python3", "idle", false],
    [">>> print(1", "python3.12", "idle", true],
    ["... ", "python3", "idle", true],
    ["> ", "node", "idle", false],
    ["appdb=# ", "psql", "idle", false],
    ["appdb-# ", "psql", "idle", true],
    ["irb(main):001:0> ", "irb", "idle", false],
    ["In [3]: ", "ipython", "idle", false],
    ["sqlite> ", "sqlite3", "idle", false],
    ["Loading user data", "node", "unknown", false],
    [">>> ", "bash", "done", false],
    [">>> ", "less", "unknown", false],
  ])("REPL %j under %s is %s", (line, command, state, draft) => {
    const reading = read("repl", line, command);
    expect(reading.state).toBe(state as never);
    if (state === "idle") expect(reading.draft).toBe(draft);
  });

  test("a shell or a REPL whose cursor is not on its last line is not idle", () => {
    const screen = { lines: ["$ ", "$ "], cursor: { x: 0, y: 5 }, height: 6 };
    expect(classify(providers.screen("shell"), screen).state).toBe("unknown");
  });

  test(
    "a generic program is idle with the cursor on its last line, and with its prompt where the profile gives " + "one",
    () => {
      const generic = providers.screen("generic");
      const at = (y: number, line: string) => ({
        lines: ["banner", line, "", ""],
        cursor: { x: line.length, y },
        height: 4,
        command: "aider",
      });
      expect(classify(generic, at(1, "aider> "))).toMatchObject({ state: "idle", draft: false });
      expect(classify(generic, at(3, "aider> ")).state).toBe("unknown");
      expect(classify(generic, { lines: ["aider> "] }).state).toBe("unknown");
      const prompted = withPrompt(generic, "^aider> ");
      expect(classify(prompted, at(1, "aider> "))).toMatchObject({ state: "idle", draft: false });
      expect(classify(prompted, at(1, "aider> hm"))).toMatchObject({ state: "idle", draft: true });
      expect(classify(prompted, at(1, "Thinking")).state).toBe("unknown");
    },
  );
});
