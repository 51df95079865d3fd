import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findTranscript, hasReadRefusal, provesGiven } from "./transcript.ts";

const tag = "MSG_USER_7f3a91c2";
const words = `[${tag} from user · urgent]\ndo not touch "auth.ts"\n[end ${tag}]`;
const line = (type: string, content: unknown): string => JSON.stringify({ id: "1", type, content });
const refused = [{ functionResponse: { name: "run_shell_command", response: { error: `Tool execution blocked: ${words}` } } }];

test("only what was said to the model proves that it was given", () => {
  expect(provesGiven(line("user", [{ text: words }]), { tag })).toBe(true);
  expect(provesGiven(line("user", refused), { tag })).toBe(true);
  expect(provesGiven(line("gemini", words), { tag })).toBe(false);
  expect(provesGiven(line("user", [{ text: `what is ${tag}?` }]), { tag })).toBe(false);
  expect(provesGiven(line("user", [{ text: words }]).slice(0, -5), { tag })).toBe(false);
});

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
