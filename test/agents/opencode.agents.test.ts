import { expect } from "bun:test";
import { batch, freshHas, freshTexts, Gate, say } from "../../fixtures/model-servers/server.ts";
import type { AgentView } from "../../src/api/schema.ts";
import { isThere, startBench, type Bench } from "./bench.ts";
import { conversationSuite, joinedTurnSuite } from "./conversationSuite.ts";
import { framed, fromBob, urgent } from "./framed.ts";
import { timesGiven } from "./manyMessages.ts";
import { inPausedTool } from "./pausedTool.ts";
import { programTest } from "./programTest.ts";
import { Switchboard } from "./switchboard.ts";

const opencodeTest = await programTest("opencode");

conversationSuite(opencodeTest, { program: "opencode" });
joinedTurnSuite(opencodeTest, "opencode");

/** The dialog is drawn from above; its choices come last. */
const untilAsked = (bench: Bench) =>
  bench.waitForScreen(
    (screen) => screen.text.includes(bench.recipe.permissionDialog!) && screen.text.includes("Reject"),
  );

opencodeTest(
  "idle: a message starts a turn in a conversation that the user sees, and the draft stays; an agent's says " +
    "that no user wrote it",
  async () => {
    await using board = await Switchboard.start();
    await using bench = await board.spawned("opencode", { script: [say("heard"), say("heard too")] });
    await bench.paste("half a draft");
    await bench.waitForScreen((screen) => screen.text.includes("half a draft"));
    const body = "!echo no command\n/exit\tgrüße 世界 ";
    const tag = await board.timed("idle, draft, from the user", "turn", () =>
      board.send("ana", "--wait", "seen", body),
    );
    const request = await bench.model.next((one) => freshHas(one, tag));
    expect(freshTexts(request, "user")).toEqual([framed(tag, body)]);
    expect((await board.status(tag)).deliveries[0]).toMatchObject({
      state: "seen",
      proof: "transcript",
      transport: "opencode-server",
      authority: "user",
    });
    const screen = await bench.waitForScreen((one) => one.text.includes("heard"));
    expect(screen.text).toContain("half a draft");

    const second = await board.timed("idle, from an agent", "turn", async () =>
      board.sendAs(await board.bobsToken(), "ana", "--wait", "seen", "from bob"),
    );
    const later = await bench.model.next((one) => freshHas(one, second));
    expect(freshTexts(later, "user")).toEqual([framed(second, "from bob", fromBob(second))]);
    expect(later.sessionId).toBe(request.sessionId);
    expect((await bench.waitForScreen((one) => one.text.includes("heard too"))).text).toContain("half a draft");
    expect((await board.json<AgentView[]>("ls")).find(({ name }) => name === "ana")).toMatchObject({
      sessionId: request.sessionId!,
    });
  },
);

opencodeTest(
  "--when tool, in a tool: the words come with the tool's result; an interrupt says that it could not come sooner",
  async () => {
    await using board = await Switchboard.start();
    await using bench = await board.spawned("opencode", { permissions: "allow" });
    const tool = await inPausedTool(bench);
    await bench.model.next((one) => freshHas(one, "run it"));
    const tag = await board.sendAs(await board.bobsToken(), "ana", "--when", "tool", "look at this");
    const stop = await board.send("ana", "--when", "interrupt", "stop that");
    // opencode has them; whether the model will read them only the end of the tool can tell.
    for (const one of [tag, stop]) await board.reached(one, ({ state }) => state === "uncertain");
    await tool.release();
    const request = await bench.model.next((one) => freshHas(one, tag));
    expect(freshTexts(request, "tool")[0]).toContain("released");
    expect(freshTexts(request, "user")).toEqual([
      framed(tag, "look at this", fromBob(tag)),
      framed(stop, "stop that", urgent(stop)),
    ]);
    board.note("in a tool, from an agent", "tool", await board.reached(tag, ({ state }) => state === "seen"));
    const history = await board.reached(stop, ({ state }) => state === "seen");
    expect(history.deliveries[0]).toMatchObject({
      proof: "transcript",
      reason: expect.stringContaining("after the running one"),
    });
    board.note("in a tool", "interrupt", history);
  },
);

