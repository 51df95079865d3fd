import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { heldBy } from "../../sensing/ownWord.ts";
import { anAgent } from "../../testing/agents.ts";
import { ClaudeSessions } from "./sessions.ts";

test("what a hook told holds for a moment, and says for how long, because nobody announces its end", () => {
  const configDir = mkdtempSync(join(tmpdir(), "tl-claude-"));
  mkdirSync(join(configDir, "sessions"));
  writeFileSync(join(configDir, "sessions", `${process.pid}.json`), JSON.stringify({ pid: process.pid, sessionId: "s-1", cwd: "/", status: "idle", statusUpdatedAt: 1_000 }));
  let now = 2_000;
  const sessions = new ClaudeSessions({ configDir, environ: () => ({}), clock: () => now });
  const ana = anAgent({ name: "ana", provider: "claude-code", endpoints: [{ transport: "tmux", locator: { agentPid: process.pid } }] });
  expect(sessions.said(ana)).toEqual({ state: "idle", reason: null });
  sessions.heard(ana, "working");
  now += 500;
  expect(heldBy(ana, sessions.said(ana)!)).toEqual({ kind: "held", hold: { reason: "busy", detail: "ana is working" }, againInMs: 1_500 });
  now += 1_500;
  expect(sessions.said(ana)).toEqual({ state: "idle", reason: null });
  rmSync(configDir, { recursive: true });
});
