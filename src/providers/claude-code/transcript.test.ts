import { describe, expect, test } from "bun:test";
import { newsIn, recorded, type Sought } from "../../testing/newsIn.ts";
import { claudeLines } from "./transcript.ts";

const newsOf = (lines: readonly string[], sought: Sought): string[] =>
  newsIn(claudeLines(), lines, sought).map((news) => ("error" in news ? `${news.kind}: ${news.error}` : news.kind));

const tag = "MSG_X_12345678";
const text = `[${tag} from bob]\nhello`;

test.each([
  ["a queue", { type: "queue-operation", operation: "enqueue", content: text }, ["queued"]],
  ["a note about a hook", { type: "attachment", attachment: { type: "hook_success", stdout: text } }, []],
  ["a subagent's part", { type: "user", isSidechain: true, message: { content: text } }, []],
  ["a summary of hooks", { type: "system", subtype: "stop_hook_summary", hookErrors: [text] }, []],
  ["the model's answer", { type: "assistant", message: { content: [{ type: "text", text }] } }, []],
  [
    "a list that only names it",
    { type: "user", message: { content: [{ type: "tool_result", content: `✓ ${tag}` }] } },
    [],
  ],
  [
    "a hook's text for the model",
    { type: "attachment", attachment: { type: "hook_additional_context", content: [text] } },
    ["held"],
  ],
  [
    "a message that joined the turn",
    { type: "attachment", attachment: { type: "queued_command", prompt: text } },
    ["held"],
  ],
  ["a refused tool call", { type: "user", message: { content: [{ type: "tool_result", content: text }] } }, ["held"]],
  ["a prompt", { type: "user", message: { content: text } }, ["held"]],
  ["what went to the model", { type: "api-request-blob", message: { content: text } }, ["held"]],
])("in %s", (_where, entry, news) => {
  expect(newsOf([JSON.stringify(entry)], { tag })).toEqual(news);
  expect(newsOf([JSON.stringify(entry)], { tag: "MSG_X_00000000" })).toEqual([]);
});

test.each([
  ["401", ["held", "failed: Please run /login · 401 scripted error 401"]],
  ["529", ["held", "failed: 529 scripted error 529"]],
  ["down", ["held", "failed: Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)"]],
  ["dropped", ["held", "failed: Connection dropped (ECONNRESET)"]],
])("as Claude Code 2.1.325 wrote it down, %s", (name, news) => {
  expect(newsOf(recorded(`claude-code/${name}`), { tag: "MSG_USER_00000001" })).toEqual(news);
});

describe("an answer that was written before its prompt", () => {
  test("proves the prompt, as Claude Code 2.1.197 wrote it down", () => {
    expect(newsOf(recorded("claude-code/early"), { tag: "MSG_USER_00000001" })).toEqual(["held", "answered"]);
  });

  const prompt = { type: "user", uuid: "1", parentUuid: null, message: { content: text } };
  const told = (...lines: readonly object[]): string[] =>
    newsOf(
      lines.map((line) => JSON.stringify(line)),
      { tag },
    );

  test("so does a failure", () => {
    const failure = {
      type: "assistant",
      uuid: "2",
      parentUuid: "1",
      isApiErrorMessage: true,
      message: { content: "API Error: 529 busy" },
    };
    expect(told(failure, prompt)).toEqual(["held", "failed: 529 busy"]);
  });

  test("proves nothing that it does not follow", () => {
    const answer = { type: "assistant", uuid: "3", parentUuid: "2", message: { id: "a" } };
    const elsewhere = { type: "user", uuid: "2", parentUuid: null, message: { content: "something else" } };
    const attached = {
      type: "attachment",
      uuid: "4",
      parentUuid: "3",
      attachment: { type: "hook_additional_context", content: [text] },
    };
    expect(told(answer, attached, elsewhere)).toEqual(["held"]);
    expect(told(answer, prompt)).toEqual(["held"]);
  });
});

