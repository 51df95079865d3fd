import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { providers } from "../compose/providers.ts";
import { tomlText } from "../providers/mcpSettings.ts";
import { register, unregister } from "./registration.ts";

const programs = providers.all.filter(({ mcp }) => mcp !== undefined);
const named = (name: string) => programs.find(({ program }) => program === name)!;

const command = "/opt/tieline/bin/tieline";

function place(name: string, text?: string) {
  const home = mkdtempSync(join(tmpdir(), "tl-mcp-"));
  const program = named(name);
  const env = { HOME: home };
  const file = program.mcp!.file(env);
  mkdirSync(dirname(file), { recursive: true });
  if (text !== undefined) writeFileSync(file, text);
  const memory = join(home, "tieline", "mcp.json");
  return {
    file,
    text: () => readFileSync(file, "utf8"),
    write: (changed: string) => writeFileSync(file, changed),
    register: (by = command) => register(program, env, by, memory),
    undo: () => unregister(program.mcp!, env, memory),
    entry: () => program.mcp!.registry.read(readFileSync(file, "utf8")),
    wanted: program.mcp!.entry(command),
    [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }),
  };
}

const files: readonly (readonly [program: string, what: string, text: string])[] = [
  [
    "claude",
    "settings of its own",
    '{\n  "numStartups": 7,\n  "mcpServers": {\n    "other": { "command": "x" }\n  },\n  "projects": {}\n}',
  ],
  ["claude", "one line", '{"numStartups":7,"mcpServers":{}}'],
  ["claude", "an empty object", "{}"],
  [
    "gemini",
    "comments",
    '// mine\n{\n\t"theme": "dark", // keep\n\t/* and */ "mcpServers": {\n' +
      '\t\t"a": { "command": "b" } // this\n\t}\n}\n',
  ],
  ["gemini", "windows lines", '{\r\n  "theme": "dark"\r\n}\r\n'],
  ["opencode", "a trailing comma", '{\n  // mine\n  "model": "x",\n}\n'],
  [
    "codex",
    "comments and tables",
    '# mine\nmodel = "gpt" # keep\n\n[mcp_servers.other]\ncommand = "x"\n\n[tui]\nshow = false\n',
  ],
  ["codex", "no last newline", 'model = "gpt"'],
  ["codex", "nothing", ""],
];

describe.each(files)("%s: %s", (program, _, text) => {
  test("registers beside what is there, once, and undoes it byte for byte", () => {
    using there = place(program, text);
    chmodSync(there.file, 0o640);
    expect(there.register()).toEqual({ file: there.file, changed: true });
    expect(there.entry()).toEqual(there.wanted);
    for (const line of text.split(/\r?\n/).filter((one) => one.includes("mine") || one.includes("keep")))
      expect(there.text()).toContain(line.trim());
    const once = there.text();
    expect(there.register().changed).toBeFalse();
    expect(there.text()).toBe(once);
    expect(statSync(there.file).mode & 0o777).toBe(0o640);
    expect(there.undo().changed).toBeTrue();
    expect(there.text()).toBe(text);
    expect(there.undo().changed).toBeFalse();
    expect(readdirSync(dirname(there.file)).filter((name) => name.endsWith(".new"))).toEqual([]);
  });

  test("a newer path replaces the older one, and undo still leaves no trace", () => {
    using there = place(program, text);
    there.register("/old/bin/tieline");
    expect(there.register().changed).toBeTrue();
    expect(there.entry()).toEqual(there.wanted);
    expect(there.text()).not.toContain("/old/");
    there.undo();
    expect(there.text()).toBe(text);
  });
});

test.each(programs.map(({ program }) => program!))("%s: a file that was not there goes away again", (program) => {
  using there = place(program);
  there.register();
  expect(there.entry()).toEqual(there.wanted);
  expect(statSync(there.file).mode & 0o777).toBe(0o600);
  there.undo();
  expect(existsSync(there.file)).toBeFalse();
});

test.each(programs.map(({ program }) => program!))("%s: other changes made meanwhile stay", (program) => {
  using there = place(program, program === "codex" ? 'model = "a"\n' : '{\n  "model": "a"\n}\n');
  there.register();
  const reformatted = there.text().replace('"a"', '"b"').replaceAll("\n", "\n ").trimEnd() + "\n";
  there.write(reformatted);
  expect(there.undo().changed).toBeTrue();
  expect(there.entry()).toBeNull();
  expect(there.text()).toContain('"b"');
});

test("another server under our name, and an unreadable file, are left alone", () => {
  using other = place("claude", '{"mcpServers":{"tieline":{"command":"node","args":["mine.js"]}}}');
  expect(() => other.register()).toThrow(expect.objectContaining({ code: "CONFLICT" }));
  expect(other.undo().changed).toBeFalse();
  for (const [program, text] of [
    ["claude", "{ not json"],
    ["codex", "= broken"],
  ] as const) {
    using broken = place(program, text);
    expect(() => broken.register()).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    expect(broken.text()).toBe(text);
  }
});

test.each([
  ["claude", "CLAUDE_CONFIG_DIR", "/elsewhere/.claude.json"],
  ["codex", "CODEX_HOME", "/elsewhere/config.toml"],
  ["gemini", "GEMINI_CLI_HOME", "/elsewhere/.gemini/settings.json"],
])("%s keeps its settings where %s says", (program, variable, file) => {
  expect(named(program).mcp!.file({ HOME: "/home/dev", [variable]: "/elsewhere" })).toBe(file);
});

describe("a TOML file", () => {
  const table = tomlText(["mcp_servers", "tieline"]);
  const entry = { command: "/opt/tieline", args: ["mcp"] };

  test("keeps comments, dates and tables of others", () => {
    const text = '# mine\nsince = 2026-01-02T03:04:05Z # then\n\n[mcp_servers.other]\ncommand = "x"\n';
    const added = table.with(text, entry);
    expect(added).toStartWith(text);
    expect(table.read(added)).toEqual(entry);
    expect(table.without(added)).toBe(text);
  });

  test("is left alone where a line only looks like our table", () => {
    const prompt = 'prompt = """\n[mcp_servers.tieline]\nnot a table\n"""\n';
    const text = `${prompt}\n[mcp_servers.tieline]\ncommand = "tieline"\n`;
    expect(table.read(text)).toEqual({ command: "tieline" });
    expect(() => table.without(text)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });
});
