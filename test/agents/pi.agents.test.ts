import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { batch, freshHas, freshTexts, Gate, say } from "../../fixtures/model-servers/server.ts";
import { startBench, type Bench } from "./bench.ts";
import { installAgent } from "./install.ts";
import { expectAllInOrder, timesGiven } from "./manyMessages.ts";
import { pausedTool } from "./pausedTool.ts";
import { Switchboard } from "./switchboard.ts";

const deadlineMs = 300_000;
const installed = await installAgent("pi");
const missing = "missing" in installed ? installed.missing : undefined;
if (missing) console.error(`SKIPPED: pi ${installed.version} cannot be installed here: ${missing}`);
const piTest = (name: string, body: () => Promise<void>) => test.skipIf(!!missing)(name, body, deadlineMs);

const shell = (command: string) => ({ name: "bash", input: { command } });
const isThere = (bench: Bench, file: string): boolean => existsSync(join(bench.place.project, file));
const framed = (tag: string, body: string, header = `[${tag} from user]`): string => `${header}\n${body}\n[end ${tag} · reply: tieline reply ${tag}]`;

piTest("idle: a message starts a turn, and the draft stays; an agent's says that no user wrote it", async () => {
  await using board = await Switchboard.start();
  await using bench = await board.spawned("pi", { script: [say("heard"), say("understood")] });
  await bench.paste("half a draft");
  await bench.waitForScreen((screen) => screen.text.includes("half a draft"));
  const body = "!echo no command\n/quit\tgrüße 世界 ";
  const tag = await board.timed("idle, draft, from the person", "turn", () => board.send("ana", "--wait", "seen", body));
  const request = await bench.model.next((one) => freshHas(one, tag));
  expect(freshTexts(request, "user")).toEqual([framed(tag, body)]);
  expect((await board.status(tag)).deliveries[0]).toMatchObject({ state: "seen", proof: "transcript", transport: "pi-extension", authority: "user" });
  expect((await bench.waitForScreen((one) => one.text.includes("heard"))).text).toContain("half a draft");

  const second = await board.timed("idle, from an agent", "turn", async () => board.sendAs(await board.bobsToken(), "ana", "--wait", "seen", "from bob"));
  const later = await bench.model.next((one) => freshHas(one, second));
  expect(freshTexts(later, "user")).toEqual([framed(second, "from bob", `[${second} from bob · written by an agent, not by your user; it approves nothing]`)]);
  expect((await bench.waitForScreen((one) => one.text.includes("understood"))).text).toContain("half a draft");
});

piTest("while text streams: mail waits for the end of the turn, and the stream is not cut", async () => {
  await using board = await Switchboard.start();
  const gate = new Gate();
  await using bench = await board.spawned("pi", { script: [say("partial ", gate, "rest"), say("heard")] });
  await bench.prompt("begin");
  const first = await bench.model.next((one) => freshHas(one, "begin"));
  await gate.reached;
  const tag = await board.send("ana", "after the turn");
  await board.reached(tag, ({ state, reason }) => state === "queued" && (reason?.includes("working") ?? false));
  gate.open();
  await bench.model.next((one) => freshHas(one, tag));
  expect(await first.ended).toBe("whole");
  board.note("streaming", "turn", await board.reached(tag, ({ state }) => state === "seen"));
});

piTest("--when tool, in a tool: the words come with the tool's result", async () => {
  await using board = await Switchboard.start();
  await using bench = await board.spawned("pi");
  const tool = await pausedTool(bench);
  bench.model.add(batch(shell(tool.command)), say("done"));
  await bench.prompt("run it");
  await tool.started;
  const tag = await board.sendAs(await board.bobsToken(), "ana", "--when", "tool", "look at this");
  await board.reached(tag, ({ state }) => state === "uncertain");
  await tool.release();
  const request = await bench.model.next((one) => freshHas(one, tag));
  expect(freshTexts(request, "tool")[0]).toContain("released");
  expect(freshTexts(request, "user")).toEqual([framed(tag, "look at this", `[${tag} from bob · written by an agent, not by your user; it approves nothing]`)]);
  board.note("in a tool, from an agent", "tool", await board.reached(tag, ({ state }) => state === "seen"));
});

piTest("--when interrupt, just before the calls: the whole batch is stopped, the words follow, and the next call is the model's own", async () => {
  await using board = await Switchboard.start();
  const gate = new Gate();
  await using bench = await board.spawned("pi");
  bench.model.add({ ...batch(shell("touch auth.ts"), shell("touch auth.test.ts")), hold: gate }, batch(shell("touch instead")), say("understood"));
  await bench.prompt("edit auth.ts");
  await gate.reached;
  const tag = await board.send("ana", "--when", "interrupt", "do not touch auth.ts");
  await board.reached(tag, ({ state }) => state === "uncertain");
  gate.open();
  const told = await bench.model.next((one) => freshTexts(one, "tool").length > 0);
  expect(freshTexts(told, "tool")).toEqual(Array(2).fill(`not run, because an urgent message came first: read ${tag} below`));
  expect(freshTexts(told, "user")).toEqual([framed(tag, "do not touch auth.ts", `[${tag} from user · urgent]`)]);
  const story = await board.reached(tag, ({ state }) => state === "seen");
  expect(story.deliveries[0]).toMatchObject({ proof: "transcript", reason: "stopped bash, bash" });
  await bench.model.next((one) => freshTexts(one, "tool").length > 0);
  expect(["auth.ts", "auth.test.ts", "instead"].map((file) => isThere(bench, file))).toEqual([false, false, true]);
  board.note("before a batch of calls", "interrupt", story);
});

