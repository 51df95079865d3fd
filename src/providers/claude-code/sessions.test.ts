import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { heldBy } from "../../agents/status/reportedState.ts";
import { anAgent } from "../../testing/agents.ts";
import { lackOfLinux, testUnless } from "../../testing/needing.ts";
import { ClaudeSessions } from "./sessions.ts";

testUnless(lackOfLinux)(
  "behind a shell, the session is that of the nearest program, and of none elsewhere",
  async () => {
    const configDir = mkdtempSync(join(tmpdir(), "tl-claude-"));
    mkdirSync(join(configDir, "sessions"));
    const register = (pid: number, sessionId: string): void =>
      writeFileSync(
        join(configDir, "sessions", `${pid}.json`),
        JSON.stringify({ pid, sessionId, cwd: "/", status: "busy" }),
      );
    const script = "sh -c 'echo $$; sh -c \"echo \\$\\$; read line\"; :'; :";
    const start = async () => {
      const shell = Bun.spawn(["sh", "-c", script], { stdin: "pipe", stdout: "pipe" });
      const lines: string[] = [];
      for await (const chunk of shell.stdout.pipeThrough(new TextDecoderStream())) {
        lines.push(...chunk.split("\n").filter(Boolean));
        if (lines.length === 2) break;
      }
      return { shell, program: Number(lines[0]), tool: Number(lines[1]) };
    };
    const [ours, other] = await Promise.all([start(), start()]);
    register(ours.tool, "of a tool");
    register(ours.program, "ours");
    register(other.program, "elsewhere");
    const sessions = new ClaudeSessions({ configDir, environ: () => ({}) });
    const ana = anAgent({
      name: "ana",
      provider: "claude-code",
      endpoints: [{ transport: "tmux", locator: { agentPid: ours.shell.pid } }],
    });
    expect(sessions.of(ana)?.sessionId).toBe("ours");
    expect(sessions.reportedState(ana)).toEqual({ state: "working", reason: null });
    for (const { shell } of [ours, other]) await shell.stdin.end();
    await Promise.all([ours.shell.exited, other.shell.exited]);
    expect(sessions.of(ana)).toBeNull();
    rmSync(configDir, { recursive: true });
  },
);

test("what a hook reports holds for a moment, and says for how long, because no event announces its end", () => {
  const configDir = mkdtempSync(join(tmpdir(), "tl-claude-"));
  mkdirSync(join(configDir, "sessions"));
  writeFileSync(
    join(configDir, "sessions", `${process.pid}.json`),
    JSON.stringify({ pid: process.pid, sessionId: "s-1", cwd: "/", status: "idle", statusUpdatedAt: 1_000 }),
  );
  let now = 2_000;
  const sessions = new ClaudeSessions({ configDir, environ: () => ({}), clock: () => now });
  const ana = anAgent({
    name: "ana",
    provider: "claude-code",
    endpoints: [{ transport: "tmux", locator: { agentPid: process.pid } }],
  });
  expect(sessions.reportedState(ana)).toEqual({ state: "idle", reason: null });
  sessions.heard(ana, "working");
  now += 500;
  expect(heldBy(ana, sessions.reportedState(ana)!)).toEqual({
    kind: "held",
    hold: { reason: "busy", detail: "ana is working" },
    againInMs: 1_500,
  });
  now += 1_500;
  expect(sessions.reportedState(ana)).toEqual({ state: "idle", reason: null });
  rmSync(configDir, { recursive: true });
});

test("the folder of a process is read again until it is Claude Code, and is kept after its exit", () => {
  const folder = mkdtempSync(join(tmpdir(), "tl-claude-"));
  const environs: Record<string, string>[] = [
    {},
    { HOME: "/home/of-tmux" },
    { HOME: "/home/of-tmux", CLAUDE_CONFIG_DIR: folder },
    {},
  ];
  const sessions = new ClaudeSessions({ configDir: "/home/of-daemon/.claude", environ: () => environs.shift()! });
  const ana = anAgent({
    name: "ana",
    provider: "claude-code",
    endpoints: [{ transport: "tmux", locator: { agentPid: process.pid } }],
  });
  const folders = Array.from({ length: 4 }, () => sessions.transcriptFolder(ana));
  expect(folders).toEqual([
    "/home/of-daemon/.claude/projects",
    "/home/of-tmux/.claude/projects",
    join(folder, "projects"),
    join(folder, "projects"),
  ]);
  rmSync(folder, { recursive: true });
});
