import { anAgent } from "../../../../testing/agents.ts";
import { transportContract } from "../../../../testing/transportContract.ts";
import { OpencodeSessions, opencodeServerEndpoint } from "../../sessions.ts";
import { opencodeServerTransport } from "./transport.ts";

const password = "of the test";

interface Prompt {
  readonly parts: readonly { readonly id: string; readonly type: string; readonly text: string }[];
}

/** As much of an opencode as its clients see: one conversation, in which a model answers everything at once. */
function scriptedOpencode() {
  const entries: { info: { id: string; role: string }; parts: object[] }[] = [];
  const streams = new Set<ReadableStreamDefaultController<Uint8Array>>();
  const encode = (type: string, properties: object): Uint8Array =>
    new TextEncoder().encode(`data: ${JSON.stringify({ type, properties })}\n\n`);
  const tell = (type: string, properties: object): void =>
    streams.forEach((stream) => stream.enqueue(encode(type, properties)));
  const sessionID = "ses_1";

  function answer({ parts }: Prompt): void {
    entries.push({ info: { id: `msg_${entries.length}`, role: "user" }, parts: [...parts] });
    tell("message.updated", { sessionID, info: { role: "user" } });
    tell("session.status", { sessionID, status: { type: "busy" } });
    const part = { id: `prt_${entries.length}`, type: "step-start" };
    entries.push({ info: { id: `msg_${entries.length}`, role: "assistant" }, parts: [part] });
    tell("message.part.updated", { sessionID, part });
    tell("session.status", { sessionID, status: { type: "idle" } });
  }

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    routes: {
      "/event": () =>
        new Response(
          new ReadableStream<Uint8Array>({
            start(controller) {
              streams.add(controller);
              controller.enqueue(encode("server.connected", {}));
            },
          }),
        ),
      "/session/status": Response.json({}),
      "/permission": Response.json([]),
      "/question": Response.json([]),
      "/session": { POST: () => Response.json({ id: sessionID }) },
      "/session/:id": Response.json({ id: sessionID }),
      "/session/:id/message": () => Response.json(entries),
      "/session/:id/prompt_async": {
        POST: async (request) => {
          answer((await request.json()) as Prompt);
          return new Response(null, { status: 204 });
        },
      },
      "/tui/select-session": { POST: () => Response.json(true) },
    },
  });
  return {
    server,
    said: () =>
      entries.filter(({ info }) => info.role === "user").map(({ parts }) => (parts[0] as { text: string }).text),
  };
}

transportContract(
  "opencode-server",
  async () => {
    const opencode = scriptedOpencode();
    const sessions = new OpencodeSessions({ retryMs: 20, report: (context, fault) => console.error(context, fault) });
    const endpoint = opencodeServerEndpoint({ port: opencode.server.port!, password });
    const agent = anAgent({ name: "ana", provider: "opencode", endpoints: [endpoint] });
    // As the link does while the agent lives.
    const watch = sessions.watch(agent, () => undefined);
    return {
      transport: opencodeServerTransport({ sessions }),
      agent,
      endpoint,
      received: opencode.said,
      vanish: () => opencode.server.stop(true),
      async [Symbol.asyncDispose]() {
        watch[Symbol.dispose]();
        await sessions[Symbol.asyncDispose]();
        await opencode.server.stop(true);
      },
    };
  },
  { remembers: true, vanished: "gone" },
);
