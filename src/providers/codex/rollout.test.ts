import { expect, test } from "bun:test";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { MessageId, Tag } from "../../model/ids.ts";
import { findRollout, hasReadRefusal, provesGiven, untilRecorded, type Rollout } from "./rollout.ts";

const message = { id: "01a1dea3-13fe-7c33-9e4f-67485d53cf17" as MessageId, tag: "MSG_BOB_1a2b3c4d" as Tag };
const line = (type: string, payload: object): string => `${JSON.stringify({ timestamp: "2026-11-15T09:56:31.932Z", ordinal: 7, type, payload })}\n`;
const said = (role: string, text: string): string => line("response_item", { type: "message", role, content: [{ type: "input_text", text }] });
const output = (id: string, text: string): string => line("response_item", { type: "function_call_output", call_id: id, output: text });
const rolloutAt = (path: string): Rollout => ({ path, below: [tmpdir()] });
const call = (id: string): string => line("response_item", { type: "function_call", name: "exec_command", call_id: id, arguments: "{}" });

test("what the model is given proves it; what it says itself, or what only waits, does not", () => {
  const words = `[${message.tag} from bob]\nhello`;
  expect(provesGiven(said("user", words), message)).toBe(true);
  expect(provesGiven(said("developer", words), message)).toBe(true);
  expect(provesGiven(output("call_1", `Command blocked by PreToolUse hook: ${words}`), message)).toBe(true);
  expect(provesGiven(line("event_msg", { type: "item_completed", item: { type: "UserMessage", client_id: message.id } }), message)).toBe(true);
  expect(provesGiven(said("assistant", words), message)).toBe(false);
  expect(provesGiven(said("user", `is ${message.tag} there?`), message)).toBe(false);
  expect(provesGiven(line("event_msg", { type: "queued", text: words }), message)).toBe(false);
  expect(provesGiven(`{"half": "[${message.tag} from `, message)).toBe(false);
});

test("a file and a folder that come later are waited for, and what stood there before does not count", async () => {
  const root = mkdtempSync(join(tmpdir(), "tl-rollout-"));
  const path = join(root, "2026", "rollout.jsonl");
  const found = untilRecorded(rolloutAt(path), 0, message, AbortSignal.timeout(20_000));
  mkdirSync(dirname(path));
  writeFileSync(path, said("user", "begin"));
  const text = said("user", `[${message.tag} from bob]`);
  appendFileSync(path, text.slice(0, 40));
  appendFileSync(path, text.slice(40));
  expect(await found).toBe(true);
  expect(await untilRecorded(rolloutAt(path), Buffer.byteLength(said("user", "begin") + text), message, AbortSignal.timeout(50))).toBe(false);
  rmSync(root, { recursive: true });
});

test("calls of one answer stand before its first result; a call after it is the model's next decision", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "tl-rollout-")), "r.jsonl");
  writeFileSync(path, call("one") + call("two"));
  expect(await hasReadRefusal(rolloutAt(path), "one", "two")).toBe(false);
  appendFileSync(path, output("one", "blocked"));
  expect(await hasReadRefusal(rolloutAt(path), "one", "two")).toBe(false);
  expect(await hasReadRefusal(rolloutAt(path), "one", "three")).toBe(true);
  appendFileSync(path, output("two", "blocked") + call("three"));
  expect(await hasReadRefusal(rolloutAt(path), "one", "three")).toBe(true);
  rmSync(dirname(path), { recursive: true });
});

test("a thread is found by the day in its id, or by the days beside it, because folders follow the local time", () => {
  const home = mkdtempSync(join(tmpdir(), "tl-codex-home-"));
  const id = "01a1dea3-0d87-7f31-a341-1fd2acea66a4";
  expect(findRollout(home, id)).toBeNull();
  const folder = join(home, "sessions", "2026", "11", "16");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `rollout-2026-11-16T01-00-00-${id}.jsonl`), "");
  expect(findRollout(home, id)).toBe(join(folder, `rollout-2026-11-16T01-00-00-${id}.jsonl`));
  expect(findRollout(home, "not a thread")).toBeNull();
  rmSync(home, { recursive: true });
});
