import { expect, test } from "bun:test";
import { batch, freshHas, freshTexts, Gate, say } from "../../fixtures/model-servers/server.ts";
import { connectAppServer, type AppServer } from "../../src/providers/codex/appServer.ts";
import { startBench, type Bench, type BenchOptions } from "./bench.ts";
import { installAgent } from "./install.ts";
import { pausedTool } from "./pausedTool.ts";

const deadlineMs = 180_000;
const installed = await installAgent("codex");
const missing = "missing" in installed ? installed.missing : undefined;
if (missing) console.error(`SKIPPED: codex ${installed.version} cannot be installed here: ${missing}`);
const codexTest = (name: string, body: () => Promise<void>) => test.skipIf(!!missing)(name, body, deadlineMs);

const input = (text: string) => [{ type: "text", text, text_elements: [] }];

interface TurnStarted {
  turn: { id: string };
}

class Remote implements AsyncDisposable {
  constructor(
    readonly bench: Bench,
    readonly app: AppServer,
    readonly threadId: string,
  ) {}

  async start(text: string): Promise<string> {
    const { turn } = await this.app.request<TurnStarted>("turn/start", { threadId: this.threadId, input: input(text) });
    return turn.id;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app.close();
    await this.bench[Symbol.asyncDispose]();
  }
}

/** A pane on an app server of its own, and our second connection to it. */
async function startRemote(options: BenchOptions = {}): Promise<Remote> {
  const bench = await startBench("codex", { appServer: true, permissions: "allow", ...options });
  const app = await connectAppServer(bench.appServerSocket);
  return new Remote(bench, app, await firstThread(app));
}

/** The pane may look ready a moment before its thread exists. */
async function firstThread(app: AppServer): Promise<string> {
  const started = Promise.withResolvers<string>();
  const stop = app.listen(({ method, params }) => {
    if (method === "thread/started") started.resolve((params["thread"] as { id: string }).id);
  });
  const { data } = await app.request<{ data: string[] }>("thread/loaded/list", {});
  if (data[0] !== undefined) started.resolve(data[0]);
  return started.promise.finally(stop);
}

codexTest("turn/start, idle: the model gets exactly our text, and the draft stays", async () => {
  await using remote = await startRemote({ script: [say("heard")] });
  await remote.bench.paste("half a draft");
  await remote.bench.waitForScreen((screen) => screen.text.includes("half a draft"));
  const text = "!echo not a command\n\tgrüße 世界 ";
  const turnId = await remote.start(text);
  const request = await remote.bench.model.next((one) => freshHas(one, "grüße"));
  expect(freshTexts(request, "user")).toContain(text);
  expect(request.turnId).toBe(turnId);
  expect(request.sessionId).toBe(remote.threadId);
  const screen = await remote.bench.waitForScreen((one) => one.text.includes("heard"));
  expect(screen.text).toContain("half a draft");
});

codexTest("turn/steer while text streams: the reply is cut and asked for again with our words", async () => {
  const gate = new Gate();
  await using remote = await startRemote({ script: [say("partial ", gate, "rest"), say("heard")] });
  const turnId = await remote.start("begin");
  const first = await remote.bench.model.next((one) => freshHas(one, "begin"));
  await gate.reached;
  const additionalContext = { "tieline:ana": { value: "a peer says", kind: "untrusted" } };
  const steer = { threadId: remote.threadId, expectedTurnId: turnId, input: input("steered"), additionalContext };
  expect(await remote.app.request("turn/steer", steer)).toEqual({ turnId });
  const second = await remote.bench.model.next();
  expect(freshTexts(second, "user")).toEqual(["<external_tieline:ana>a peer says</external_tieline:ana>", "steered"]);
  expect(second.turnId).toBe(turnId);
  expect(await first.ended).toBe("cut");
});

codexTest("turn/steer in a tool: the words come with the tool's result, in the same turn", async () => {
  await using remote = await startRemote();
  const tool = await pausedTool(remote.bench);
  remote.bench.model.add(batch({ name: "exec_command", input: { cmd: tool.command } }), say("done"));
  const turnId = await remote.start("run it");
  await tool.started;
  await remote.app.request("turn/steer", { threadId: remote.threadId, expectedTurnId: turnId, input: input("steered") });
  await tool.release();
  const request = await remote.bench.model.next((one) => freshHas(one, "steered"));
  expect(freshTexts(request, "tool")[0]).toContain("released");
  expect(freshTexts(request, "user")).toEqual(["steered"]);
  expect(request.turnId).toBe(turnId);
});

codexTest("thread/queue/add, busy: the words wait for the end of the turn", async () => {
  const gate = new Gate();
  await using remote = await startRemote({ script: [say("partial ", gate, "rest"), say("heard")] });
  const turnId = await remote.start("begin");
  const first = await remote.bench.model.next((one) => freshHas(one, "begin"));
  await gate.reached;
  const clientUserMessageId = crypto.randomUUID();
  const queue = { threadId: remote.threadId, clientUserMessageId, input: input("queued ") };
  expect(await remote.app.request("thread/queue/add", queue)).toMatchObject({ queuedSubmission: { clientUserMessageId } });
  gate.open();
  const second = await remote.bench.model.next();
  expect(await first.ended).toBe("whole");
  expect(freshTexts(second, "user")).toEqual(["queued "]);
  expect(second.turnId).not.toBe(turnId);
});

codexTest("a request that Codex refuses says so, and a closed server is told apart", async () => {
  await using remote = await startRemote();
  const steer = { threadId: remote.threadId, expectedTurnId: "nope", input: input("x") };
  const refusal = await remote.app.request("turn/steer", steer).catch((thrown: unknown) => thrown);
  expect(refusal).toMatchObject({ code: "DELIVERY_FAILED", operands: { refused: true, rpcCode: -32600 } });
  await remote.app.close();
  const lost = await remote.app.request("thread/loaded/list", {}).catch((thrown: unknown) => thrown);
  expect(lost).toMatchObject({ code: "DELIVERY_FAILED", operands: { refused: false } });
});
