import type { Agent } from "../../model/agent.ts";

/** How a program and its hooks speak to each other. Claude Code's dialect is the common one, and names the events. */
export interface HookDialect {
  /** The common name of an event that the program calls by another. */
  commonName(event: string): string;
  /** The program's own name of an event. */
  ownName(event: string): string;
  /**
   * A hook's text is above the user's prompt or inside it, so its header has to say that no user wrote it.
   */
  readonly besideTheUser: boolean;
  /** A call that is about to be made may be the next chance to say something. */
  readonly speaksBeforeTools: boolean;
  /** The agent has a transport that gives it mail at idle as mail, where a hook's text would be part of the prompt. */
  takesMailAtIdle(agent: Agent): boolean;
  /** A text as it has to be written for the model to read what was meant. */
  written(text: string): string;
  /** Bytes of text that the program takes whole with an event, and in a refusal; what is longer it cuts. */
  contextLimit(event: string, takesAll: boolean): number;
  readonly refusalLimit: number;
  /** The answer that stops what the program is about to do. */
  refusal(event: string, reason: string): HookAnswer;
  /** The answer by which the model reads a text with what it reads next anyway. */
  context(event: string, text: string): HookAnswer;
}

/** The JSON that a hook prints. */
export type HookAnswer = Readonly<Record<string, unknown>>;

/**
 * Claude Code puts a longer context into a file, and shows its model the beginning. It cuts no reason, whatever its
 * length.
 */
const contextCharacters = 10_000;
const wholeLimit = 900_000;
/** Events at which the reason of a block is text for the model, and stops nothing. */
const takesReason: ReadonlySet<string> = new Set(["PostToolUse", "Stop"]);

export const commonDialect: HookDialect = {
  commonName: (event) => event,
  ownName: (event) => event,
  besideTheUser: false,
  speaksBeforeTools: false,
  takesMailAtIdle: () => false,
  contextLimit: (event) => (takesReason.has(event) ? wholeLimit : contextCharacters),
  refusalLimit: wholeLimit,
  written: (text) => text,
  refusal: (event, reason) => ({
    hookSpecificOutput: { hookEventName: event, permissionDecision: "deny", permissionDecisionReason: reason },
  }),
  context(event, text) {
    if (text.length > contextCharacters && takesReason.has(event)) return { decision: "block", reason: text };
    return { hookSpecificOutput: { hookEventName: event, additionalContext: text } };
  },
};
