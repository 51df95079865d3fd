/**
 * What a program without a screen says at the end of a turn is for the user, who has no other place to read it. It
 * prints one JSON object per line; the last text of each turn is on its own line.
 */
import { dirname } from "node:path";
import type { Documents } from "../../../agents/directory/documents/port.ts";
import type { Spine } from "../../../events/spine.ts";
import type { Mailbox } from "../../../mailbox/port.ts";
import { runForever } from "../../../os/runForever.ts";
import { wholeLines } from "../../../os/wholeLines.ts";
import { isLive, userId, userName, type Agent } from "../../../model/agent.ts";
import { asTielineError } from "../../../model/errors.ts";
import type { AgentId } from "../../../model/ids.ts";
import type { Router } from "../../../routing/router.ts";
import { streamsIn } from "../../../delivery/transports/streams.ts";
import { createBell, renewWatcher, type Watcher } from "../../../os/watchFolder.ts";
import { systemTimers, type Timers } from "../../../os/timers.ts";

export interface LeadTextParts {
  readonly agents: () => readonly Agent[];
  /** The home, below which the streams lie. */
  readonly root: string;
  readonly mailbox: Pick<Mailbox, "message">;
  readonly router: Pick<Router, "send">;
  readonly documents: Documents;
  readonly events: Pick<Spine, "onEvent">;
  readonly report: (context: string, fault: unknown) => void;
  readonly signal: AbortSignal;
  readonly timers?: Timers;
  readonly sweepMs?: number;
}

interface Position {
  readonly path: string;
  readonly offset: number;
  /** The message that the running turn answers. */
  readonly answers: string | null;
}

/** Runs until the signal aborts. Never rejects. */
export async function relayLeadText(parts: LeadTextParts): Promise<void> {
  const { signal, report, timers = systemTimers, sweepMs = 5_000 } = parts;
  const bell = createBell(signal, timers);
  const stopListening = parts.events.onEvent(({ type }) => type.startsWith("agent.") && bell.ring());
  const watchers = new Map<string, Watcher | undefined>();
  const step = async (): Promise<void> => {
    for (const agent of parts.agents()) {
      const path = outputOf(agent, parts.root);
      if (path === null) continue;
      if (isLive(agent))
        watchers.set(dirname(path), renewWatcher(watchers.get(dirname(path)), dirname(path), bell.ring));
      await readOn(agent, path, parts).catch((fault: unknown) =>
        report(`what ${agent.team}:${agent.name} says`, asTielineError(fault)),
      );
    }
    await bell.wait(sweepMs);
  };
  await runForever("read what leads say", signal, step, report, { timers });
  for (const watcher of watchers.values()) watcher?.close();
  stopListening();
}

/** null: it has a screen. */
function outputOf({ provider, sessionId }: Agent, root: string): string | null {
  return provider === "claude-headless" && sessionId !== null ? streamsIn(root, sessionId).output : null;
}

/** What was said counts as read when it is stored; the same line again is the same message. */
async function readOn(agent: Agent, path: string, parts: LeadTextParts): Promise<void> {
  const known = positionOf(agent.id, path, parts.documents);
  let position = known;
  try {
    for await (const { line, end } of linesFrom(path, parts.root, known.offset, parts.timers ?? systemTimers)) {
      const said = parse(line);
      const answers = begins(said) ?? position.answers;
      const isEnd = said?.["type"] === "result";
      if (isEnd && typeof said["result"] === "string" && said["result"].trim() !== "")
        await tell(agent, said["result"], answers, `said ${path}:${end}`, parts);
      position = { path, offset: end, answers: isEnd ? null : answers };
    }
  } finally {
    if (position !== known) parts.documents.put("said", agent.id, position);
  }
}

/** As the answer to what the user wrote, if that is what the turn was about. */
async function tell(
  { id, name, team }: Agent,
  body: string,
  answers: string | null,
  idempotencyKey: string,
  { mailbox, router }: LeadTextParts,
): Promise<void> {
  const question = answers === null ? null : mailbox.message(answers);
  const draft = {
    to: userName,
    body,
    idempotencyKey,
    ...(question?.from.id === userId && { inReplyTo: question.id }),
  };
  await router.send(draft, { id, name, team, knownBy: "stream" });
}

function positionOf(agent: AgentId, path: string, documents: Documents): Position {
  const known = documents.all("said").find(({ key }) => key === agent)?.value as Position | undefined;
  return known?.path === path ? known : { path, offset: 0, answers: null };
}

/** A message that the program took up is played back, with the id that we gave it. */
function begins(said: Readonly<Record<string, unknown>> | null): string | null {
  return said?.["type"] === "user" && said["isReplay"] === true && typeof said["uuid"] === "string"
    ? said["uuid"]
    : null;
}

function parse(line: string): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(line) as Readonly<Record<string, unknown>>;
  } catch {
    // Not every line that a program prints is its protocol.
    return null;
  }
}

/** Whole lines only, each with the offset behind it. */
async function* linesFrom(
  path: string,
  below: string,
  offset: number,
  timers: Pick<Timers, "nextTurn">,
): AsyncIterable<{ readonly line: string; readonly end: number }> {
  for (let start = offset; ; await timers.nextTurn()) {
    const found = wholeLines(path, { below }, () => start);
    if (found === null) return;
    const { bytes } = found;
    for (let from = 0, end = bytes.indexOf(0x0a); end >= 0; from = end + 1, end = bytes.indexOf(0x0a, from)) {
      yield { line: bytes.toString("utf8", from, end), end: start + end + 1 };
    }
    start = found.end;
    if (!found.more) return;
  }
}