test("what came with the tools of an answer, by a hook or by the socket, is proved by the next answer", () => {
  const lines = recorded("claude-code/turns");
  const next = lines.findIndex((line) => line.includes('"text": "done"'));
  for (const one of ["MSG_BOB_00000001", "MSG_BOB_00000002", "MSG_BOB_00000003", "MSG_BOB_00000004"]) {
    expect(newsOf(lines.slice(0, next), { tag: one })).toEqual(["held"]);
    expect(newsOf(lines, { tag: one })).toEqual(["held", "answered"]);
  }
  expect(newsOf(lines, { tag: "MSG_X_1" })).toEqual(["queued", "held", "answered"]);
});

test("a prompt that the user took back before an answer came is discarded by the next one", () => {
  expect(newsOf(recorded("claude-code/turns"), { tag: "MSG_Y" })).toEqual(["held", "discarded"]);
});

test("after an error the next prompt takes the text along, and so does a summary of the conversation", () => {
  expect(newsOf(recorded("claude-code/turns"), { tag: "MSG_Z" })).toEqual([
    "held",
    expect.stringMatching("failed: 500"),
    "answered",
  ]);
  expect(newsOf(recorded("claude-code/compacted"), { tag: "MSG_V" })).toEqual([
    "held",
    expect.stringMatching("failed: 500"),
    "answered",
  ]);
});

test("more of the answer that was being given proves nothing, and neither do words of the program in its place", () => {
  const held = JSON.stringify({ type: "attachment", attachment: { type: "hook_additional_context", content: [text] } });
  const answer = (id: string, model = "claude"): string =>
    JSON.stringify({ type: "assistant", message: { id, model, content: [{ type: "tool_use" }] } });
  expect(newsOf([answer("1"), held, answer("1"), answer("2", "<synthetic>")], { tag })).toEqual(["held"]);
  expect(newsOf([answer("1"), held, answer("2")], { tag })).toEqual(["held", "answered"]);
});

test("what the agent fetches by a tool call is held by its result: the call names it, or the result does", () => {
  const call = JSON.stringify({
    type: "assistant",
    message: { id: "1", content: [{ type: "tool_use", input: { command: `tieline show ${tag}` } }] },
  });
  const result = JSON.stringify({
    type: "user",
    message: { content: [{ type: "tool_result", content: "the whole text" }] },
  });
  const answer = JSON.stringify({ type: "assistant", message: { id: "2", content: [{ type: "text" }] } });
  expect(newsOf([call, result, answer], { tag, fetched: true })).toEqual(["held", "answered"]);
  expect(newsOf([result, answer], { tag, fetched: true })).toEqual([]);
  const named = JSON.stringify({
    type: "user",
    message: { content: [{ type: "tool_result", content: `✓ ${tag} from bob` }] },
  });
  expect(newsOf([named, answer], { tag, fetched: true })).toEqual(["held", "answered"]);
});

describe("going back in the conversation", () => {
  const told = (...lines: readonly object[]): string[] =>
    newsOf(
      lines.map((line) => JSON.stringify(line)),
      { tag },
    );
  const prompt = (uuid: string, parentUuid: string | null, content = "go on") => ({
    type: "user",
    uuid,
    parentUuid,
    message: { content },
  });
  const attached = (uuid: string, parentUuid: string) => ({
    type: "attachment",
    uuid,
    parentUuid,
    attachment: { type: "hook_additional_context", content: [text] },
  });
  const answer = (uuid: string, parentUuid: string) => ({
    type: "assistant",
    uuid,
    parentUuid,
    message: { id: uuid, model: "m", content: [] },
  });

  test("a prompt in the place of the one that held the message discards it", () => {
    expect(told(prompt("1", null), prompt("2", "1", text), prompt("3", "1"))).toEqual(["held", "discarded"]);
  });

  test("a prompt in the place of one before the message discards it", () => {
    expect(told(prompt("1", null), answer("2", "1"), attached("3", "2"), prompt("4", null))).toEqual([
      "held",
      "discarded",
    ]);
  });

  test("a prompt in the place of one behind the message leaves it", () => {
    expect(told(prompt("1", null, text), prompt("2", "1"), prompt("3", "1"), answer("4", "3"))).toEqual([
      "held",
      "answered",
    ]);
  });

  test("a prompt that follows a branch beside the message leaves it", () => {
    expect(told(prompt("1", null), answer("2", "1"), attached("3", "2"), prompt("4", "2"), answer("5", "4"))).toEqual([
      "held",
      "answered",
    ]);
  });
});
