/** How a program and its hooks speak to each other. Claude Code's is the common one, and names the events. */
export interface HookDialect {
  /** The program's own words for events, and the common ones. */
  readonly events: Readonly<Record<string, string>>;
  /** A hook's text stands above the user's own words or among them, so that its header has to say that no user wrote it. */
  readonly besideTheUser: boolean;
  /** A call that is about to be made may be the next chance to say something. */
  readonly speaksBeforeTools: boolean;
  /** A text as it has to be written for the model to read what was meant. */
  written(text: string): string;
  /** The answer that stops what the program is about to do. */
  refusal(event: string, reason: string): HookAnswer;
  /** The answer by which the model reads a text with what it reads next anyway. */
  context(event: string, text: string): HookAnswer;
}

/** The JSON that a hook prints. */
export type HookAnswer = Readonly<Record<string, unknown>>;

export const commonDialect: HookDialect = {
  events: {},
  besideTheUser: false,
  speaksBeforeTools: false,
  written: (text) => text,
  refusal: (event, reason) => ({ hookSpecificOutput: { hookEventName: event, permissionDecision: "deny", permissionDecisionReason: reason } }),
  context: (event, text) => ({ hookSpecificOutput: { hookEventName: event, additionalContext: text } }),
};
