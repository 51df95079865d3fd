import { expect, test } from "bun:test";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { MessageId, Tag } from "../../model/ids.ts";
import { newsIn, recorded } from "../../testing/newsIn.ts";
import { findRollout, hasReadRefusal, rolloutLines, untilRecorded, type Rollout } from "./rollout.ts";

const message = { id: "01a1dea3-13fe-7c33-9e4f-67485d53cf17" as MessageId, tag: "MSG_BOB_1a2b3c4d" as Tag };
const line = (type: string, payload: object): string =>
  `${JSON.stringify({ timestamp: "2026-11-15T09:56:31.932Z", ordinal: 7, type, payload })}\n`;
const said = (role: string, text: string): string =>
  line("response_item", { type: "message", role, content: [{ type: "input_text", text }] });
const output = (id: string, text: string): string =>
  line("response_item", { type: "function_call_output", call_id: id, output: text });
const rolloutAt = (path: string): Rollout => ({ path, below: [tmpdir()] });
const call = (id: string): string =>
  line("response_item", { type: "function_call", name: "exec_command", call_id: id, arguments: "{}" });

const newsOf = (lines: readonly string[], tag: string = message.tag): string[] =>
  newsIn(rolloutLines(), lines, { tag, id: message.id }).map((news) =>
    "error" in news ? `${news.kind}: ${news.error}` : news.kind,
  );

test("what the model is given is in the conversation; what it says itself, or what only waits, is not", () => {
  const words = `[${message.tag} from bob]\nhello`;
  expect(newsOf([said("user", words)])).toEqual(["held"]);
  expect(newsOf([said("developer", words)])).toEqual(["held"]);
  expect(newsOf([output("call_1", `Command blocked by PreToolUse hook: ${words}`)])).toEqual(["held"]);
  expect(
    newsOf([line("event_msg", { type: "item_completed", item: { type: "UserMessage", client_id: message.id } })]),
  ).toEqual(["held"]);
  expect(newsOf([said("assistant", words)])).toEqual([]);
  expect(newsOf([said("user", `is ${message.tag} there?`)])).toEqual([]);
  expect(newsOf([line("event_msg", { type: "queued", text: words })])).toEqual([]);
  expect(newsOf([`{"half": "[${message.tag} from `])).toEqual([]);
});

test.each([
  ["ok", ["held", "answered"]],
  ["401", ["held", "failed: unexpected status 401 Unauthorized: scripted error 401"]],
  ["529", ["held", "failed: unexpected status 529 <unknown status code>: scripted error 529"]],
  ["500", ["held", "failed: We’re currently experiencing high demand, which may cause temporary errors"]],
  ["dropped", ["held", "failed: stream disconnected before completion: error sending request"]],
  ["down", ["held"]],
])("as Codex 0.166.0 wrote it down, %s", (name, news) => {
  expect(newsOf(recorded(`codex/${name}`), "MSG_USER_00000001")).toEqual(news);
});

test(
  "what a hook adds during an answer is proved by the next answer, not by the rest of that one or its count of " +
    "tokens",
  () => {
    const lines = recorded("codex/hooks");
    const tags = [...lines.join().matchAll(/MSG_BOB_\d+/g)].map(([tag]) => tag);
    expect(tags).toHaveLength(4);
    for (const tag of tags) {
      const held = lines.findIndex((text) => text.includes(tag));
      const next = lines.findIndex(
        (text, at) => at > held && text.includes('"done"') && text.includes('"AgentMessage"'),
      );
      expect(newsOf(lines.slice(0, next), tag)).toEqual(["held"]);
      expect(newsOf(lines, tag)).toEqual(["held", "answered"]);
    }
  },
);

test("items that were written before an answer ended, behind what a hook added, are no answer to it", () => {
  const context = said("developer", `[${message.tag} from bob]`);
  expect(newsOf([call("one"), context, call("two"), line("token_usage_record", {})])).toEqual(["held"]);
  expect(newsOf([call("one"), context, call("two"), output("one", "x"), call("three")])).toEqual(["held", "answered"]);
});

test("what a hook adds at the end of an answer is proved by the next one, in the same turn", () => {
  const tokens = line("token_usage_record", {});
  const lines = [said("assistant", "done"), tokens, said("user", `[${message.tag} from bob]`)];
  expect(newsOf(lines)).toEqual(["held"]);
  expect(newsOf([...lines, said("assistant", "understood"), tokens])).toEqual(["held", "answered"]);
});

test("turns that the user takes back take the message with them, if it came in one of those", () => {
  const begins = line("event_msg", { type: "task_started" });
  const back = (turns: number): string => line("event_msg", { type: "thread_rolled_back", num_turns: turns });
  const asked = [begins, said("user", `[${message.tag} from bob]`)];
  expect(newsOf([...asked, back(1)])).toEqual(["held", "discarded"]);
  expect(newsOf([...asked, begins, said("user", "another"), back(1)])).toEqual(["held"]);
  expect(newsOf([...asked, begins, said("user", "another"), back(2)])).toEqual(["held", "discarded"]);
});

test("waits for a file and a folder that come later, and ignores earlier content", async () => {
  const root = mkdtempSync(join(tmpdir(), "tl-rollout-"));
  const path = join(root, "2026", "rollout.jsonl");
  const found = untilRecorded(rolloutAt(path), 0, message, AbortSignal.timeout(20_000));
  mkdirSync(dirname(path));
  writeFileSync(path, said("user", "begin"));
  const text = said("user", `[${message.tag} from bob]`);
  appendFileSync(path, text.slice(0, 40));
  appendFileSync(path, text.slice(40));
  expect(await found).toBe(true);
  expect(
    await untilRecorded(
      rolloutAt(path),
      Buffer.byteLength(said("user", "begin") + text),
      message,
      AbortSignal.timeout(50),
    ),
  ).toBe(false);
  rmSync(root, { recursive: true });
});

test("calls of one answer come before its first result; a later call is the model's next decision", async () => {
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
