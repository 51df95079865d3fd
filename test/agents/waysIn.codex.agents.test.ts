import { expect } from "bun:test";
import { batch, freshHas, freshTexts, Gate, say } from "../../fixtures/model-servers/server.ts";
import { connectAppServer, type AppServer } from "../../src/providers/codex/appServer.ts";
import { isThere, startBench, type Bench, type BenchOptions } from "./bench.ts";
import { asking, codexTest, interrupt, shell } from "./codexTest.ts";
import { pausedTool } from "./pausedTool.ts";
import { press } from "./user.ts";

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
  await remote.bench.draft("half a draft");
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
  remote.bench.model.add(batch(shell(tool.command)), say("done"));
  const turnId = await remote.start("run it");
  await tool.started;
  await remote.app.request("turn/steer", {
    threadId: remote.threadId,
    expectedTurnId: turnId,
    input: input("steered"),
  });
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
  expect(await remote.app.request("thread/queue/add", queue)).toMatchObject({
    queuedSubmission: { clientUserMessageId },
  });
  gate.open();
  const second = await remote.bench.model.next();
  expect(await first.ended).toBe("whole");
  expect(freshTexts(second, "user")).toEqual(["queued "]);
  expect(second.turnId).not.toBe(turnId);
});

/** A turn with an open approval dialog. */
async function startAtApproval(): Promise<Remote> {
  const remote = await startRemote({ permissions: "ask", script: [batch(asking("touch asked"))] });
  await remote.start("touch it");
  await remote.bench.waitForScreen((screen) => screen.text.includes(remote.bench.recipe.permissionDialog!));
  return remote;
}

codexTest("turn/start, approval open: it approves nothing, and the words come after the user's yes", async () => {
  await using remote = await startAtApproval();
  const { bench } = remote;
  await remote.start("mail from ana");
  expect((await bench.capture()).text).toContain(bench.recipe.permissionDialog!);
  expect(isThere(bench, "asked")).toBe(false);
  await press(bench, "y", ({ text }) => !text.includes(bench.recipe.permissionDialog!));
  const request = await bench.model.next((one) => freshHas(one, "mail from ana"));
  expect(freshTexts(request, "user")).toEqual(["mail from ana"]);
  expect(isThere(bench, "asked")).toBe(true);
});

codexTest("turn/start, approval open: the words are lost when the user interrupts", async () => {
  await using remote = await startAtApproval();
  const { bench } = remote;
  await remote.start("mail from ana");
  await interrupt(bench);
  await remote.start("the next turn");
  const request = await bench.model.next((one) => freshHas(one, "the next turn"));
  expect(request.entries.map((entry) => entry.text)).not.toContain("mail from ana");
});

codexTest("thread/queue/add, approval open: an interrupt stops the queue, and queue/start runs it", async () => {
  await using remote = await startAtApproval();
  const { bench, app, threadId } = remote;
  await app.request("thread/queue/add", { threadId, input: input("mail from ana"), clientUserMessageId: "client-1" });
  await interrupt(bench);
  const queue = await app.request<{ data: { id: string; clientUserMessageId: string }[] }>("thread/queue/list", {
    threadId,
  });
  expect(queue.data.map((one) => one.clientUserMessageId)).toEqual(["client-1"]);
  await app.request("thread/queue/start", { threadId, queuedSubmissionId: queue.data[0]!.id });
  const request = await bench.model.next((one) => freshHas(one, "mail from ana"));
  expect(freshTexts(request, "user").at(-1)).toBe("mail from ana");
});

codexTest("a PreToolUse refusal stops every call of a batch, and the model reads why", async () => {
  const hookSpecificOutput = {
    hookEventName: "PreToolUse",
    permissionDecision: "deny",
    permissionDecisionReason: "do not touch auth.ts",
  };
  const command = `printf %s '${JSON.stringify({ hookSpecificOutput })}'`;
  await using bench = await startBench("codex", {
    permissions: "allow",
    settings: { hooks: { PreToolUse: [{ hooks: [{ type: "command", command }] }] } },
    args: ["--dangerously-bypass-hook-trust"],
    script: [batch(shell("touch one"), shell("touch two")), say("stopped")],
  });
  await bench.prompt("edit auth.ts");
  await bench.model.next((one) => freshHas(one, "edit auth.ts"));
  expect(freshTexts(await bench.model.next(), "tool")).toEqual([
    "Command blocked by PreToolUse hook: do not touch auth.ts. Command: touch one",
    "Command blocked by PreToolUse hook: do not touch auth.ts. Command: touch two",
  ]);
  expect(isThere(bench, "one")).toBe(false);
});

codexTest("a request that Codex refuses says so, and a closed server is distinguished", async () => {
  await using remote = await startRemote();
  const steer = { threadId: remote.threadId, expectedTurnId: "nope", input: input("x") };
  const refusal = await remote.app.request("turn/steer", steer).catch((thrown: unknown) => thrown);
  expect(refusal).toMatchObject({ code: "DELIVERY_FAILED", operands: { refused: true, rpcCode: -32600 } });
  await remote.app.close();
  const lost = await remote.app.request("thread/loaded/list", {}).catch((thrown: unknown) => thrown);
  expect(lost).toMatchObject({ code: "DELIVERY_FAILED", operands: { refused: false } });
});
