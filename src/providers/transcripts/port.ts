/** What an agent program writes down about its conversation: the part that shows what became of a message. */
import type { Agent } from "../../model/agent.ts";

export interface Transcript {
  /** The conversation that the agent is in; null: not known yet. */
  readonly conversation: string | null;
  /** The files that it may be in; none while nothing was said in it. */
  readonly files: readonly TranscriptFile[];
  /**
   * The directories in which the program keeps its transcripts. A file elsewhere proves nothing, nor one of another
   * user.
   */
  readonly below: readonly string[];
  /** Reads the lines of one file in their order, from anywhere in it. */
  reader(): LineReader;
}

/** Where one program writes down its conversations. */
export interface TranscriptSource {
  /** As far as it was written to since then; null: none is known. */
  of(agent: Agent, since: number): Transcript | null;
  /** The directories that the agent's transcripts must be in. */
  foldersOf(agent: Agent): readonly string[];
  /** A hook named the file of a session, perhaps before the file exists. */
  learn(agent: Agent, sessionId: string, path: string): void;
  /** Whether the model has been asked again since a call was refused; left out: the program says so itself. */
  hasReadRefusal?(agent: Agent, refused: RefusedCall): Promise<boolean>;
  /** The transcript with a message in it tells which session the agent is in. */
  readonly tellsSession?: boolean;
}

export interface RefusedCall {
  readonly path: string;
  /** The call that asks now, and the first that was refused. */
  readonly call: string;
  readonly firstCall: string;
  /** The text that the model got. */
  readonly words: string;
}

export interface TranscriptFile {
  readonly path: string;
  /** The conversation that it is of. */
  readonly conversation: string | null;
}

/** Null: the line says nothing about messages. */
export type LineReader = (text: string) => TranscriptLine | null;

export interface TranscriptLine {
  /** The program's own name of the line; null: it has none. */
  readonly id: string | null;
  /** The id of the line that it follows in the conversation, where the program writes that down. */
  readonly follows?: string | null;
  /** The line as it is, where it puts something into the conversation that may be a message. */
  readonly said: string | null;
  /** The line as it is, where it puts something into the program's own queue. */
  readonly queued: string | null;
  /** The line as it is, where it is part of a tool call; what an agent fetches comes as a tool's result. */
  readonly tool: { readonly kind: "call" | "result"; readonly text: string } | null;
  readonly sign: Sign | null;
}

export type Sign =
  /** The model answers. Lines of one answer share its name. */
  | { readonly kind: "answer"; readonly answer: string }
  /** The model's API failed, and the turn is over. */
  | { readonly kind: "failure"; readonly error: string }
  /** The user says something. `replaces` is an earlier prompt that the user went back to, to say this instead. */
  | { readonly kind: "prompt"; readonly replaces?: string }
  /** The user took back so many of the last turns. */
  | { readonly kind: "rollback"; readonly turns: number };

/** A cheap test that is true for every line that may name a message. */
export const mayNameMessage = (text: string): boolean => text.includes("MSG_");

/** A line of JSON; null: half written, or not JSON. */
export function parsedLine<Line extends object>(text: string): Line | null {
  if (!text.startsWith("{")) return null;
  try {
    return JSON.parse(text) as Line;
  } catch {
    return null;
  }
}
