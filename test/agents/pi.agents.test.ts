import { expect } from "bun:test";
import { batch, freshHas, freshTexts, Gate, say } from "../../fixtures/model-servers/server.ts";
import { isThere, startBench } from "./bench.ts";
import { conversationSuite, joinedTurnSuite } from "./conversationSuite.ts";
import { framed, fromBob, urgent } from "./framed.ts";
import { timesGiven } from "./manyMessages.ts";
import { inPausedTool } from "./pausedTool.ts";
import { programTest } from "./programTest.ts";
import { Switchboard } from "./switchboard.ts";

const piTest = await programTest("pi");

conversationSuite(piTest, { program: "pi" });
joinedTurnSuite(piTest, "pi");

const shell = (command: string) => ({ name: "bash", input: { command } });

piTest("idle: a message starts a turn, and the draft stays; an agent's says that no user wrote it", async () => {
  await using board = await Switchboard.start();
  await using bench = await board.spawned("pi", { script: [say("heard"), say("understood")] });
  await bench.paste("half a draft");
  await bench.waitForScreen((screen) => screen.text.includes("half a draft"));
  const body = "!echo no command\n/quit\tgrüße 世界 ";
  const tag = await board.timed("idle, draft, from the user", "turn", () => board.send("ana", "--wait", "seen", body));
  const request = await bench.model.next((one) => freshHas(one, tag));
  expect(freshTexts(request, "user")).toEqual([framed(tag, body)]);
  expect((await board.status(tag)).deliveries[0]).toMatchObject({
    state: "seen",
    proof: "transcript",
    transport: "pi-extension",
    authority: "user",
  });
  expect((await bench.waitForScreen((one) => one.text.includes("heard"))).text).toContain("half a draft");

  const second = await board.timed("idle, from an agent", "turn", async () =>
    board.sendAs(await board.bobsToken(), "ana", "--wait", "seen", "from bob"),
  );
  const later = await bench.model.next((one) => freshHas(one, second));
  expect(freshTexts(later, "user")).toEqual([framed(second, "from bob", fromBob(second))]);
  expect((await bench.waitForScreen((one) => one.text.includes("understood"))).text).toContain("half a draft");
});

piTest("--when tool, in a tool: the words come with the tool's result", async () => {
  await using board = await Switchboard.start();
  await using bench = await board.spawned("pi");
  const tool = await inPausedTool(bench);
  const tag = await board.sendAs(await board.bobsToken(), "ana", "--when", "tool", "look at this");
  await board.reached(tag, ({ state }) => state === "uncertain");
  await tool.release();
  const request = await bench.model.next((one) => freshHas(one, tag));
  expect(freshTexts(request, "tool")[0]).toContain("released");
  expect(freshTexts(request, "user")).toEqual([framed(tag, "look at this", fromBob(tag))]);
  board.note("in a tool, from an agent", "tool", await board.reached(tag, ({ state }) => state === "seen"));
});

piTest(
  "--when interrupt, just before the calls: the whole batch is stopped, the words follow, and the next call " +
    "is the model's own",
  async () => {
    await using board = await Switchboard.start();
    const gate = new Gate();
    await using bench = await board.spawned("pi");
    bench.model.add(
      { ...batch(shell("touch auth.ts"), shell("touch auth.test.ts")), hold: gate },
      batch(shell("touch instead")),
      say("understood"),
    );
    await bench.prompt("edit auth.ts");
    await gate.reached;
    const tag = await board.send("ana", "--when", "interrupt", "do not touch auth.ts");
    await board.reached(tag, ({ state }) => state === "uncertain");
    gate.open();
    const told = await bench.model.next((one) => freshTexts(one, "tool").length > 0);
    expect(freshTexts(told, "tool")).toEqual(
      Array(2).fill(`not run, because an urgent message came first: read ${tag} below`),
    );
    expect(freshTexts(told, "user")).toEqual([framed(tag, "do not touch auth.ts", urgent(tag))]);
    const history = await board.reached(tag, ({ state }) => state === "seen");
    expect(history.deliveries[0]).toMatchObject({ proof: "transcript", reason: "stopped bash, bash" });
    await bench.model.next((one) => freshTexts(one, "tool").length > 0);
    expect(["auth.ts", "auth.test.ts", "instead"].map((file) => isThere(bench, file))).toEqual([false, false, true]);
    board.note("before a batch of calls", "interrupt", history);
  },
);

piTest(
  "--when tool, and the user interrupts: what the turn did not read comes again, once, and the composer stays empty",
  async () => {
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
  },
);

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

piTest("adopted: typed at idle", async () => {
  await using board = await Switchboard.start();
  await using bench = await startBench("pi", { script: [say("heard")] });
  await board.adopt(bench);
  const tag = await board.timed("adopted, typed", "turn", () => board.send("ana", "--wait", "delivered", "hello"));
  const request = await bench.model.next((one) => freshHas(one, tag));
  expect(freshTexts(request, "user")).toEqual([framed(tag, "hello")]);
});
