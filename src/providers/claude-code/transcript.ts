/** Which line of a Claude Code transcript proves that the model was given a message. */

interface Line {
  readonly type?: string;
  readonly operation?: string;
  readonly isSidechain?: boolean;
  readonly attachment?: { readonly type?: string };
}

/**
 * The message's tag in something that belongs to the conversation. Not in a queue, where it may wait; not in what a
 * hook printed, which is a note about the hook; not in a subagent's part.
 */
export function provesGiven(line: string, tag: string): boolean {
  if (!line.includes(tag)) return false;
  const { type, isSidechain, attachment } = parsed(line);
  if (isSidechain) return false;
  if (type === "attachment") return attachment?.type === "hook_additional_context" || attachment?.type === "queued_command";
  return type === "user" || type === "assistant" || type === "api-request-blob";
}

/** The message waits in the session's own queue, or has waited there. */
export function provesQueued(line: string, tag: string): boolean {
  if (!line.includes(tag)) return false;
  const { type, operation } = parsed(line);
  return type === "queue-operation" && operation === "enqueue";
}

function parsed(line: string): Line {
  try {
    return JSON.parse(line) as Line;
  } catch {
    // Half written, or not ours to understand: it proves nothing.
    return {};
  }
}
