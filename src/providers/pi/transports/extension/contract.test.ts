import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anAgent } from "../../../../testing/agents.ts";
import { transportContract } from "../../../../testing/transportContract.ts";
import { PiSessions, piExtensionEndpoint } from "../../sessions.ts";
import { listenAt } from "../../extension.ts";
import { piExtensionTransport } from "./transport.ts";

type Handler = Parameters<Parameters<typeof listenAt>[1]["on"]>[1];
type Context = Parameters<Handler>[1];

/** The extension itself, in as much of a pi as it sees: a model that answers everything at once. */
function scriptedPi(socket: string) {
  const handlers = new Map<string, Handler[]>();
  const messages: { role: string; content: string }[] = [];
  const context: Context = {
    isIdle: () => true,
    abort: () => undefined,
    sessionManager: { getSessionId: () => "a-session", getBranch: () => [] },
  };
  const emit = (event: string, payload: Parameters<Handler>[0] = {}): void =>
    handlers.get(event)?.forEach((handler) => handler(payload, context));
  listenAt(socket, {
    on: (event, handler) => void handlers.set(event, [...(handlers.get(event) ?? []), handler]),
    sendMessage(message) {
      messages.push({ role: "custom", ...message } as (typeof messages)[number]);
      emit("agent_start");
      emit("context", { messages });
      emit("message_update", { message: { role: "assistant" } });
      emit("agent_end");
    },
  });
  emit("session_start");
  return { end: () => emit("session_shutdown"), said: () => messages.map(({ content }) => content) };
}

transportContract(
  "pi-extension",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "tl-pi-"));
    const socket = join(folder, "pi.sock");
    const pi = scriptedPi(socket);
    const sessions = new PiSessions({ retryMs: 20, report: (context, fault) => console.error(context, fault) });
    const endpoint = piExtensionEndpoint({ socket });
    const agent = anAgent({ name: "ana", provider: "pi", endpoints: [endpoint] });
    // As the link does while the agent lives.
    const watch = sessions.watch(agent, () => undefined);
    return {
      transport: piExtensionTransport({ sessions }),
      agent,
      endpoint,
      received: pi.said,
      vanish: async () => pi.end(),
      async [Symbol.asyncDispose]() {
        watch[Symbol.dispose]();
        await sessions[Symbol.asyncDispose]();
        pi.end();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
  { remembers: true, vanished: "gone" },
);
