import type { TranscriptLine } from "./port.ts";

export interface Entry extends TranscriptLine {
  /** The answer that the model was giving, or had given last, before this line. */
  readonly answerBefore: string | null;
  /** An answer or a failure that was read before the line that it follows. It comes again behind that line. */
  readonly belated: boolean;
}

/** How many lines are remembered as read, and how many answers wait for the line that they follow. */
const mostLines = 2_000;
const mostEarly = 100;

/**
 * The entries of one file, in the order of its lines. Claude Code writes a new file from two queues: an answer may be
 * written before the prompt that it answers, and then comes a second time, behind that prompt.
 */
export class Entries {
  private answer: string | null = null;
  private readonly read = new Set<string>();
  private readonly early = new Map<string, TranscriptLine>();

  /** The entries that this line makes: its own, and that of an answer that waited for it. */
  of(line: TranscriptLine): Entry[] {
    const entry = { ...line, answerBefore: this.answer, belated: false };
    if (line.sign?.kind === "answer") this.answer = line.sign.answer;
    if (this.isEarly(line)) keep(this.early.set(line.follows!, line), mostEarly);
    if (line.id === null) return [entry];
    keep(this.read.add(line.id), mostLines);
    const answer = this.early.get(line.id);
    this.early.delete(line.id);
    return answer ? [entry, { ...answer, answerBefore: this.answer, belated: true }] : [entry];
  }

  private isEarly({ sign, follows }: TranscriptLine): boolean {
    return (
      (sign?.kind === "answer" || sign?.kind === "failure") && typeof follows === "string" && !this.read.has(follows)
    );
  }
}

/** Forgets the oldest beyond so many. */
function keep(held: Set<string> | Map<string, unknown>, most: number): void {
  if (held.size > most) held.delete(held.keys().next().value!);
}
