/** Codex's own record of a thread: what was given to the model, line by line, in the order in which it was given. */
import { dirname, join } from "node:path";
import type { Message } from "../../model/message.ts";
import { entriesIn } from "../../os/entries.ts";
import { systemFiles, type GrowingFiles } from "../../os/growingFiles.ts";
import { systemTimers, type Timers } from "../../os/timers.ts";
import { mayNameMessage, parsedLine, type LineReader, type Sign, type TranscriptLine } from "../transcripts/port.ts";
import { createBell, type Watcher } from "../../os/watchFolder.ts";

type Recordable = Pick<Message, "id" | "tag">;

interface Line {
  readonly type?: string;
  readonly payload?: {
    readonly type?: string;
    readonly role?: string;
    readonly call_id?: string;
    readonly item?: { readonly type?: string };
    readonly error?: { readonly message?: string } | null;
    readonly num_turns?: number;
  };
}

const isToolOutput = (type = ""): boolean => type.endsWith("_call_output");
const isToolCall = (type = ""): boolean => type.endsWith("_call");

/**
 * The message's first line in something that the model is given, or our id on what the user said. Items of an answer
 * do not name it, so answers are counted: one ends when its use of tokens is written down, or a tool's result, or
 * the turn.
 */
export function rolloutLines(): LineReader {
  let answers = 0;
  let answering = false;
  return (text) => {
    const line = parsedLine<Line>(text);
    if (line === null) return null;
    const sign = signOf(line);
    if (sign === "answer" && !answering) answers++;
    answering = !endsAnswer(line) && (answering || sign === "answer");
    return {
      id: null,
      said: isSaid(line) && (mayNameMessage(text) || text.includes('"client_id"')) ? text : null,
      queued: null,
      tool: toolIn(line, text),
      sign: sign === "answer" ? { kind: "answer", answer: String(answers) } : sign,
    };
  };
}

function isSaid({ type, payload }: Line): boolean {
  if (type === "event_msg") return payload?.type === "item_completed" && payload.item?.type === "UserMessage";
  if (type !== "response_item") return false;
  return isToolOutput(payload?.type) || (payload?.type === "message" && payload.role !== "assistant");
}

function toolIn({ type, payload }: Line, text: string): TranscriptLine["tool"] {
  if (type !== "response_item") return null;
  if (isToolCall(payload?.type)) return { kind: "call", text };
  return isToolOutput(payload?.type) ? { kind: "result", text } : null;
}

/** A count of tokens is no sign: it is also written behind a tool's result, for the answer before. */
function signOf({ type, payload }: Line): Sign | "answer" | null {
  if (type === "token_usage_record") return "answer";
  if (type === "response_item") return isAnswer(payload?.type, payload?.role) ? "answer" : null;
  if (type !== "event_msg") return null;
  switch (payload?.type) {
    case "task_started":
      return { kind: "prompt" };
    case "task_complete":
      return payload.error ? { kind: "failure", error: errorIn(payload.error.message) } : null;
    case "thread_rolled_back":
      return { kind: "rollback", turns: payload.num_turns ?? 0 };
    default:
      return null;
  }
}

const isAnswer = (type = "", role = ""): boolean =>
  type === "message" ? role === "assistant" : type === "reasoning" || isToolCall(type);

function endsAnswer({ type, payload }: Line): boolean {
  if (type === "response_item") return isToolOutput(payload?.type);
  return (
    type === "token_usage_record" ||
    (type === "event_msg" && ["task_started", "task_complete", "turn_aborted"].includes(payload?.type ?? ""))
  );
}

/** The address of the request does not help the reader of a receipt. */
const errorIn = (message = "an API error"): string =>
  message
    .replace(/, url: \S+/, "")
    .replace(/\.$/, "")
    .trim();

/** Where a thread is, or will be, written down. Its id tells the time of its birth, the folders are named by day. */
export function findRollout(codexHome: string, threadId: string): string | null {
  const bornAt = Number.parseInt(threadId.replaceAll("-", "").slice(0, 12), 16);
  if (!Number.isSafeInteger(bornAt)) return null;
  const dayMs = 86_400_000;
  for (const at of [bornAt, bornAt - dayMs, bornAt + dayMs]) {
    const folder = join(codexHome, "sessions", ...new Date(at).toISOString().slice(0, 10).split("-"));
    const name = entriesIn(folder).find((one) => one.endsWith(`-${threadId}.jsonl`));
    if (name !== undefined) return join(folder, name);
  }
  return null;
}

