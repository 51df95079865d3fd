import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { MessageId, Tag } from "../model/ids.ts";
import { Entries, type Entry } from "../providers/transcripts/entries.ts";
import type { LineReader, TranscriptLine } from "../providers/transcripts/port.ts";
import { Progress, type News } from "../providers/transcripts/progress.ts";

export interface Sought {
  readonly tag: string;
  readonly id?: string;
  readonly fetched?: boolean;
}

/** What the lines of a transcript say of one message, in order, until its fate is decided. */
export function newsIn(
  reader: LineReader,
  lines: readonly string[],
  { tag, id = "no-id", fetched = false }: Sought,
): News[] {
  const progress = new Progress({ tag: tag as Tag, id: id as MessageId }, fetched);
  const entries = new Entries();
  const found: News[] = [];
  for (const entry of lines.flatMap((text) => entriesOf(reader(text), entries))) {
    const news = progress.take(entry, { path: "the file", conversation: null });
    if (news) found.push(news);
    if (news?.kind === "answered" || news?.kind === "discarded") break;
  }
  return found;
}

const entriesOf = (line: TranscriptLine | null, entries: Entries): readonly Entry[] =>
  line === null ? [] : entries.of(line);

/** The lines that a real program wrote; see fixtures/transcripts. */
export const recorded = (name: string): readonly string[] =>
  readFileSync(join(import.meta.dir, "..", "..", "fixtures", "transcripts", `${name}.jsonl`), "utf8")
    .split("\n")
    .filter(Boolean);
