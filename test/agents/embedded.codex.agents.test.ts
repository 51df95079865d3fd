/** A Codex on its own in its pane: typed to at idle, and told by its hooks in a turn. */
import { expect } from "bun:test";
import { batch, freshHas, freshTexts, Gate, say } from "../../fixtures/model-servers/server.ts";
import { isThere } from "./bench.ts";
import { codexTest, embedded, shell, untilIdle } from "./codexTest.ts";
import { expectAllInOrder } from "./manyMessages.ts";
import { inPausedTool, pausedTool } from "./pausedTool.ts";
import { Switchboard } from "./switchboard.ts";

codexTest(
  "40 messages of random sizes and alphabets, typed at its prompt between turns: whole, once each, in order",
  async () => {
    await using board = await Switchboard.start({ guards: { perPairPerMinute: 1_000, perSenderPerMinute: 1_000 } });
    await using bench = await embedded(board, {
      permissions: "allow",
      script: (request) => (request.index % 3 === 0 ? batch(shell("sleep 0.1; echo ran")) : say(`ok ${request.index}`)),
    });
    await expectAllInOrder(board, bench, {
      count: 40,
      sizes: [1, 20, 300, 900, 3_000, 15_000],
      bob: await board.another("bob"),
    });
  },
);

codexTest("--when tool, in a tool, with hooks: the words come with the tool's result, in the same turn", async () => {
  await using board = await Switchboard.start();
  await using bench = await embedded(board, { hooks: true, permissions: "allow" });
  const tool = await inPausedTool(bench);
  const first = await bench.model.next((one) => freshHas(one, "run it"));
  const tag = await board.send("ana", "--when", "tool", "look at this");
  await tool.release();
  const request = await bench.model.next((one) => freshHas(one, tag));
  expect(request.turnId).toBe(first.turnId);
  expect(freshTexts(request, "tool")[0]).toContain("released");
  board.note("embedded, in a tool", "tool", await board.reached(tag, ({ state }) => state === "seen"));
});

codexTest(
  "--when tool, in a command that continues in the background, with hooks: the message arrives with the next call",
  async () => {
    await using board = await Switchboard.start();
    await using bench = await embedded(board, { hooks: true, permissions: "allow" });
    const tool = await pausedTool(bench);
    const gate = new Gate();
    // Codex waits a second for the command, then asks the model what to do meanwhile.
    bench.model.add(batch({ name: "exec_command", input: { cmd: tool.command, yield_time_ms: 1_000 } }), {
      ...batch(shell("echo meanwhile")),
      hold: gate,
    });
    await bench.prompt("run it");
    await tool.started;
    await gate.reached;
    const tag = await board.send("ana", "--when", "tool", "look at this");
    gate.open();
    const request = await bench.model.next((one) => freshHas(one, tag));
    expect(freshTexts(request, "tool")[0]).toContain("meanwhile");
    await tool.release();
    await board.reached(tag, ({ state }) => state === "seen");
  },
);

codexTest("a draft at its prompt: mail goes through Codex's own queue, in order, and the draft stays", async () => {
  await using board = await Switchboard.start();
  await using bench = await embedded(board);
  await board.send("ana", "--wait", "seen", "the first turn");
  await untilIdle(bench);
  await bench.draft("half a draft");
  const tags = [await board.send("ana", "!touch executed\n/quit "), await board.send("ana", "and then this")];
  const requests = [];
  for (const tag of tags) requests.push(await bench.model.next((one) => freshHas(one, tag)));
  expect(requests[0]!.index).toBeLessThan(requests[1]!.index);
  expect(freshTexts(requests[0]!, "user").at(-1)).toBe(
    `[${tags[0]} from user]\n!touch executed\n/quit \n[end ${tags[0]} · reply: ${board.command} reply ${tags[0]}]`,
  );
  for (const tag of tags)
    board.note("embedded, draft", "turn", await board.reached(tag, ({ state }) => state === "seen"));
  expect((await board.status(tags[0]!)).deliveries[0]).toMatchObject({
    transport: "codex-queue",
    proof: "transcript",
    authority: "user",
  });
  expect((await bench.capture()).text).toContain("half a draft");
  expect(isThere(bench, "executed")).toBe(false);
});
