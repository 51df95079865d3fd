/**
 * Gemini CLI's own record of a session: what is said to the model is written down as it is sent, and then the answer.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Agent } from "../../model/agent.ts";
import { mayNameMessage, parsedLine, type LineReader, type Sign, type TranscriptLine } from "../transcripts/port.ts";
import { leadsInto, openUntrusted, refusalError } from "../../os/untrustedFile.ts";

interface Line {
  readonly id?: string;
  readonly type?: string;
  readonly content?: unknown;
}

export const geminiLines = (): LineReader => (text) => {
  const line = parsedLine<Line>(text);
  if (line === null) return null;
  return {
    id: null,
    said: line.type === "user" && mayNameMessage(text) ? text : null,
    queued: null,
    tool: toolIn(line, text),
    sign: signOf(line),
  };
};

function toolIn({ type }: Line, text: string): TranscriptLine["tool"] {
  if (type === "gemini" && text.includes('"toolCalls"')) return { kind: "call", text };
  return type === "user" && text.includes('"functionResponse"') ? { kind: "result", text } : null;
}

function signOf({ type, id = "", content }: Line): Sign | null {
  if (type === "gemini") return { kind: "answer", answer: id };
  return type === "error" ? { kind: "failure", error: errorIn(String(content)) } : null;
}

/** `[API Error: {"error":{"code":429,"message":"…"}}]`, or words. */
function errorIn(content: string): string {
  const words = content.replace(/^\[API Error: ?/, "").replace(/\]$/, "");
  const { error } = parsedLine<{ error?: { code?: number; message?: string } }>(words) ?? {};
  return error === undefined ? words : [error.code, error.message].filter(Boolean).join(" ");
}

/** Where Gemini CLI keeps its sessions. A file elsewhere proves nothing. */
const chatsFolder = (settings: string): string => join(settings, "tmp");

/** A call that was refused a moment ago is in the last part of the record. */
const recentBytes = 8 << 20;
const headBytes = 4_096;

/** Whether the words of a refusal went back to the model, as the results of its calls. */
export function hasReadRefusal(path: string, folder: string, words: string): boolean {
  const first = JSON.stringify(words.split("\n")[0]).slice(1, -1);
  const text = partOf(path, folder, (size) => Math.max(0, size - recentBytes), recentBytes);
  return text
    .split("\n")
    .some(
      (line) => line.includes(first) && line.includes('"functionResponse"') && parsedLine<Line>(line)?.type === "user",
    );
}

/** Where a session is written down; its file is named by the time and the beginning of its id. */
export async function findTranscript(settings: string, sessionId: string): Promise<string | null> {
  const folder = chatsFolder(settings);
  if (!existsSync(folder)) return null;
  const files = new Bun.Glob(`*/chats/session-*-${sessionId.slice(0, 8)}.jsonl`).scan({
    cwd: folder,
    dot: true,
    absolute: true,
  });
  for await (const path of files)
    if (partOf(path, folder, () => 0, headBytes).startsWith(`{"sessionId":"${sessionId}"`)) return path;
  return null;
}

/** Whether the model has answered in it, as far as its beginning tells. */
export const hasAnswer = (settings: string, path: string): boolean =>
  partOf(path, chatsFolder(settings), () => 0, recentBytes).includes('"type":"gemini"');

/** Empty: there is no such file. */
function partOf(path: string, folder: string, from: (size: number) => number, length: number): string {
  const file = openUntrusted(path, { below: folder });
  if (!file.ok && file.why === "missing") return "";
  if (!file.ok) throw refusalError(path, file);
  using _ = file;
  return file.read(from(file.stats.size), length).toString("utf8");
}

/** Where the sessions of our agents are written down, as their hooks tell. */
export class GeminiTranscripts {
  private readonly paths = new Map<string, string>();

  constructor(private readonly settingsOf: (agent: Agent) => string) {}

  folderOf(agent: Agent): string {
    return chatsFolder(this.settingsOf(agent));
  }

  /** What a hook says is believed only where Gemini CLI keeps its sessions. */
  learnTranscript(agent: Agent, sessionId: string, path: string): void {
    if (leadsInto(path, this.folderOf(agent))) this.paths.set(sessionId, path);
  }

  of({ sessionId }: Agent): string | null {
    return this.paths.get(sessionId ?? "") ?? null;
  }
}
