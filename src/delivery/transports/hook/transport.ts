/**
 * A session whose hooks call us. In a turn they ask for the mail themselves, which is the pull lane; this is the
 * other half: waking an idle session without a keystroke, by ringing the waiter that its hooks have left behind.
 */
import { constants, existsSync, openSync, closeSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Agent, AgentState, Endpoint } from "../../../model/agent.ts";
import type { Outcome } from "../../../model/delivery.ts";
import { envelope, type Envelope } from "../../../model/envelope.ts";
import type { Message } from "../../../model/message.ts";
import { renewWatcher } from "../../../os/watchFolder.ts";
import type { Readiness, Transport } from "../port.ts";
import { foundInRecord, type SessionRecord } from "../sessionRecord.ts";
import { endpointKind } from "../endpointKind.ts";

export interface HookTransportParts extends SessionRecord {
  /** The folder of FIFOs, one per session. */
  readonly bells: string;
  /** What the program says that it does; null: it says nothing. */
  readonly reportedState: (agent: Agent) => { readonly state: AgentState; readonly forMs?: number } | null;
  readonly watchState: (agent: Agent, changed: () => void) => Disposable;
  /** How an agent runs `tieline`. */
  readonly command?: (agent: Agent) => string;
}

/** Claude Code cuts what a waiting hook says at 100,000 characters. */
const inlineLimit = 90_000;
/** No event announces that a waiter has exited. */
const endingMs = 100;

/** Of a session whose hooks have called us. */
export const hookKind = endpointKind("hook", { sessionId: z.string().exactOptional() });
export const hookEndpoint = (sessionId: string): Endpoint => hookKind.make({ sessionId });

export function hookTransport({ bells, reportedState, watchState, command, ...record }: HookTransportParts): Transport {
  return {
    name: hookKind.transport,
    traits: {
      bestProof: "transcript",
      authority: "peer",
      rank: { atTurnEnd: 80, inTurn: 60, fromAgent: 40 },
      fetched: true,
    },
    envelopeOf: envelopeFor,
    earliest: (agent) => (hooksReach(agent, bells) ? "interrupt" : null),

    async ready({ agent }): Promise<Readiness> {
      if (!hooksReach(agent, bells)) return { kind: "gone", detail: `no hook of ${agent.name} calls Tieline` };
      const bell = bellOf(bells, agent);
      const reported = reportedState(agent);
      // The waiter of a session that was killed outlives it, and would lose the mail.
      if (reported === null) return { kind: "gone", detail: `${agent.name} does not say that it lives` };
      if (reported.state !== "idle") {
        const hold = { reason: "busy", detail: `${agent.name} is ${reported.state}; its hooks ask for mail` } as const;
        return { kind: "held", hold, ...(reported.forMs !== undefined && { againInMs: reported.forMs }) };
      }
      if (bell === null || !isHeard(bell)) return { kind: "gone", detail: "no hook of the session waits for mail" };
      // A waiter that has taken mail still holds its bell until it ends, but reads it no more.
      if (!existsSync(`${bell}.pid`))
        return {
          kind: "held",
          hold: { reason: "busy", detail: `a hook brings ${agent.name} earlier mail` },
          againInMs: endingMs,
        };
      return { kind: "ready" };
    },

    async deliver({ agent, message, delivery }, signal): Promise<Outcome> {
      const bell = bellOf(bells, agent);
      if (bell === null) return { kind: "gone", detail: "the session has exited" };
      const name = `${agent.sessionId}.mail.${delivery.id}`;
      const file = join(bells, name);
      writeFileSync(file, envelopeFor(message, agent).text, { mode: 0o600 });
      if (!ring(bell, name)) {
        rmSync(file, { force: true });
        return { kind: "gone", detail: "no hook of the session waits for mail" };
      }
      await taken(file, bells, signal);
      return takeBack(file)
        ? { kind: "held", hold: { reason: "busy", detail: "the session's waiting hook did not answer" } }
        : { kind: "delivered", proof: "submitted", detail: "a hook of the session took it" };
    },

    inspect: ({ agent, message }) => foundInRecord(agent, message, "submitted", record),

    watch(agent, _endpoint, changed) {
      const state = watchState(agent, changed);
      const waiters = renewWatcher(undefined, bells, changed);
      return {
        [Symbol.dispose]() {
          state[Symbol.dispose]();
          waiters?.close();
        },
      };
    },
  };

  function envelopeFor(message: Message, agent: Agent): Envelope {
    return envelope(message, { multiline: true, inlineLimit, command: command?.(agent) }, "peer");
  }
}

const bellOf = (bells: string, { sessionId }: Agent): string | null =>
  sessionId !== null && /^[\w-]+$/.test(sessionId) ? join(bells, sessionId) : null;

/** Whether the session's hooks reach us: it was started with them, they have called, or one of them waits for mail. */
export function hooksReach(agent: Agent, bells: string): boolean {
  const bell = bellOf(bells, agent);
  return (
    agent.launch?.["openToPeers"] === true ||
    (bell !== null && existsSync(bell)) ||
    agent.endpoints.filter(hookKind.is).some(({ locator }) => locator.sessionId === agent.sessionId)
  );
}

/** A FIFO can be opened for writing only while it is read. */
function isHeard(bell: string): boolean {
  const fd = openBell(bell);
  if (fd !== null) closeSync(fd);
  return fd !== null;
}

function ring(bell: string, word: string): boolean {
  const fd = openBell(bell);
  if (fd === null) return false;
  try {
    writeSync(fd, `${word}\n`);
    return true;
  } catch (thrown) {
    // It ended since the bell was opened.
    if ((thrown as NodeJS.ErrnoException).code === "EPIPE") return false;
    throw thrown;
  } finally {
    closeSync(fd);
  }
}

function openBell(bell: string): number | null {
  try {
    return openSync(bell, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (thrown) {
    if (["ENXIO", "ENOENT"].includes((thrown as NodeJS.ErrnoException).code ?? "")) return null;
    throw thrown;
  }
}

/** The waiter moves the file away before it reads it. Ends also when the attempt is called off. */
async function taken(file: string, folder: string, signal: AbortSignal): Promise<void> {
  const gone = Promise.withResolvers<void>();
  const check = (): void => {
    if (signal.aborted || !existsSync(file)) gone.resolve();
  };
  // Where the system cannot watch the folder, it is checked now and then.
  const watcher = renewWatcher(undefined, folder, check);
  const sweep = setInterval(check, watcher ? 1_000 : 20);
  signal.addEventListener("abort", check, { once: true });
  check();
  await gone.promise;
  clearInterval(sweep);
  watcher?.close();
}

/** The process that moves the file has it: the waiter, or the daemon. */
function takeBack(file: string): boolean {
  try {
    renameSync(file, `${file}.unread`);
    rmSync(`${file}.unread`);
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw thrown;
  }
}
