/**
 * Claude Code's transcript of a session: a user's line is written before the model is asked, the answer's lines
 * behind it.
 */
import { mayNameMessage, parsedLine, type LineReader, type Sign, type TranscriptLine } from "../transcripts/port.ts";

interface Block {
  readonly type?: string;
  readonly text?: string;
}

interface Line {
  readonly type?: string;
  readonly operation?: string;
  readonly uuid?: string;
  readonly parentUuid?: string | null;
  readonly isSidechain?: boolean;
  readonly isApiErrorMessage?: boolean;
  readonly attachment?: { readonly type?: string };
  readonly message?: { readonly id?: string; readonly model?: string; readonly content?: string | readonly Block[] };
}

/** Lines of subagents are left out: the main thread does not read them. */
export function claudeLines(): LineReader {
  let unnamed = 0;
  const replaced = replacedPrompts();
  return (text) => {
    const line = parsedLine<Line>(text);
    return line === null || line.isSidechain
      ? null
      : lineOf(line, text, { nameAnswer: () => `unnamed ${++unnamed}`, replaced });
  };
}

interface Reading {
  readonly nameAnswer: () => string;
  readonly replaced: (prompt: Line) => string | undefined;
}

/** So many prompts are remembered. A user goes back to one that still shows. */
const mostPrompts = 1_000;

/**
 * A prompt that follows the same line as an earlier one replaces that one. That a line is not the last one
 * proves nothing: results and attachments of calls that ran side by side are written as branches.
 */
function replacedPrompts(): Reading["replaced"] {
  const promptAfter = new Map<string | null, string>();
  return ({ uuid, parentUuid }) => {
    if (uuid === undefined || parentUuid === undefined) return undefined;
    const earlier = promptAfter.get(parentUuid);
    promptAfter.delete(parentUuid);
    promptAfter.set(parentUuid, uuid);
    if (promptAfter.size > mostPrompts) promptAfter.delete(promptAfter.keys().next().value!);
    return earlier;
  };
}

function lineOf(line: Line, text: string, reading: Reading): TranscriptLine {
  const named = mayNameMessage(text) ? text : null;
  return {
    id: line.uuid ?? null,
    follows: line.parentUuid ?? null,
    said: isSaid(line) ? named : null,
    queued: line.type === "queue-operation" && line.operation === "enqueue" ? named : null,
    tool: toolIn(line, text),
    sign: signOf(line, reading),
  };
}

/** Not what waits in a queue; not what a hook printed, which is a note about the hook. */
function isSaid({ type, attachment }: Line): boolean {
  if (type === "attachment")
    return attachment?.type === "hook_additional_context" || attachment?.type === "queued_command";
  return type === "user" || type === "api-request-blob";
}

function toolIn(line: Line, text: string): TranscriptLine["tool"] {
  if (line.type === "assistant" && has("tool_use", line)) return { kind: "call", text };
  return line.type === "user" && has("tool_result", line) ? { kind: "result", text } : null;
}

function signOf(line: Line, { nameAnswer, replaced }: Reading): Sign | null {
  const { type, message, isApiErrorMessage } = line;
  if (type === "user" && !has("tool_result", line)) {
    const replaces = replaced(line);
    return { kind: "prompt", ...(replaces !== undefined && { replaces }) };
  }
  if (type !== "assistant") return null;
  if (isApiErrorMessage) return { kind: "failure", error: errorIn(message?.content) };
  // Words of the program itself, in the place of an answer.
  return message?.model === "<synthetic>" ? null : { kind: "answer", answer: message?.id ?? nameAnswer() };
}

const has = (block: string, { message }: Line): boolean =>
  Array.isArray(message?.content) && (message.content as readonly Block[]).some(({ type }) => type === block);

/** The first sentence: what follows is advice to the user. */
function errorIn(content: NonNullable<Line["message"]>["content"]): string {
  const words = typeof content === "string" ? content : (content ?? []).map(({ text = "" }) => text).join(" ");
  return (
    words
      .replace("API Error: ", "")
      .split(/\. (?=[A-Z])/)[0]!
      .replace(/\.$/, "")
      .trim() || "an API error"
  );
}
