import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { watchClaudeTeams, type NativeMail } from "./claudeTeams.ts";

test("what a teammate writes to the person is taken once, marked as read, and keeps what else stands there", async () => {
  const configDir = mkdtempSync(join(tmpdir(), "tl-teams-"));
  const inboxes = join(configDir, "teams", "t1", "inboxes");
  mkdirSync(inboxes, { recursive: true });
  const file = join(inboxes, "user.json");
  const rows = [
    { from: "bob", text: "done", timestamp: "2026-11-15T10:00:00Z", read: false, color: "blue" },
    { from: "bob", text: '{"type":"permission_request","request_id":"7"}', timestamp: "2026-11-15T10:00:01Z", read: false, messageId: "m-2" },
    { from: "bob", text: "old", timestamp: "2026-11-15T09:00:00Z", read: true },
  ];
  writeFileSync(file, JSON.stringify(rows));
  const taken: NativeMail[] = [];
  const both = Promise.withResolvers<void>();
  const stop = new AbortController();
  const accept = async (mail: NativeMail) => {
    taken.push(mail);
    if (taken.length === 2) both.resolve();
  };
  const watching = watchClaudeTeams({ configDir, accept, report: (_context, fault) => both.reject(fault), signal: stop.signal, sweepMs: 20 });
  await both.promise;
  while (readFileSync(file, "utf8").includes("false")) await Bun.sleep(5);
  stop.abort();
  await watching;
  expect(taken).toMatchObject([
    { team: "t1", from: "bob", kind: "text", body: "done" },
    { from: "bob", kind: "permission_request", key: "native m-2" },
  ]);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(rows.map((row) => ({ ...row, read: true })));
  rmSync(configDir, { recursive: true });
});