opencodeTest("--when tool, and the user interrupts: what the turn did not read comes again, once", async () => {
  await using board = await Switchboard.start();
  const gate = new Gate();
  await using bench = await board.spawned("opencode", { script: [say("partial ", gate, "rest"), say("heard")] });
  await bench.prompt("begin");
  await gate.reached;
  const tag = await board.send("ana", "--when", "tool", "do not lose this");
  await board.reached(tag, ({ state }) => state === "uncertain");
  await bench.waitForScreen((screen) => screen.text.includes("do not lose this"));
  await bench.tmux("send-keys", "-t", bench.pane, "Escape");
  await bench.waitForScreen((screen) => screen.text.includes("again to interrupt"));
  await bench.tmux("send-keys", "-t", bench.pane, "Escape");
  await bench.model.next((one) => freshHas(one, tag));
  board.note("streaming, then Escape", "tool", await board.reached(tag, ({ state }) => state === "seen"));
  expect(timesGiven(bench, "do not lose this")).toBe(1);
});

opencodeTest(
  "a permission dialog is open: nothing is typed or approved, `answer` presses what the user chose, and the " +
    "mail comes after",
  async () => {
    await using board = await Switchboard.start();
    await using bench = await board.spawned("opencode");
    const touch = (file: string) => batch(bench.recipe.shellCall(`touch ${file}`));
    bench.model.add(touch("refused"), say("well"), touch("allowed"), say("done"), say("heard"), say("heard too"));
    await bench.prompt("touch it");
    await untilAsked(bench);
    const tags = [await board.send("ana", "first"), await board.send("ana", "--when", "tool", "second")];
    for (const tag of tags) await board.reached(tag, ({ reason }) => reason?.includes("permission") ?? false);
    expect((await bench.capture()).text).toContain(bench.recipe.permissionDialog!);
    expect(
      (await board.json<{ choices: { label: string }[] }>("answer", "ana")).choices.map(({ label }) => label),
    ).toEqual(["Allow once", "Allow always", "Reject"]);
    await board.run("answer", "ana", "Reject", "--yes");
    for (const tag of tags)
      board.note("dialog open, then Reject", "turn", await board.reached(tag, ({ state }) => state === "seen"));
    expect(isThere(bench, "refused")).toBe(false);
  },
);

opencodeTest("a dialog is answered with yes: exactly that call runs", async () => {
  await using board = await Switchboard.start();
  await using bench = await board.spawned("opencode");
  bench.model.add(batch(bench.recipe.shellCall("touch allowed")), say("done"));
  await bench.prompt("touch it");
  await untilAsked(bench);
  await board.run("answer", "ana", "1", "--yes");
  const request = await bench.model.next((one) => freshTexts(one, "tool").length > 0);
  expect(await request.ended).toBe("whole");
  expect(isThere(bench, "allowed")).toBe(true);
});

opencodeTest("adopted, with a server: typed once, then, its conversation being known, written to there", async () => {
  await using board = await Switchboard.start();
  await using bench = await startBench("opencode", {
    args: ["--port", "0"],
    env: { OPENCODE_SERVER_PASSWORD: "of the user" },
    script: [say("heard"), say("heard too")],
  });
  await board.adopt(bench);
  const first = await board.send("ana", "hello");
  await bench.model.next((one) => freshHas(one, first));
  expect(
    (await board.reached(first, ({ state }) => state !== "queued" && state !== "claimed")).deliveries[0],
  ).toMatchObject({ transport: "tmux" });
  await bench.waitForScreen((screen) => screen.text.includes("heard"));
  const second = await board.timed("adopted with a server", "turn", () => board.send("ana", "--wait", "seen", "again"));
  const request = await bench.model.next((one) => freshHas(one, second));
  expect(freshTexts(request, "user")).toEqual([framed(second, "again")]);
  expect((await board.status(second)).deliveries[0]).toMatchObject({ transport: "opencode-server" });
});

opencodeTest("adopted, without a server: typed at idle", async () => {
  await using board = await Switchboard.start();
  await using bench = await startBench("opencode", { script: [say("heard")] });
  await board.adopt(bench);
  const tag = await board.timed("adopted, typed", "turn", () => board.send("ana", "--wait", "delivered", "hello"));
  const request = await bench.model.next((one) => freshHas(one, tag));
  // opencode adds a space behind a paste of several lines.
  expect(freshTexts(request, "user").map((text) => text.trimEnd())).toEqual([framed(tag, "hello")]);
});
