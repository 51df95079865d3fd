import { describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Profile } from "../model/profile.ts";
import { aProfile } from "../testing/profiles.ts";
import type { LaunchOptions } from "./port.ts";
import { numberedChoices, withArguments } from "./port.ts";
import { agentPrograms } from "../cli/input/args.ts";
import setup from "../cli/commands/setup.ts";
import { callerIn } from "../client/caller.ts";
import { providers } from "../compose/providers.ts";

const plain: LaunchOptions = { sessionId: null, resume: false, prompt: null, permissions: "ask", model: null };
const prompt = { text: 'You are "ana".\nBe brief.', file: "/home/p/prompts/ana.md" };
const session = "7b1e9d1e-5a55-4b0e-9c06-0a1b2c3d4e5f";

function launch(provider: string, options: Partial<LaunchOptions>, profile: Partial<Profile> = {}) {
  return providers.of(provider).launchCommand(aProfile({ name: "ana", provider, command: null, ...profile }), {
    ...plain,
    ...options,
  });
}

describe("how each program is started", () => {
  test.each([
    ["claude-code", { sessionId: session }, ["claude", "--session-id", session, "--permission-mode", "manual"]],
    [
      "claude-code",
      { sessionId: session, resume: true, permissions: "skip" },
      ["claude", "--resume", session, "--permission-mode", "bypassPermissions"],
    ],
    [
      "claude-code",
      { model: "opus", prompt, permissions: "auto" },
      ["claude", "--permission-mode", "auto", "--model", "opus", "--append-system-prompt", prompt.text],
    ],
    [
      "codex",
      { prompt, model: "gpt-6" },
      [
        "codex",
        "--ask-for-approval",
        "on-request",
        "--model",
        "gpt-6",
        "-c",
        'developer_instructions="You are \\"ana\\".\\nBe brief."',
      ],
    ],
    [
      "codex",
      { sessionId: session, resume: true, permissions: "skip" },
      ["codex", "resume", session, "--dangerously-bypass-approvals-and-sandbox"],
    ],
    [
      "gemini",
      { sessionId: session, prompt },
      ["gemini", "--session-id", session, "--approval-mode", "default", "--prompt-interactive", prompt.text],
    ],
    [
      "gemini",
      { sessionId: session, resume: true, prompt, permissions: "auto" },
      ["gemini", "--resume", session, "--approval-mode", "auto_edit"],
    ],
    [
      "opencode",
      { sessionId: "ses_1", resume: true, model: "a/b" },
      ["opencode", "--session", "ses_1", "--model", "a/b"],
    ],
    ["pi", { sessionId: "s", resume: true, prompt }, ["pi", "--session", "s", "--append-system-prompt", prompt.file]],
  ] as const)("%s %j", (provider, options, command) => {
    expect(launch(provider, options).command).toEqual(command as readonly string[]);
  });

  test.each([
    ["ask", '"acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan"', "default"],
    ["ask", '"acceptEdits", "auto", "bypassPermissions", "manual", "dontAsk", "plan"', "manual"],
    ["auto", '"acceptEdits", "bypassPermissions", "default", "plan"', "acceptEdits"],
    ["skip", '"acceptEdits", "bypassPermissions", "default", "plan"', "bypassPermissions"],
  ] as const)(
    "Claude Code is started with a permission mode that its help names: %s of %s",
    (permissions, choices, mode) => {
      const answer =
        `  --permission-mode <mode>              Permission mode to use for the session\n                ` +
        `(choices: ${choices})\n`;
      expect(launch("claude-code", { permissions, answer }).command).toEqual(["claude", "--permission-mode", mode]);
    },
  );

  test.each([
    ["generic", "headless"],
    ["repl", "headless"],
    ["headless", "headless"],
    ["claude-code", "claude-headless"],
    ["claude-headless", "claude-headless"],
    ["codex", undefined],
    ["gemini", undefined],
  ])("without a terminal %s is run as %s", (name, headless) => {
    expect(providers.headless(name)?.name).toBe(headless);
  });

  test("the suggestions of Claude Code, which look like drafts, are off", () => {
    expect(launch("claude-code", {}).env).toEqual({ CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: "false" });
  });

  test("opencode reads its permissions and the prompt from its configuration", () => {
    const { env } = launch("opencode", { prompt, permissions: "auto" });
    expect(JSON.parse(env["OPENCODE_CONFIG_CONTENT"]!)).toEqual({
      permission: { bash: "ask", edit: "allow" },
      instructions: [prompt.file],
    });
  });

  test("a profile's command takes the place of the program, and its arguments come last", () => {
    const { command } = launch("claude-code", {}, { command: ["/opt/claude"], args: ["--verbose"] });
    expect(command).toEqual(["/opt/claude", "--permission-mode", "manual", "--verbose"]);
    expect(launch("generic", { model: "m", prompt }, { command: ["my-agent"], args: ["-x"] }).command).toEqual([
      "my-agent",
      "-x",
    ]);
  });

  test("a command that is a line for the shell passes arguments on unharmed", async () => {
    const command = withArguments(["sh", "-c", "printf '<%s>' first"], ["a b", "$HOME", "it's"]);
    expect(await new Response(Bun.spawn([...command], { stdout: "pipe" }).stdout).text()).toBe(
      "<first><a b><$HOME><it's>",
    );
  });
});

