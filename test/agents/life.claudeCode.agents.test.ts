import { expect } from "bun:test";
import { freshHas } from "../../fixtures/model-servers/server.ts";
import { claudeTest } from "./claudeCode.ts";
import { wholeLife } from "./life.ts";
import { inPausedTool } from "./pausedTool.ts";
import { neverEarly } from "./outageSuite.ts";
import { programTest } from "./programTest.ts";
import { Switchboard } from "./switchboard.ts";

claudeTest(
  "a Claude Code is spawned, answered, stopped, resumed, restarted, killed and woken by mail, in one conversation",
  () => wholeLife("claude-code"),
);

/** What npm installs with Node 20. */
const version = "2.1.197";
const olderTest = await programTest("claude-code", null, version);

olderTest(`a Claude Code ${version}, which knows other flags, has the same life`, () =>
  wholeLife("claude-code", { version }),
);

olderTest(
  `a Claude Code ${version} gets mail from its hooks in a turn, and its transcript proves what it has read`,
  async () => {
    await using board = await Switchboard.start();
    await using bench = await board.spawned("claude-code", { version, permissions: "allow" });
    const first = await board.send("ana", "--wait", "seen", "hello");
    await bench.untilStatus("idle");
    const tool = await inPausedTool(bench);
    const second = await board.send("ana", "--when", "tool", "look at this");
    await tool.release();
    await bench.model.next((one) => freshHas(one, second));
    const history = await board.reached(second, ({ state }) => state === "seen");
    expect(history.deliveries[0]).toMatchObject({ transport: "hook" });
    neverEarly(bench, [await board.status(first), history]);
  },
);

olderTest(
  `mail for a Claude Code ${version} that was stopped and resumed reaches the program that runs now`,
  async () => {
    await using board = await Switchboard.start();
    await using bench = await board.spawned("claude-code", { version });
    await board.send("ana", "--wait", "seen", "hello");
    await bench.untilStatus("idle");
    for (const end of ["stop", "kill"]) {
      await board.run(end, "ana");
      await board.run("resume", "ana");
      await board.enter(bench);
      await bench.untilReady();
      await board.sendAs(await board.bobsToken(), "ana", "--wait", "seen", `after ${end}`);
      await bench.untilStatus("idle");
    }
  },
);