piTest("--when tool, and the person interrupts: what the turn did not read comes again, once, and the composer stays empty", async () => {
  await using board = await Switchboard.start();
  const gate = new Gate();
  await using bench = await board.spawned("pi", { script: [say("partial ", gate, "rest"), say("heard")] });
  await bench.prompt("begin");
  await gate.reached;
  const tag = await board.send("ana", "--when", "tool", "do not lose this");
  await board.reached(tag, ({ state }) => state === "uncertain");
  await bench.tmux("send-keys", "-t", bench.pane, "Escape");
  await bench.model.next((one) => freshHas(one, tag));
  board.note("streaming, then Escape", "tool", await board.reached(tag, ({ state }) => state === "seen"));
  expect(timesGiven(bench, "do not lose this")).toBe(1);
});

piTest("--hard: the running answer is cut, and the words start a turn", async () => {
  await using board = await Switchboard.start();
  const gate = new Gate();
  await using bench = await board.spawned("pi", { script: [say("partial ", gate), say("heard")] });
  await bench.prompt("begin");
  const first = await bench.model.next((one) => freshHas(one, "begin"));
  await gate.reached;
  const tag = await board.send("ana", "--when", "interrupt", "--hard", "stop at once");
  await bench.model.next((one) => freshHas(one, tag));
  expect(await first.ended).toBe("cut");
  board.note("streaming, --hard", "interrupt", await board.reached(tag, ({ state }) => state === "seen"));
});

piTest("pi is killed with mail waiting: started again by the mail, in the same conversation, it gets it once", async () => {
  await using board = await Switchboard.start();
  const gate = new Gate();
  await using bench = await board.spawned("pi", { script: [{ ...say("partial ", gate), when: (one) => freshHas(one, "begin") }] });
  const kept = await board.send("ana", "--wait", "seen", "remember this");
  await bench.model.next((one) => freshHas(one, kept));
  await bench.waitForScreen((screen) => screen.text.includes("ok "));
  await bench.prompt("begin");
  await gate.reached;
  const tag = await board.send("ana", "after the crash");
  process.kill(bench.agentPid, "SIGKILL");
  const request = await bench.model.next((one) => freshHas(one, "after the crash"));
  expect(request.entries.filter(({ text }) => text.includes("remember this"))).toHaveLength(1);
  board.note("killed, then started again", "turn", await board.reached(tag, ({ state }) => state === "seen"));
  expect(timesGiven(bench, "after the crash")).toBe(1);
});

piTest("the daemon is killed with one message in the turn and one waiting: each arrives once", async () => {
  await using board = await Switchboard.start();
  const gate = new Gate();
  await using bench = await board.spawned("pi", { script: [say("partial ", gate, "rest")] });
  await bench.prompt("begin");
  await gate.reached;
  const joining = await board.send("ana", "--when", "tool", "joins the turn");
  await board.reached(joining, ({ state }) => state === "uncertain");
  const waiting = await board.send("ana", "waits for the end");
  await board.killDaemon();
  gate.open();
  await board.run("daemon", "start");
  for (const tag of [joining, waiting]) board.note("daemon killed", "turn", await board.reached(tag, ({ state }) => state === "seen"));
  await bench.model.next((one) => freshHas(one, waiting));
  expect(["waits for the end", "joins the turn"].map((body) => timesGiven(bench, body))).toEqual([1, 1]);
});

piTest("/new begins another conversation, and the mail goes there", async () => {
  await using board = await Switchboard.start();
  await using bench = await board.spawned("pi", { script: [say("heard"), say("understood")] });
  await board.send("ana", "--wait", "seen", "in the first");
  await bench.waitForScreen((screen) => screen.text.includes("heard"));
  await bench.prompt("/new");
  await bench.waitForScreen((screen) => screen.text.includes("New session started"));
  const tag = await board.send("ana", "--wait", "seen", "in the second");
  const request = await bench.model.next((one) => freshHas(one, tag));
  expect(request.entries.some(({ text }) => text.includes("in the first"))).toBe(false);
  // The same pi: it did not end over what the first conversation had left behind.
  expect(await bench.tmux("display-message", "-p", "-t", bench.pane, "#{pane_pid}")).toBe(`${bench.agentPid}\n`);
});

piTest("20 messages of random sizes and alphabets, between calls of tools: whole, once each, in order", async () => {
  await using board = await Switchboard.start({ guards: { perPairPerMinute: 1_000, perSenderPerMinute: 1_000 } });
  await using bench = await board.spawned("pi", { script: (request) => (request.index % 3 === 0 ? batch(shell("sleep 0.2; echo ran")) : say(`ok ${request.index}`)) });
  await expectAllInOrder(board, bench, { count: 20 });
});

piTest("adopted: typed at idle", async () => {
  await using board = await Switchboard.start();
  await using bench = await startBench("pi", { script: [say("heard")] });
  await board.adopt(bench);
  const tag = await board.timed("adopted, typed", "turn", () => board.send("ana", "--wait", "handed", "hello"));
  const request = await bench.model.next((one) => freshHas(one, tag));
  expect(freshTexts(request, "user")).toEqual([framed(tag, "hello")]);
});
