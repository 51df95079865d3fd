/** Gemini CLI's own record of a session: what was said to the model is written down as it is sent. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Agent } from "../../model/agent.ts";

interface Line {
  readonly type?: string;
  readonly content?: unknown;
}

/** The message's first line in something that the model is given. */
export function provesGiven(line: string, { tag }: { readonly tag: string }): boolean {
  return line.includes(`[${tag} from `) && parsed(line).type === "user";
}

/** Whether the words of a refusal went back to the model, as the results of its calls. */
export function hasReadRefusal(path: string, words: string): boolean {
  const first = JSON.stringify(words.split("\n")[0]).slice(1, -1);
  return existsSync(path) && readFileSync(path, "utf8").split("\n").some((line) => line.includes(first) && line.includes('"functionResponse"') && parsed(line).type === "user");
}

/** Where a session is written down; its file is named by the time and the beginning of its id. */
export async function findTranscript(settings: string, sessionId: string): Promise<string | null> {
  const folder = join(settings, "tmp");
  if (!existsSync(folder)) return null;
  const files = new Bun.Glob(`*/chats/session-*-${sessionId.slice(0, 8)}.jsonl`).scan({ cwd: folder, dot: true, absolute: true });
  for await (const path of files) if (readFileSync(path, "utf8").startsWith(`{"sessionId":"${sessionId}"`)) return path;
  return null;
}

/** Where the sessions of our agents are written down, as their hooks tell. */
export class GeminiTranscripts {
  private readonly paths = new Map<string, string>();

  learnTranscript(sessionId: string, path: string): void {
    this.paths.set(sessionId, path);
  }

  of({ sessionId }: Agent): string | null {
    return this.paths.get(sessionId ?? "") ?? null;
  }
}

function parsed(line: string): Line {
  try {
    return JSON.parse(line) as Line;
  } catch {
    // Half written: it proves nothing.
    return {};
  }
}
