/** Each fault of a simulated provider does what it says, and the real transport reports what it can know. */
import { describe, expect, test } from "bun:test";
import { hookEndpoint, hookTransport } from "../../../delivery/transports/hook/transport.ts";
import type { Attempt, Transport } from "../../../delivery/transports/port.ts";
import { queued } from "../../../mailbox/steps.ts";
import type { Agent, Endpoint } from "../../../model/agent.ts";
import type { TranscriptProof } from "../../../model/delivery.ts";
import { deliveryId } from "../../../model/ids.ts";
import { seal, type Message } from "../../../model/message.ts";
import { systemTimers, type Timers } from "../../../os/timers.ts";
import {
  claudeSocketEndpoint,
  claudeSocketTransport,
} from "../../../providers/claude-code/transports/socket/transport.ts";
import { CodexThreads, codexServerEndpoint } from "../../../providers/codex/threads.ts";
import { codexServerTransport } from "../../../providers/codex/transports/server/transport.ts";
import { OpencodeSessions, opencodeServerEndpoint } from "../../../providers/opencode/sessions.ts";
import { opencodeServerTransport } from "../../../providers/opencode/transports/server/transport.ts";
import { anAgent } from "../../agents.ts";
import { user } from "../../mailboxContract.ts";
import { SimulatedAppServer, type AppServerFault } from "./appServer.ts";
import { SimulatedWaiters, type WaiterFault } from "./hookWaiters.ts";
import { SimulatedInbox, type SocketFault } from "./inboxSocket.ts";
import { MemoryFiles } from "./memoryFiles.ts";
import { SimulatedOpencode, type OpencodeFault } from "./opencode.ts";

/** Pauses end at once; what is due is due in its order. */
const timers: Timers = { ...systemTimers, pause: () => systemTimers.nextTurn() };
const report = (): void => undefined;

interface Subject {
  readonly transport: Transport;
  readonly agent: Agent;
  readonly endpoint: Endpoint;
}

/** Opens the transport over a provider with this fault, whose model puts what it is given into the list. */
type Open<Fault> = (fault: Fault, given: string[]) => Promise<Subject>;

const proofIn =
  (given: readonly string[]) =>
  async (_: Agent, { tag }: Message): Promise<TranscriptProof> =>
    given.some((text) => text.includes(tag)) ? "given" : "none";

const opened: {
  readonly hook: Open<WaiterFault>;
  readonly socket: Open<SocketFault>;
  readonly codex: Open<AppServerFault>;
  readonly opencode: Open<OpencodeFault>;
} = {
  async hook(fault, given) {
    const waiters = new SimulatedWaiters({ timers, fault: () => fault, give: (_, text) => void given.push(text) });
    waiters.leave("s-1");
    const endpoint = hookEndpoint("s-1");
    const transport = hookTransport({
      ...{ waiters, timers, proofOf: proofIn(given), reportedState: () => ({ state: "idle" as const }) },
      watchState: () => ({ [Symbol.dispose]: () => undefined }),
    });
    return { transport, endpoint, agent: anAgent({ name: "ana", sessionId: "s-1", endpoints: [endpoint] }) };
  },
  async socket(fault, given) {
    const { sessions, write } = new SimulatedInbox({
      timers,
      fault: () => fault,
      give: (text) => void given.push(text),
    });
    const endpoint = claudeSocketEndpoint;
    const transport = claudeSocketTransport({
      ...{ sessions, write, timers, proofOf: proofIn(given), hooksReach: () => false },
    });
    return { transport, endpoint, agent: anAgent({ name: "ana", sessionId: "s-1", endpoints: [endpoint] }) };
  },
  async codex(fault, given) {
    const files = new MemoryFiles();
    const rollout = "/codex/sessions/rollout.jsonl";
    const give = (text: string): void => void given.push(text);
    const server = new SimulatedAppServer({ timers, files, rollout, give, fault: () => fault });
    const threads = new CodexThreads({ codexHome: "/codex", connect: server.connect, timers, report });
    const endpoint = codexServerEndpoint({ socket: "/codex/app.sock", hooks: false });
    const agent = anAgent({ name: "ana", provider: "codex", endpoints: [endpoint] });
    await threads.find(agent);
    return { transport: codexServerTransport({ threads, files, timers }), agent, endpoint };
  },
  async opencode(fault, given) {
    const server = new SimulatedOpencode({ timers, fault: () => fault, give: (text) => void given.push(text) });
    const sessions = new OpencodeSessions({ connect: server.connect, timers, report });
    const endpoint = opencodeServerEndpoint({ port: 1, password: null });
    const agent = anAgent({ name: "ana", provider: "opencode", endpoints: [endpoint] });
    await sessions.ask(agent);
    return { transport: opencodeServerTransport({ sessions, timers }), agent, endpoint };
  },
};

/** Faults that leave a transport waiting until its attempt is called off. */
const silent: readonly unknown[] = ["exits before it takes the mail", "accepts and forgets"];

/** The outcome of one attempt, what an inspection says afterwards, and whether the model got the text. */
async function tried(
  { transport, agent, endpoint }: Subject,
  given: readonly string[],
  fault: unknown,
): Promise<readonly unknown[]> {
  const message = seal({ to: agent.name, body: "hello" }, user, { inReplyTo: null, hops: 0 });
  const delivery = { ...queued(message, agent), id: deliveryId(1), state: "claimed", claimedAt: 1 } as const;
  const attempt: Attempt = { message, delivery, agent, endpoint, mark: "m" };
  const signal = silent.includes(fault) ? AbortSignal.timeout(20) : new AbortController().signal;
  const { kind } = await transport.deliver(attempt, signal);
  // Timers run in the order in which they are due, and the provider's are due before this one.
  await systemTimers.pause(5);
  const { kind: found } = await transport.inspect(attempt);
  return [kind, found, given.length];
}

describe("what a transport says of a fault", () => {
  test.each([
    ["exits before it takes the mail", ["held", "absent", 0]],
    ["takes the mail and dies", ["delivered", "absent", 0]],
  ] as const)("a waiter %s", async (fault, outcome) => {
    const given: string[] = [];
    expect(await tried(await opened.hook(fault, given), given, fault)).toEqual([...outcome]);
  });

  test.each([
    ["answers and drops it", ["delivered", "absent", 0]],
    ["takes it and breaks off", ["unknown", "delivered", 1]],
    ["is gone", ["gone", "absent", 0]],
  ] as const)("a socket %s", async (fault, outcome) => {
    const given: string[] = [];
    expect(await tried(await opened.socket(fault, given), given, fault)).toEqual([...outcome]);
  });

  test.each([
    ["accepts and forgets", ["unknown", "absent", 0]],
    ["accepts and breaks off", ["unknown", "delivered", 1]],
    ["refuses", ["error", "absent", 0]],
  ] as const)("an app server %s", async (fault, outcome) => {
    const given: string[] = [];
    expect(await tried(await opened.codex(fault, given), given, fault)).toEqual([...outcome]);
  });

  test.each([
    ["accepts and forgets", ["unknown", "absent", 0]],
    ["accepts and breaks off", ["unknown", "delivered", 1]],
    ["refuses", ["error", "absent", 0]],
  ] as const)("an opencode %s", async (fault, outcome) => {
    const given: string[] = [];
    expect(await tried(await opened.opencode(fault, given), given, fault)).toEqual([...outcome]);
  });
});
