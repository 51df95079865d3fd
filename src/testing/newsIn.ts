import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { MessageId, Tag } from "../model/ids.ts";
import type { LineReader } from "../providers/transcripts/port.ts";
import { Progress, type News } from "../providers/transcripts/progress.ts";
import type { Entry } from "../providers/transcripts/tail.ts";

export interface Sought {
  readonly tag: string;
  readonly id?: string;
  readonly fetched?: boolean;
}

/** What the lines of a transcript say of one message, in order, until its fate is decided. */
export function newsIn(reader: LineReader, lines: readonly string[], { tag, id = "no-id", fetched = false }: Sought): News[] {
  const progress = new Progress({ tag: tag as Tag, id: id as MessageId }, fetched);
  let answerBefore: string | null = null;
  const found: News[] = [];
  for (const text of lines) {
    const line = reader(text);
    const entry: Entry | null = line && { ...line, answerBefore };
    if (line?.sign?.kind === "answer") answerBefore = line.sign.answer;
    const news = entry && progress.take(entry, { path: "the file", conversation: null });
    if (news) found.push(news);
    if (news?.kind === "answered" || news?.kind === "discarded") break;
  }
  return found;
}

/** The lines that a real program wrote; see fixtures/transcripts. */
export const recorded = (name: string): readonly string[] =>
  readFileSync(join(import.meta.dir, "..", "..", "fixtures", "transcripts", `${name}.jsonl`), "utf8").split("\n").filter(Boolean);