test("Claude Code can resume only a conversation of which it has a transcript", async () => {
  const home = mkdtempSync(join(tmpdir(), "tl-claude-"));
  try {
    const { hasConversation } = providers.of("claude-code");
    expect(await hasConversation!(session, { HOME: home })).toBeFalse();
    mkdirSync(join(home, ".claude/projects/-work-web"), { recursive: true });
    writeFileSync(join(home, `.claude/projects/-work-web/${session}.jsonl`), "{}\n");
    expect(await hasConversation!(session, { HOME: home })).toBeTrue();
    expect(await hasConversation!(session, { HOME: home, CLAUDE_CONFIG_DIR: join(home, "elsewhere") })).toBeFalse();
  } finally {
    rmSync(home, { recursive: true });
  }
});

test.each([
  ["claude", ["claude"], "claude-code"],
  ["node", ["node", "/usr/lib/node_modules/@openai/codex/bin/codex.js", "resume"], "codex"],
  ["node", ["/usr/bin/node", "--no-warnings", "/x/@google/gemini-cli/bundle/gemini.js"], "gemini"],
  ["MainThread", ["/opt/bin/opencode"], "opencode"],
  ["node", ["node", "/x/pi-coding-agent/dist/cli.js"], "pi"],
  ["node", ["node", "server.js"], null],
  ["vim", ["vim", "claude.md"], null],
  ["bash", ["-bash"], null],
])("%s %j is %s", (command, argv, provider) => {
  expect(providers.ofProgram(command, argv)).toBe(provider);
});

test.each([
  [" ❯ 1. Yes", "1", "Yes"],
  ["   2. Yes, and don't ask again", "2", "Yes, and don't ask again"],
  ["› 1. Yes, proceed (y)", "1", "Yes, proceed (y)"],
  ["│ ● 1. Allow once                      │", "1", "Allow once"],
  ["│   3. No, suggest changes (esc)       │", "3", "No, suggest changes (esc)"],
])("%j is choice %s", (line, number, label) => {
  expect(numberedChoices.choice.exec(line)?.groups).toMatchObject({ number, label });
});

describe("what the command line knows without loading a provider", () => {
  test("it suggests every program that has a provider", () => {
    expect<readonly string[]>(agentPrograms).toEqual(providers.programs.map(({ name }) => name));
  });

  test("`setup` suggests every program with hooks or MCP servers", () => {
    const programs = (part: "hooks" | "mcp") =>
      providers.programs.filter((one) => one[part]).map(({ program }) => program);
    expect(setup.flags?.["hooks"]).toMatchObject({ suggest: programs("hooks") });
    expect(setup.flags?.["mcp"]).toMatchObject({ suggest: programs("mcp") });
  });

  test("a caller's variables are those that programs set for their child processes", () => {
    const variables = providers.all.flatMap(({ childVariables = [] }) => childVariables);
    const facts = { pid: 1, cwd: "/", team: undefined, userToken: undefined };
    for (const name of ["CLAUDECODE", "CODEX_THREAD_ID", "GEMINI_CLI", "OPENCODE"]) {
      expect(variables).toContain(name);
      expect(callerIn({ [name]: "1" }, facts).agentVariables).toEqual([name]);
    }
  });
});
