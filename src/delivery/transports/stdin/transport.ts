/**
 * A program without a terminal reads its mail on its standard input, a FIFO: a line for a message of one line, a frame
 * for a longer one. The FIFO keeps what the program has not read yet, so mail can be written while it works.
 *
 * A message that the program stopped reading halfway leaves a mark beside the FIFO, so that the next one begins on a
 * line of its own, also after a crash.
 */
import { closeSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Endpoint } from "../../../model/agent.ts";
import type { Outcome } from "../../../model/delivery.ts";
import { envelope } from "../../../model/envelope.ts";
import type { Message } from "../../../model/message.ts";
import { systemTimers, type Timers } from "../../../os/timers.ts";
import { renewWatcher } from "../../../os/watchFolder.ts";
import { lowestRank, type Transport } from "../port.ts";
import { atomicBytes, hasReader, openInput, stdinKind, writeInput } from "../streams.ts";

/** More than any body with its frame: nothing is announced instead of given. */
const inlineLimit = 4 << 20;

export function standardInputTransport({
  timers = systemTimers,
}: { readonly timers?: Pick<Timers, "pause"> } = {}): Transport {
  return {
    name: stdinKind.transport,
    traits: { bestProof: "written", authority: "user", quiet: true, rank: lowestRank, input: "stream" },

    async ready({ agent, endpoint }) {
      if (hasReader(inputOf(endpoint))) return { kind: "ready" };
      if (agent.state !== "starting") return { kind: "gone", detail: `${agent.name} does not read its input` };
      return {
        kind: "held",
        hold: { reason: "starting", detail: `${agent.name} does not read its input yet` },
        againInMs: 500,
      };
    },

    async deliver({ agent, message, endpoint }, signal): Promise<Outcome> {
      const input = inputOf(endpoint);
      const fd = openInput(input);
      if (fd === null) return { kind: "gone", detail: `${agent.name} does not read its input` };
      try {
        return await write(fd, message, cutMarkOf(input), signal);
      } finally {
        closeSync(fd);
      }
    },

    async inspect() {
      return { kind: "unknown", detail: "a program's input does not tell what went into it" };
    },

    watch(_agent, endpoint, changed) {
      const watcher = renewWatcher(undefined, dirname(inputOf(endpoint)), changed);
      return { [Symbol.dispose]: () => watcher?.close() };
    },
  };

  async function write(fd: number, message: Message, cutMark: string, signal: AbortSignal): Promise<Outcome> {
    const wasCut = existsSync(cutMark);
    const bytes = Buffer.from(`${wasCut ? "\n" : ""}${textFor(message)}\n`);
    if (bytes.length > atomicBytes) writeFileSync(cutMark, message.tag, { mode: 0o600 });
    const written = await writeInput(fd, bytes, { timers, signal });
    if (written === bytes.length || (written === 0 && !wasCut)) rmSync(cutMark, { force: true });
    if (written === bytes.length) return { kind: "delivered", proof: "written" };
    if (written === 0) return { kind: "held", hold: { reason: "busy", detail: "its input is full; it does not read" } };
    return { kind: "unknown", detail: `its input took ${written} of ${bytes.length} bytes, then it read no further` };
  }
}

/** A backslash at the end would join the line with the next one. */
export function textFor(message: Message): string {
  const multiline = message.body.trimEnd().includes("\n") || message.body.endsWith("\\");
  return envelope(
    { ...message, body: multiline ? message.body : message.body.trimEnd() },
    { multiline, inlineLimit },
    "user",
  ).text;
}

const inputOf = (endpoint: Endpoint): string => stdinKind.locatorOf(endpoint).input;
const cutMarkOf = (input: string): string => `${input}.cut`;
