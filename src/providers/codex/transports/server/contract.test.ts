import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CodexThreads, codexServerEndpoint } from "../../threads.ts";
import { anAgent } from "../../../../testing/agents.ts";
import { transportContract } from "../../../../testing/transportContract.ts";
import { until } from "../../../../testing/until.ts";
import { codexServerTransport } from "./transport.ts";

interface Frame {
  readonly id?: number;
  readonly method: string;
  readonly params: {
    readonly threadId?: string;
    readonly clientUserMessageId?: string;
    readonly input?: readonly { readonly text: string }[];
  };
}

/** As much of Codex's app server as its clients see: one thread, in which a model answers everything at once. */
function scriptedAppServer(folder: string) {
  const unix = join(folder, "codex.sock");
  const path = join(folder, "sessions", "rollout.jsonl");
  mkdirSync(join(folder, "sessions"));
  const threadId = "01a1dea3-0d87-7f31-a341-1fd2acea66a4";
  const topic = "all";

  const server = Bun.serve({
    unix,
    fetch: (request, self) => (self.upgrade(request) ? undefined : new Response(null, { status: 400 })),
    websocket: {
      open: (socket) => void socket.subscribe(topic),
      message(socket, data) {
        const { id, method, params } = JSON.parse(String(data)) as Frame;
        if (id === undefined) return;
        socket.send(JSON.stringify({ id, ...answer(method, params) }));
        if (method === "turn/start") runTurn(params);
      },
    },
  });

  function answer(method: string, { threadId: asked }: Frame["params"]): object {
    if (method === "initialize") return { result: {} };
    if (method === "thread/loaded/list") return { result: { data: [threadId] } };
    if (asked !== threadId) return { error: { code: -32_600, message: `thread not found: ${asked}` } };
    if (method === "thread/read")
      return {
        result: {
          thread: { id: threadId, status: { type: "idle" }, path, cwd: folder, ephemeral: false, parentThreadId: null },
        },
      };
    if (method === "turn/start") return { result: { turn: { id: "turn-1", status: "inProgress" } } };
    return { error: { code: -32_601, message: `unknown method: ${method}` } };
  }

  /** The record is written with the first turn. */
  function runTurn({ clientUserMessageId, input = [] }: Frame["params"]): void {
    tellStatus({ type: "active", activeFlags: [] });
    const content = input.map(({ text }) => ({ type: "input_text", text }));
    record("response_item", { type: "message", role: "user", content });
    record("event_msg", { type: "item_completed", item: { type: "UserMessage", client_id: clientUserMessageId } });
    record("response_item", { type: "message", role: "assistant", content: [{ type: "output_text", text: "I see." }] });
    tellStatus({ type: "idle" });
  }

  const tellStatus = (status: object): void =>
    void server.publish(topic, JSON.stringify({ method: "thread/status/changed", params: { threadId, status } }));
  const record = (type: string, payload: object): void =>
    appendFileSync(path, `${JSON.stringify({ type, payload })}\n`);

  function said(): string[] {
    const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
    const payloads = lines.map(
      (line) => (JSON.parse(line) as { payload: { role?: string; content?: { text: string }[] } }).payload,
    );
    return payloads
      .filter(({ role }) => role === "user")
      .flatMap(({ content = [] }) => content.map(({ text }) => text));
  }
  return { socket: unix, said, end: () => server.stop(true) };
}

transportContract(
  "codex-server",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "tl-codex-"));
    const codex = scriptedAppServer(folder);
    const threads = new CodexThreads({
      codexHome: folder,
      retryMs: 20,
      report: (context, fault) => console.error(context, fault),
    });
    const endpoint = codexServerEndpoint({ socket: codex.socket, hooks: false });
    const agent = anAgent({ name: "ana", provider: "codex", endpoints: [endpoint] });
    // As the link does while the agent lives.
    const watch = threads.watch(agent, { changed: () => undefined });
    await threads.find(agent);
    return {
      transport: codexServerTransport({ threads }),
      agent,
      endpoint,
      received: codex.said,
      async vanish() {
        await codex.end();
        await until(() => threads.known(agent) === null, "the end of the connection to be noticed");
      },
      async [Symbol.asyncDispose]() {
        watch[Symbol.dispose]();
        await threads[Symbol.asyncDispose]();
        await codex.end();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
  { remembers: true, vanished: "gone" },
);
