/** Codex's own record of a thread: what was given to the model, line by line, in the order in which it was given. */
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Message } from "../../model/message.ts";
import { entriesIn } from "../../os/entries.ts";
import { nextTurn } from "../../os/nextTurn.ts";
import { wholeLines } from "../../os/wholeLines.ts";
import { createBell, renewWatcher, type Watcher } from "../../workspace/watching.ts";

type Recordable = Pick<Message, "id" | "tag">;

interface Line {
  readonly type?: string;
  readonly payload?: {
    readonly type?: string;
    readonly role?: string;
    readonly call_id?: string;
    readonly item?: { readonly type?: string; readonly client_id?: string };
  };
}

const toolOutputs: ReadonlySet<string> = new Set(["function_call_output", "custom_tool_call_output"]);
const toolCalls: ReadonlySet<string> = new Set(["function_call", "custom_tool_call"]);

/** The message's first line in something that the model is given, or our id on what the user said. */
export function provesGiven(line: string, { id, tag }: Recordable): boolean {
  const named = line.includes(`[${tag} from `);
  if (!named && !line.includes(id)) return false;
  const { type, payload } = parsed(line);
  if (type === "event_msg") return payload?.type === "item_completed" && payload.item?.type === "UserMessage" && payload.item.client_id === id;
  if (!named || type !== "response_item") return false;
  return toolOutputs.has(payload?.type ?? "") || (payload?.type === "message" && payload.role !== "assistant");
}

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
export const rolloutFolders = (codexHome: string): readonly string[] => [join(codexHome, "sessions"), join(codexHome, "archived_sessions")];

/** A thread's record, and the folders that it must be in. */
export interface Rollout {
  readonly path: string;
  readonly below: readonly string[];
}

/** How much is written already; what counts comes after it. */
export const lengthOf = ({ path }: Rollout): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

export async function isRecorded(rollout: Rollout, message: Recordable): Promise<boolean> {
  for await (const { line } of linesFrom(rollout, 0)) if (provesGiven(line, message)) return true;
  return false;
}

/** A call that was refused a moment ago is in the last part of the record. */
const recentBytes = 8 << 20;

/** The first line is written with the first turn, so that at the beginning there is neither file nor folder. */
const missingFolderMs = 20;
const sweepMs = 500;

/** Resolves when the message stands behind `offset`: true, or when the signal aborts: false. */
export async function untilRecorded(rollout: Rollout, offset: number, message: Recordable, signal: AbortSignal): Promise<boolean> {
  const bell = createBell(signal);
  let watcher: Watcher | undefined;
  let from = offset;
  try {
    for (;;) {
      watcher = renewWatcher(watcher, dirname(rollout.path), bell.ring);
      for await (const { line, end } of linesFrom(rollout, from)) {
        from = end;
        if (provesGiven(line, message)) return true;
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
export async function hasReadRefusal(rollout: Rollout, refusedCall: string, call: string): Promise<boolean> {
  const from = Math.max(0, lengthOf(rollout) - recentBytes);
  for await (const { line } of linesFrom(rollout, from)) {
    if (!line.includes(refusedCall) && !line.includes(call)) continue;
    const { type, payload } = parsed(line);
    if (type !== "response_item" || payload?.type === undefined) continue;
    if (toolCalls.has(payload.type) && payload.call_id === call) return false;
    if (toolOutputs.has(payload.type) && payload.call_id === refusedCall) return true;
  }
  return false;
}

/** Whole lines, and where to read on after the piece that they are in. A shorter file than before is another one. */
async function* linesFrom({ path, below }: Rollout, offset: number): AsyncIterable<{ readonly line: string; readonly end: number }> {
  for (let from = offset; ; await nextTurn()) {
    const found = wholeLines(path, { below }, ({ size }) => (size < from ? 0 : from));
    if (found === null) return;
    from = found.end;
    for (const line of found.bytes.toString("utf8").split("\n")) yield { line, end: found.end };
    if (!found.more) return;
  }
}

function parsed(line: string): Line {
  try {
    return JSON.parse(line) as Line;
  } catch {
    // Not a line that we understand: it proves nothing.
    return {};
  }
}
