import { expect } from "bun:test";
import { batch, freshHas, freshTexts, Gate, say } from "../../fixtures/model-servers/server.ts";
import { isThere, startBench } from "./bench.ts";
import { conversationSuite } from "./conversationSuite.ts";
import { framed, fromBob, urgent } from "./framed.ts";
import { geminiTest, hooked, shell } from "./geminiTest.ts";
import { expectAllInOrder } from "./manyMessages.ts";
import { inPausedTool } from "./pausedTool.ts";
import { Switchboard } from "./switchboard.ts";

conversationSuite(geminiTest, { program: "gemini", start: hooked, isAtRest: ({ title }) => title.includes("Ready") });

geminiTest("idle: typed as user, and proved by the program's record", async () => {
  await using board = await Switchboard.start();
  await using bench = await hooked(board, { script: [say("heard"), say("understood")] });
  const body = "!echo no command\n/quit grüße 世界";
  const tag = await board.timed("idle, from the user", "turn", () => board.send("ana", "--wait", "delivered", body));
  const request = await bench.model.next((one) => freshHas(one, tag));
  expect(freshTexts(request, "user")).toContain(framed(tag, body));
  expect((await board.reached(tag, ({ state }) => state === "seen")).deliveries[0]).toMatchObject({
    proof: "transcript",
    transport: "tmux",
    authority: "user",
  });
  const second = await board.timed("idle, from an agent", "turn", async () =>
    board.sendAs(await board.bobsToken(), "ana", "--wait", "seen", "from bob"),
  );
  const later = await bench.model.next((one) => freshHas(one, second));
  expect(freshTexts(later, "user")).toContain(framed(second, "from bob", fromBob(second)));
});

geminiTest("a draft in the composer: it stays, and the mail waits until the user has sent it", async () => {
  await using board = await Switchboard.start();
  await using bench = await hooked(board, { script: [say("heard"), say("understood")] });
  await bench.paste("half a draft");
  await bench.waitForScreen((screen) => screen.text.includes("half a draft"));
  const tag = await board.send("ana", "after the draft");
  await board.reached(tag, ({ reason }) => reason?.includes("draft") ?? false);
  expect((await bench.capture()).text).toContain("half a draft");
  await bench.tmux("send-keys", "-t", bench.pane, "Enter");
  await bench.model.next((one) => freshTexts(one, "user").includes("half a draft"));
  await bench.model.next((one) => freshHas(one, tag));
  board.note("draft", "turn", await board.reached(tag, ({ state }) => state === "seen"));
});

geminiTest("--when tool, in a tool: the words come with the tool's result", async () => {
  await using board = await Switchboard.start();
  await using bench = await hooked(board, { permissions: "allow" });
  const tool = await inPausedTool(bench);
  const tag = await board.sendAs(await board.bobsToken(), "ana", "--when", "tool", "look at this");
  await tool.release();
  const request = await bench.model.next((one) => freshHas(one, tag));
  // Of a command that ends at once, Gemini CLI sometimes misses the output.
  expect(freshTexts(request, "tool")[0]).toStartWith("<untrusted_context>\nOutput:");
  expect(freshTexts(request, "tool")[0]).toEndWith(
    `<hook_context>${framed(tag, "look at this", fromBob(tag))}</hook_context>`,
  );
  const history = await board.reached(tag, ({ state }) => state === "seen");
  expect(history.deliveries[0]).toMatchObject({ transport: "hook", authority: "peer", proof: "transcript" });
  board.note("in a tool, from an agent", "tool", history);
});

geminiTest(
  "--when interrupt, just before the calls: the whole batch is refused, and the next call is the model's own",
  async () => {
    await using board = await Switchboard.start();
    const gate = new Gate();
    await using bench = await hooked(board, { permissions: "allow" });
    bench.model.add(
      { ...batch(shell("touch auth.ts"), shell("touch auth.test.ts")), hold: gate },
      batch(shell("touch instead")),
      say("understood"),
    );
    await bench.prompt("edit auth.ts");
    await gate.reached;
    const tag = await board.send("ana", "--when", "interrupt", "do not touch auth.ts");
    gate.open();
    const told = await bench.model.next((one) => freshTexts(one, "tool").length > 0);
    const words = JSON.stringify({
      error: `Tool execution blocked: ${framed(tag, "do not touch auth.ts", urgent(tag))}`,
    });
    expect(freshTexts(told, "tool")).toEqual([words, words]);
    await bench.model.next((one) => freshTexts(one, "tool").length > 0);
    expect(["auth.ts", "auth.test.ts", "instead"].map((file) => isThere(bench, file))).toEqual([false, false, true]);
    const history = await board.reached(tag, ({ state }) => state === "seen");
    expect(history.deliveries[0]).toMatchObject({ transport: "hook", proof: "transcript" });
    // Both calls ask at the same moment.
    expect(history.deliveries[0]!.reason!.replace("stopped ", "").split(", ").toSorted()).toEqual([
      "run_shell_command touch auth.test.ts",
      "run_shell_command touch auth.ts",
    ]);
    board.note("before a batch of calls", "interrupt", history);
  },
);

geminiTest(
  "a permission dialog is open: nothing is typed or approved, `answer` presses what the user chose, and the " +
    "mail comes after",
  async () => {
    await using board = await Switchboard.start();
    await using bench = await hooked(board);
    bench.model.add(batch(shell("touch allowed")), batch(shell("touch refused")), say("heard"), say("understood"));
    const asks = (file: string) =>
      bench.waitForScreen(
        (screen) => screen.text.includes("No, suggest changes") && screen.text.includes(`touch ${file}`),
      );
    await bench.prompt("touch it");
    await asks("allowed");
    const tag = await board.send("ana", "after the dialog");
    await board.reached(tag, ({ reason }) => reason?.includes("permission") ?? false);
    expect(
      (await board.json<{ choices: { label: string }[] }>("answer", "ana")).choices.map(({ label }) => label),
    ).toEqual(["Allow once", "Allow for this session", "No, suggest changes (esc)"]);
    await board.run("answer", "ana", "1", "--yes");
    await asks("refused");
    expect(isThere(bench, "allowed")).toBe(true);
    await board.reached(tag, ({ reason }) => reason?.includes("permission") ?? false);
    await board.run("answer", "ana", "No", "--yes");
    const request = await bench.model.next((one) => freshHas(one, tag));
    expect(freshTexts(request, "user")).toContain(framed(tag, "after the dialog"));
    expect(isThere(bench, "refused")).toBe(false);
    board.note("dialogs, then No", "turn", await board.reached(tag, ({ state }) => state === "seen"));
  },
);

geminiTest("20 messages of random sizes and alphabets: whole, once each, in order", async () => {
  await using board = await Switchboard.start({ guards: { perPairPerMinute: 1_000, perSenderPerMinute: 1_000 } });
  await using bench = await hooked(board, { permissions: "allow", script: (request) => say(`ok ${request.index}`) });
  // Above 8,500 bytes, which 3,000 emoji have, a hook says only where to read it.
  await expectAllInOrder(board, bench, { count: 20, sizes: [1, 20, 300, 2_000], perSender: true });
});

geminiTest("adopted, without hooks: typed at idle", async () => {
  await using board = await Switchboard.start();
  await using bench = await startBench("gemini", { script: [say("heard")] });
  await board.adopt(bench);
  const tag = await board.timed("adopted, typed", "turn", () => board.send("ana", "--wait", "delivered", "hello"));
  const request = await bench.model.next((one) => freshHas(one, tag));
  expect(freshTexts(request, "user")).toContain(framed(tag, "hello"));
});