/** Where Codex keeps its threads. A file elsewhere proves nothing. */
export const rolloutFolders = (codexHome: string): readonly string[] => [
  join(codexHome, "sessions"),
  join(codexHome, "archived_sessions"),
];

/** A thread's record, and the folders that it must be in. */
export interface Rollout {
  readonly path: string;
  readonly below: readonly string[];
}

/** What records are read with. */
export interface RolloutReading {
  readonly timers?: Timers;
  readonly files?: GrowingFiles;
}

/** How much is written already; what counts comes after it. */
export const lengthOf = ({ path }: Rollout, { files = systemFiles }: RolloutReading = {}): number => files.sizeOf(path);

export async function isRecorded(
  rollout: Rollout,
  message: Recordable,
  reading: RolloutReading = {},
): Promise<boolean> {
  for await (const { line } of linesFrom(rollout, 0, reading)) if (holds(line, message)) return true;
  return false;
}

function holds(text: string, { id, tag }: Recordable): boolean {
  if (!text.includes(`[${tag} from `) && !text.includes(`"client_id":"${id}"`)) return false;
  const line = parsedLine<Line>(text);
  return line !== null && isSaid(line);
}

/** A call that was refused a moment ago is in the last part of the record. */
const recentBytes = 8 << 20;

/** The first line is written with the first turn, so that at the beginning there is neither file nor folder. */
const missingFolderMs = 20;
const sweepMs = 500;

/** Resolves when the message is behind `offset`: true, or when the signal aborts: false. */
export async function untilRecorded(
  rollout: Rollout,
  offset: number,
  message: Recordable,
  signal: AbortSignal,
  reading: RolloutReading = {},
): Promise<boolean> {
  const { timers = systemTimers, files = systemFiles } = reading;
  const bell = createBell(signal, timers);
  let watcher: Watcher | undefined;
  let from = offset;
  try {
    for (;;) {
      watcher = files.renewWatcher(watcher, dirname(rollout.path), bell.ring);
      for await (const { line, end } of linesFrom(rollout, from, reading)) {
        from = end;
        if (holds(line, message)) return true;
      }
      if (signal.aborted) return false;
      await bell.wait(watcher ? sweepMs : missingFolderMs);
    }
  } finally {
    watcher?.close();
  }
}

/**
 * Whether the model has been asked again since a call of its was refused. All calls of one answer are written down
 * before the first result is, so a call that does not stand before that result belongs to a later answer.
 */
export async function hasReadRefusal(
  rollout: Rollout,
  refusedCall: string,
  call: string,
  reading: RolloutReading = {},
): Promise<boolean> {
  const from = Math.max(0, lengthOf(rollout, reading) - recentBytes);
  for await (const { line } of linesFrom(rollout, from, reading)) {
    if (!line.includes(refusedCall) && !line.includes(call)) continue;
    const { type, payload } = parsedLine<Line>(line) ?? {};
    if (type !== "response_item" || payload?.type === undefined) continue;
    if (isToolCall(payload.type) && payload.call_id === call) return false;
    if (isToolOutput(payload.type) && payload.call_id === refusedCall) return true;
  }
  return false;
}

/** Whole lines, and where to read on after the piece that they are in. A shorter file than before is another one. */
async function* linesFrom(
  { path, below }: Rollout,
  offset: number,
  { timers = systemTimers, files = systemFiles }: RolloutReading,
): AsyncIterable<{ readonly line: string; readonly end: number }> {
  for (let from = offset; ; await timers.nextTurn()) {
    const found = files.wholeLines(path, { below }, ({ size }) => (size < from ? 0 : from));
    if (found === null) return;
    from = found.end;
    for (const line of found.bytes.toString("utf8").split("\n")) yield { line, end: found.end };
    if (!found.more) return;
  }
}
