/** What agents write into logs, or print without a terminal: addressed text in it is sent. */
import { existsSync, writeFileSync } from "node:fs";
import type { Documents } from "../agents/directory/documents/port.ts";
import type { Agent } from "../model/agent.ts";
import { asTielineError } from "../model/errors.ts";
import { systemClock, type Clock } from "../model/ids.ts";
import type { Profile } from "../model/profile.ts";
import { runForever } from "../os/runForever.ts";
import { systemTimers, type Timers } from "../os/timers.ts";
import { userOrRoot } from "../os/untrustedFile.ts";
import { outputLimit, partOf, readMarkOf } from "../delivery/transports/streams.ts";
import type { LogPosition } from "./logs/fileTail.ts";
import { ownersOf } from "../os/openDirectory.ts";
import { tailLogs } from "./logs/tail.ts";
import type { Submissions } from "./submissions.ts";

/** Where an agent's words can be read. */
export interface AgentOutput {
  /** A path, or a pattern that several files match. */
  readonly pattern: string;
  /** What a program printed, and not a log with entries. */
  readonly plain: boolean;
}

/** What its profile names, and what a program without a terminal prints to, which its launch data name. */
export function outputsOf({ launch }: Agent, profile: Profile | null): readonly AgentOutput[] {
  const logs = (profile?.logs ?? []).map((pattern) => ({ pattern, plain: false }));
  const printed = launch?.["output"];
  return typeof printed === "string" ? [...logs, { pattern: printed, plain: true }] : logs;
}

export interface OutputParts {
  readonly submissions: Submissions;
  readonly documents: Documents;
  /** Something was not sent, and its writer has to know. */
  readonly tell: (text: string) => void;
  readonly fault: (fault: unknown) => void;
  /** Everything that was there is sent. */
  readonly idle: () => void;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  readonly timers?: Timers;
}

/** Runs until the signal aborts. Never rejects. */
export function readOutput(agent: Agent, output: AgentOutput, parts: OutputParts): Promise<void> {
  return runForever(
    `what ${agent.team}:${agent.name} writes`,
    parts.signal,
    () => follow(agent, output, parts),
    (_, fault) => parts.fault(fault),
    parts.timers && { timers: parts.timers },
  );
}

function follow(agent: Agent, { pattern: path, plain }: AgentOutput, parts: OutputParts): Promise<void> {
  const { submissions, documents, tell, fault, idle, signal, clock = systemClock, timers = systemTimers } = parts;
  if (!plain) forgetRemoved(agent, path, documents);
  const known = positionsOf(agent, documents);
  const { root, pattern } = splitPattern(path);
  const isInWorkspace = agent.workspace !== null && `${root}/`.startsWith(`${agent.workspace}/`);
  // What a log said before the agent was ours is not for us to send; what it said while we were away is.
  const isNew = !documents.all("logs").some(({ key }) => key === `${agent.id}:${path}`);
  documents.put("logs", `${agent.id}:${path}`, { since: clock() });
  return tailLogs({
    root,
    pattern,
    plain,
    partOf,
    rules: {
      owners: [...userOrRoot(), ...ownersOf(agent.workspace)],
      ...(isInWorkspace && { below: agent.workspace! }),
    },
    signal,
    clock,
    timers,
    unknownFiles: isNew && !plain ? "skip" : "read",
    offsets: {
      get: (file) => known.get(file),
      set: (file, position) => {
        known.set(file, position);
        documents.put("log", `${agent.id}:${file}`, position);
        if (plain) markRead(file, position.offset, fault);
      },
    },
    onMessage: ({ key, ...message }) => submissions.fromText(agent, message, key),
    onIdle: idle,
    onRejected: ({ reason, to, excerpt }, file) =>
      tell(`a message${to === "" ? "" : ` to ${to}`} in ${file} was not sent (${reason}): ${excerpt}`),
    onFault: fault,
  });
}

/** Logs come and go; how far one was read that is gone is not kept. */
function forgetRemoved({ id }: Agent, pattern: string, documents: Documents): void {
  const logs = new Bun.Glob(pattern);
  for (const { key } of documents.all("log")) {
    const file = key.startsWith(`${id}:`) ? key.slice(id.length + 1) : null;
    if (file !== null && logs.match(file) && !existsSync(file)) documents.remove("log", key);
  }
}

function positionsOf({ id }: Agent, documents: Documents): Map<string, LogPosition> {
  const own = documents.all("log").filter(({ key }) => key.startsWith(`${id}:`));
  return new Map(own.map(({ key, value }) => [key.slice(id.length + 1), value as LogPosition]));
}

/** The writer of a long output cuts off what has been read. */
function markRead(stream: string, offset: number, fault: OutputParts["fault"]): void {
  if (offset < outputLimit / 2) return;
  try {
    writeFileSync(readMarkOf(stream), `${offset}\n`, { mode: 0o600 });
  } catch (thrown) {
    fault(asTielineError(thrown));
  }
}

/** The directory that a pattern cannot leave, and the pattern below it. */
function splitPattern(path: string): { root: string; pattern: string } {
  const parts = path.split("/");
  const wild = parts.findIndex((part) => /[*?[{]/.test(part));
  const at = wild < 0 ? parts.length - 1 : wild;
  return { root: parts.slice(0, at).join("/") || "/", pattern: parts.slice(at).join("/") };
}
