import { hookEndpoint, hookTransport } from "../../../delivery/transports/hook/transport.ts";
import type { Transport } from "../../../delivery/transports/port.ts";
import type { Agent, Endpoint } from "../../../model/agent.ts";
import type { TranscriptProof } from "../../../model/delivery.ts";
import type { Message } from "../../../model/message.ts";
import { systemTimers } from "../../../os/timers.ts";
import {
  claudeSocketEndpoint,
  claudeSocketTransport,
} from "../../../providers/claude-code/transports/socket/transport.ts";
import { CodexThreads, codexServerEndpoint } from "../../../providers/codex/threads.ts";
import { codexServerTransport } from "../../../providers/codex/transports/server/transport.ts";
import { OpencodeSessions, opencodeServerEndpoint } from "../../../providers/opencode/sessions.ts";
import { opencodeServerTransport } from "../../../providers/opencode/transports/server/transport.ts";
import { anAgent } from "../../agents.ts";
import { transportContract } from "../../transportContract.ts";
import { until } from "../../until.ts";
import { SimulatedAppServer } from "./appServer.ts";
import { SimulatedWaiters } from "./hookWaiters.ts";
import { SimulatedInbox } from "./inboxSocket.ts";
import { MemoryFiles } from "./memoryFiles.ts";
import { SimulatedOpencode } from "./opencode.ts";

const timers = systemTimers;
const report = (context: string, fault: unknown): void => console.error(context, fault);

/** The texts that a model was given, and what its transcript would prove. */
function aModel() {
  const given: string[] = [];
  const proofOf = async (_: Agent, { tag }: Message): Promise<TranscriptProof> =>
    given.some((text) => text.includes(tag)) ? "given" : "none";
  return { given, give: (text: string) => void given.push(text), proofOf };
}

transportContract(
  "hook, simulated",
  async () => {
    const { given, give, proofOf } = aModel();
    let lives = true;
    const waiters: SimulatedWaiters = new SimulatedWaiters({
      timers,
      lives: () => lives,
      give(session, text) {
        give(text);
        // The turn ends at once, and its hook leaves another waiter.
        timers.after(2, () => waiters.leave(session));
      },
    });
    waiters.leave("s-1");
    const endpoint = hookEndpoint("s-1");
    return {
      transport: hookTransport({
        ...{ waiters, proofOf, timers: { pause: async () => undefined } },
        reportedState: () => (lives ? { state: "idle", reason: null } : null),
        watchState: () => ({ [Symbol.dispose]: () => undefined }),
      }),
      agent: anAgent({ name: "ana", provider: "claude-code", sessionId: "s-1", endpoints: [endpoint] }),
      endpoint,
      received: () => given,
      vanish: async () => void (lives = false),
      [Symbol.asyncDispose]: async () => undefined,
    };
  },
  { remembers: true, vanished: "gone" },
);

transportContract(
  "claude-socket, simulated",
  async () => {
    const { given, give, proofOf } = aModel();
    const inbox = new SimulatedInbox({ timers, give });
    const { sessions, write } = inbox;
    return {
      transport: claudeSocketTransport({
        ...{ sessions, write, proofOf, hooksReach: () => false, timers: { pause: async () => undefined } },
      }),
      agent: anAgent({ name: "ana", provider: "claude-code", sessionId: "s-1", endpoints: [claudeSocketEndpoint] }),
      endpoint: claudeSocketEndpoint,
      received: () => given,
      vanish: async () => void (inbox.lives = false),
      [Symbol.asyncDispose]: async () => undefined,
    };
  },
  { remembers: true, vanished: "gone" },
);

transportContract(
  "codex-server, simulated",
  async () => {
    const { given, give } = aModel();
    const files = new MemoryFiles();
    const codex = new SimulatedAppServer({ timers, files, give, rollout: "/codex/sessions/rollout.jsonl" });
    const threads = new CodexThreads({ codexHome: "/codex", connect: codex.connect, retryMs: 20, timers, report });
    const endpoint = codexServerEndpoint({ socket: "/codex/app.sock", hooks: false });
    const agent = anAgent({ name: "ana", provider: "codex", endpoints: [endpoint] });
    const watch = threads.watch(agent, { changed: () => undefined });
    await threads.find(agent);
    return {
      ...subject(codexServerTransport({ threads, files, timers }), agent, endpoint, given),
      async vanish() {
        codex.end();
        await until(() => threads.known(agent) === null, "the end of the connection to be noticed");
      },
      async [Symbol.asyncDispose]() {
        watch[Symbol.dispose]();
        await threads[Symbol.asyncDispose]();
      },
    };
  },
  { remembers: true, vanished: "gone" },
);

transportContract(
  "opencode-server, simulated",
  async () => {
    const { given, give } = aModel();
    const opencode = new SimulatedOpencode({ timers, give });
    const sessions = new OpencodeSessions({ connect: opencode.connect, retryMs: 20, timers, report });
    const endpoint = opencodeServerEndpoint({ port: 1, password: null });
    const agent = anAgent({ name: "ana", provider: "opencode", endpoints: [endpoint] });
    const watch = sessions.watch(agent, () => undefined);
    return {
      ...subject(opencodeServerTransport({ sessions, timers }), agent, endpoint, given),
      vanish: async () => opencode.end(),
      async [Symbol.asyncDispose]() {
        watch[Symbol.dispose]();
        await sessions[Symbol.asyncDispose]();
      },
    };
  },
  { remembers: true, vanished: "gone" },
);

function subject(transport: Transport, agent: Agent, endpoint: Endpoint, given: readonly string[]) {
  return { transport, agent, endpoint, received: () => given };
}
