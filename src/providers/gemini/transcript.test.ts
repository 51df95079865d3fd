import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newsIn } from "../../testing/newsIn.ts";
import { findTranscript, geminiLines, hasReadRefusal } from "./transcript.ts";

const tag = "MSG_USER_7f3a91c2";
const words = `[${tag} from user · urgent]\ndo not touch "auth.ts"\n[end ${tag}]`;
const line = (type: string, content: unknown): string => JSON.stringify({ id: "1", type, content });
const refused = [
  { functionResponse: { name: "run_shell_command", response: { error: `Tool execution blocked: ${words}` } } },
];

const newsOf = (...lines: string[]): string[] =>
  newsIn(geminiLines(), lines, { tag }).map((news) => ("error" in news ? `${news.kind}: ${news.error}` : news.kind));

test("only text that the model got is in the conversation", () => {
  expect(newsOf(line("user", [{ text: words }]))).toEqual(["held"]);
  expect(newsOf(line("user", refused))).toEqual(["held"]);
  expect(newsOf(line("gemini", words))).toEqual([]);
  expect(newsOf(line("user", [{ text: `what is ${tag}?` }]))).toEqual([]);
  expect(newsOf(line("user", [{ text: words }]).slice(0, -5))).toEqual([]);
});

test(
  "an answer behind it proves that the model has read it; an error names what failed, and the next answer has " + "it",
  () => {
    const asked = line("user", [{ text: words }]);
    const answer = JSON.stringify({ id: "2", type: "gemini", content: "ok", tokens: { input: 10 } });
    expect(newsOf(asked, answer)).toEqual(["held", "answered"]);
    const failed = line("error", '[API Error: {"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"quota"}}]');
    expect(newsOf(asked, failed, line("user", [{ text: "go on" }]), answer)).toEqual([
      "held",
      "failed: 429 quota",
      "answered",
    ]);
    expect(newsOf(asked, line("error", "[API Error: fetch failed]"))).toEqual(["held", "failed: fetch failed"]);
  },
);

test("a refusal is read once it went back as a result, and a session is found by its whole id", async () => {
  const home = mkdtempSync(join(tmpdir(), "tl-gemini-"));
  try {
    const chats = join(home, ".gemini", "tmp", "project", "chats");
    mkdirSync(chats, { recursive: true });
    const sessionId = "d67e75ec-033a-40d4-a0d9-47ca2ea13aa2";
    const path = join(chats, "session-2026-11-15T13-49-d67e75ec.jsonl");
    const head = JSON.stringify({ sessionId, kind: "main" });
    writeFileSync(path, `${head}\n${line("user", [{ text: words }])}\n`);
    expect(hasReadRefusal(path, chats, words)).toBe(false);
    writeFileSync(path, `${head}\n${line("user", refused)}\n`);
    expect(hasReadRefusal(path, chats, words)).toBe(true);
    expect(hasReadRefusal(join(chats, "none.jsonl"), chats, words)).toBe(false);
    expect(await findTranscript(join(home, ".gemini"), sessionId)).toBe(path);
    expect(await findTranscript(join(home, ".gemini"), "d67e75ec-0000-4000-8000-000000000000")).toBeNull();
  } finally {
    rmSync(home, { recursive: true });
  }
});
