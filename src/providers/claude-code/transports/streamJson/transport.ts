/**
 * Claude Code without a screen takes messages on its standard input, a FIFO, and tells on its output what became of
 * each. The model reads it as user. A line that is not whole ends the program, so a line that
 * was begun is always finished.
 */
import { closeSync } from "node:fs";
import { dirname } from "node:path";
import type { Agent } from "../../../../model/agent.ts";
import type { Outcome, TranscriptProof } from "../../../../model/delivery.ts";
import { envelope, type Envelope } from "../../../../model/envelope.ts";
import type { Message } from "../../../../model/message.ts";
import { systemFiles, type GrowingFiles } from "../../../../os/growingFiles.ts";
import { systemTimers, type Timers } from "../../../../os/timers.ts";
import { claudeFiles } from "../../terminal.ts";
import { holdOf, type ReadReportedState } from "../../../../agents/status/reportedState.ts";
import { createBell } from "../../../../os/watchFolder.ts";
import type { Transport } from "../../../../delivery/transports/port.ts";
import { hasReader, openInput, streamsIn, writeInput, type Streams } from "../../../../delivery/transports/streams.ts";
import { endpointKind } from "../../../../delivery/transports/endpointKind.ts";

export const streamJsonKind = endpointKind("stream-json", {});

export interface StreamJsonParts {
  /** The home, below which the streams lie. */
  readonly home: string;
  readonly reportedState: ReadReportedState;
  readonly watchState: (agent: Agent, changed: () => void) => Disposable;
  readonly proofOf: (agent: Agent, message: Message) => Promise<TranscriptProof | null>;
  readonly timers?: Timers;
  readonly files?: GrowingFiles;
}

const inlineLimit = 900_000;
/** The program says that it has begun with a message within this time, if it was idle. */
const beginMs = 3_000;
/**
 * Of changes that follow each other within a millisecond only the first is announced: what comes then is looked for.
 */
const sweepMs = 50;

export function streamJsonTransport({
  home,
  reportedState,
  watchState,
  proofOf,
  timers = systemTimers,
  files = systemFiles,
}: StreamJsonParts): Transport {
  return {
    name: streamJsonKind.transport,
    traits: {
      bestProof: "transcript",
      authority: "user",
      rank: { atTurnEnd: 10, inTurn: 10, fromAgent: 60 },
      input: "stream",
    },
    envelopeOf,
    earliest: () => "tool",

    async ready({ agent, message }) {
      const streams = streamsOf(agent);
      if (streams === null || !hasReader(streams.input))
        return { kind: "gone", detail: `${agent.name} does not read its input` };
      const reported = reportedState(agent);
      const hold = reported && holdOf(agent, reported);
      return hold === null || (message.when !== "turn" && hold.reason === "busy")
        ? { kind: "ready" }
        : { kind: "held", hold };
    },

    async deliver({ agent, message }, signal): Promise<Outcome> {
      const streams = streamsOf(agent);
      const fd = streams && openInput(streams.input);
      if (streams === null || fd === null) return { kind: "gone", detail: `${agent.name} does not read its input` };
      const from = files.sizeOf(streams.output);
      try {
        await writeInput(fd, Buffer.from(linesFor(message)), { timers });
      } finally {
        closeSync(fd);
      }
      const patience = AbortSignal.any([signal, timers.timeout(beginMs)]);
      const begun = await hasBegun(streams, message, from, { timers, files, signal: patience });
      return begun
        ? { kind: "delivered", proof: "submitted", detail: "the program says that it began with it" }
        : { kind: "delivered", proof: "written", detail: "the program has it in its queue" };
    },

    async inspect({ agent, message }): Promise<Outcome> {
      const trace = await proofOf(agent, message);
      if (trace === "answered") return { kind: "delivered", proof: "transcript" };
      return trace === "given"
        ? { kind: "delivered", proof: "submitted" }
        : { kind: "unknown", detail: "the session has not recorded it yet" };
    },

    watch: (agent, _endpoint, changed) => watchState(agent, changed),
  };

  function streamsOf({ sessionId }: Agent): Streams | null {
    return sessionId === null ? null : streamsIn(home, sessionId);
  }
}

const envelopeOf = (message: Message): Envelope =>
  envelope(message, { multiline: true, inlineLimit, escaped: claudeFiles }, "user");

/** An urgent message that may stop a running reply goes behind an interrupt. */
export function linesFor(message: Message): string {
  const { text } = envelopeOf(message);
  const interrupt = {
    type: "control_request",
    request_id: `interrupt-${message.id}`,
    request: { subtype: "interrupt" },
  };
  const user = {
    type: "user",
    message: { role: "user", content: text },
    uuid: message.id,
    priority: message.when === "turn" ? "later" : "next",
  };
  return [...(message.hard ? [interrupt] : []), user].map((line) => `${JSON.stringify(line)}\n`).join("");
}

interface Listening {
  readonly timers: Timers;
  readonly files: GrowingFiles;
  readonly signal: AbortSignal;
}

async function hasBegun(
  { output }: Streams,
  { id }: Message,
  from: number,
  { timers, files, signal }: Listening,
): Promise<boolean> {
  const bell = createBell(signal, timers);
  let read = from;
  const watcher = files.renewWatcher(undefined, dirname(output), bell.ring);
  try {
    for (;;) {
      // A file that is shorter than before was restarted.
      const lines = files.wholeLines(output, { below: dirname(output) }, ({ size }) => (size < read ? 0 : read));
      read = lines?.end ?? read;
      if (
        lines?.bytes
          .toString("utf8")
          .split("\n")
          .some((line) => tellsOfBeginning(line, id))
      )
        return true;
      if (signal.aborted) return false;
      await (lines?.more ? timers.nextTurn() : bell.wait(sweepMs));
    }
  } finally {
    watcher?.close();
  }
}

/** `started`, `completed` and the message itself, played back, are reports of the program. */
function tellsOfBeginning(line: string, id: string): boolean {
  if (!line.includes(id)) return false;
  return /"(started|completed)"/.test(line) || line.includes('"isReplay":true');
}
