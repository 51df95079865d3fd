import { expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { batch, freshHas, freshTexts, say } from "../../fixtures/model-servers/server.ts";
import { writeToInbox } from "../../src/providers/claude-code/inboxSocket.ts";
import { startBench, type Bench } from "./bench.ts";
import { claudeTest, dismiss, shell } from "./claudeCode.ts";
import { pausedTool } from "./pausedTool.ts";
import type { Json } from "./recipe.ts";
import { until } from "./until.ts";

/** How Claude Code puts a peer's text before the model. */
const fromPeer = (text: string) =>
  `Another Claude session sent a message:\n${text}\n\nThis came from another Claude session`;

async function inbox(bench: Bench): Promise<string> {
  return (await bench.untilStatus("idle")).messagingSocketPath!;
}

/**
 * A hook that gives the same answer to every call, and notes its payloads in a file of the program's temporary
 * directory.
 */
const notingHook = (answer: Json) => ({
  type: "command",
  command: `{ cat; echo; } >>"$TMPDIR/calls"; echo '${JSON.stringify(answer)}'`,
  timeout: 5,
});

const notedCalls = (bench: Bench): Json[] =>
  readFileSync(join(bench.place.temporary, "calls"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Json);

claudeTest(
  "inbox socket, idle: the model gets the text as a peer's, the draft stays, the transcript has our id",
  async () => {
    await using bench = await startBench("claude-code", { settings: { crossSessionInbound: "accept" } });
    await bench.draft("half a draft");
    const messageId = crypto.randomUUID();
    const text = "!echo not a command\n  grüße 世界";
    await writeToInbox(await inbox(bench), { text, messageId });
    const request = await bench.model.next((one) => freshHas(one, fromPeer(text)));
    expect(freshTexts(request, "user").at(-1)).toStartWith(fromPeer(text));
    await bench.untilStatus("idle");
    expect((await bench.capture()).text).toContain("half a draft");
    const origins = () => bench.transcript().then((lines) => lines.map((line) => (line["origin"] as Json)?.["msg_id"]));
    await until(async () => (await origins()).includes(messageId), {
      what: async () => `${messageId} is in the transcript`,
    });
  },
);

claudeTest("inbox socket, in a tool: the model gets the text with the tool's result", async () => {
  await using bench = await startBench("claude-code", {
    settings: { crossSessionInbound: "accept" },
    permissions: "allow",
  });
  const tool = await pausedTool(bench);
  bench.model.add(batch(shell(tool.command)), say("done"));
  const socket = await inbox(bench);
  await bench.prompt("run it");
  await tool.started;
  await writeToInbox(socket, { text: "while you work", messageId: crypto.randomUUID() });
  await tool.release();
  const request = await bench.model.next((one) => freshHas(one, "while you work"));
  expect(freshTexts(request, "tool")).toEqual(["released"]);
  expect(freshTexts(request, "system")[0]).toContain("sent a message while you were working:\nwhile you work\n");
});

claudeTest("inbox socket, 900 kB arrives whole", async () => {
  await using bench = await startBench("claude-code", { settings: { crossSessionInbound: "accept" } });
  const text = "0123456789 grüße\n".repeat(50_000).trimEnd();
  await writeToInbox(await inbox(bench), { text, messageId: crypto.randomUUID() });
  const request = await bench.model.next((one) => freshHas(one, "0123456789"));
  expect(freshTexts(request, "user").some((block) => block.startsWith(fromPeer(text)))).toBe(true);
});

claudeTest(
  "inbox socket, permission dialog open: nothing is approved, and the text comes after the answer",
  async () => {
    await using bench = await startBench("claude-code", {
      settings: { crossSessionInbound: "accept" },
      script: [batch(shell("touch forbidden")), say("done")],
    });
    const socket = await inbox(bench);
    await bench.prompt("touch it");
    await bench.waitForScreen((screen) => screen.text.includes(bench.recipe.permissionDialog!));
    await writeToInbox(socket, { text: "yes, go on", messageId: crypto.randomUUID() });
    const parked = () => bench.transcript().then((lines) => lines.some((line) => line["content"] === "yes, go on"));
    await until(parked, { what: async () => "the session has queued the message" });
    expect((await bench.registry())!.waitingFor).toBe("permission prompt");
    expect(existsSync(join(bench.place.project, "forbidden"))).toBe(false);
    await dismiss(bench);
    await bench.model.next((one) => freshHas(one, fromPeer("yes, go on")));
    expect(existsSync(join(bench.place.project, "forbidden"))).toBe(false);
  },
);

claudeTest("inbox socket, with a way back: the model's answer comes to our socket", async () => {
  await using bench = await startBench("claude-code", {
    settings: { crossSessionInbound: "accept" },
    permissions: "allow",
  });
  const socket = await inbox(bench);
  const replyPath = join(dirname(socket), `${process.pid}.sock`);
  const answered = Promise.withResolvers<string>();
  const server = createServer((peer) => peer.setEncoding("utf8").on("data", answered.resolve)).listen(replyPath);
  const answer = { to: `uds:${replyPath}`, message: "an answer", summary: "answers" };
  bench.model.add(batch({ name: "SendMessage", input: answer }), say("done"));
  await writeToInbox(socket, { text: "please answer", messageId: crypto.randomUUID(), replyPath });
  const frame = JSON.parse(await answered.promise) as { from: string; message: { content: string } };
  server.close();
  expect(frame.from).toBe(`uds:${socket}`);
  expect(frame.message.content).toMatch(
    /^<cross-session-message from="[^"]+"[^>]*>\nan answer\n<\/cross-session-message>$/,
  );
});

claudeTest("a killed session stays in the registry as idle, and is recognized as not alive", async () => {
  await using bench = await startBench("claude-code");
  const { alive } = await bench.untilStatus("idle");
  expect(alive).toBe(true);
  process.kill(bench.agentPid, "SIGKILL");
  await bench.waitForScreen((screen) => screen.dead);
  expect(await bench.registry()).toMatchObject({ status: "idle", alive: false });
});

claudeTest("a PreToolUse refusal stops every call of a batch, and the model reads why", async () => {
  const refusal = {
    hookEventName: "PreToolUse",
    permissionDecision: "deny",
    permissionDecisionReason: "do not touch auth.ts",
  };
  await using bench = await startBench("claude-code", {
    permissions: "allow",
    settings: { hooks: { PreToolUse: [{ hooks: [notingHook({ hookSpecificOutput: refusal })] }] } },
    script: [batch(shell("touch one"), shell("touch two")), say("stopped")],
  });
  await bench.prompt("edit auth.ts");
  await bench.model.next((one) => freshHas(one, "edit auth.ts"));
  const request = await bench.model.next();
  const results = request.fresh.filter((entry) => entry.role === "tool");
  expect(results.map((result) => [result.isError, result.text])).toEqual([
    [true, "PreToolUse:Bash hook error: do not touch auth.ts"],
    [true, "PreToolUse:Bash hook error: do not touch auth.ts"],
  ]);
  const calls = notedCalls(bench);
  expect(calls.map((call) => call["hook_event_name"])).toEqual(["PreToolUse", "PreToolUse"]);
  expect(calls[0]!["session_id"]).toBe((await bench.registry())!.sessionId);
  expect(existsSync(join(bench.place.project, "one"))).toBe(false);
  expect(existsSync(join(bench.place.project, "two"))).toBe(false);
});

claudeTest("an asyncRewake hook wakes an idle session, twice, without a keystroke", async () => {
  const bell = { type: "command", asyncRewake: true, timeout: 3600, command: wakeCommand };
  await using bench = await startBench("claude-code", {
    settings: { hooks: { SessionStart: [{ hooks: [bell] }], Stop: [{ hooks: [bell] }] } },
  });
  for (const text of ["you have mail: first", "you have mail: second"]) {
    await bench.untilStatus("idle");
    await ring(bench, text);
    const request = await bench.model.next((one) => freshHas(one, text));
    expect(request.fresh.find((entry) => entry.text.includes(text))!.text).toContain("NOT USER INPUT");
  }
});

claudeTest("a subagent's calls carry the session id and an agent id, in hooks and at the model", async () => {
  const delegate = { description: "scripted", prompt: "the subtask", subagent_type: "general-purpose" };
  await using bench = await startBench("claude-code", {
    permissions: "allow",
    settings: { hooks: { PreToolUse: [{ hooks: [notingHook({})] }] } },
    script: [
      { ...batch({ name: "Agent", input: delegate }), when: (request) => freshHas(request, "delegate it") },
      { ...batch(shell("echo in the subagent")), when: (request) => freshHas(request, "the subtask") },
    ],
  });
  await bench.prompt("delegate it");
  const request = await bench.model.next((one) => freshTexts(one, "tool").includes("in the subagent"));
  const { sessionId } = (await bench.registry())!;
  expect(request.agentId).toBeString();
  expect(request.sessionId).toBe(sessionId);
  const calls = notedCalls(bench).map((one) => [one["tool_name"], one["session_id"], one["agent_id"]]);
  expect(calls).toEqual([
    ["Agent", sessionId, undefined],
    ["Bash", sessionId, request.agentId],
  ]);
});

/** Blocks on a FIFO that it holds open itself, so that it outlives any writer. */
const wakeCommand =
  'bell="$TMPDIR/bell"; [ -p "$bell" ] || mkfifo "$bell"; IFS= read -r mail <> "$bell"; printf %s "$mail" >&2; exit 2';

async function ring(bench: Bench, text: string): Promise<void> {
  const bell = join(bench.place.temporary, "bell");
  await until(() => existsSync(bell), { what: async () => `the waiter has made ${bell}` });
  await Bun.spawn(["sh", "-c", 'printf "%s\\n" "$1" > "$0"', bell, text]).exited;
}
