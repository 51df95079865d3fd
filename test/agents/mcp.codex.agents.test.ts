import { expect } from "bun:test";
import type { AgentView, InboxView } from "../../src/api/schema.ts";
import { say } from "../../fixtures/model-servers/server.ts";
import { prepareBench } from "./bench.ts";
import { codexTest, openAtSharedServer } from "./codexTest.ts";
import { insisting, registerMcp, toolResult } from "./mcpSeat.ts";
import { mcpSuite } from "./mcpSuite.ts";
import { Switchboard } from "./switchboard.ts";
import { until } from "./until.ts";

const tool = (name: string, input: Record<string, unknown> = {}) => ({
  calls: [{ name, input, namespace: "mcp__tieline" }],
});

mcpSuite(codexTest, { program: "codex", setup: "codex", tool });

codexTest("at a server of its own the tool runs outside of the pane: the caller is known by its thread", async () => {
  await using board = await Switchboard.start();
  const script = insisting(tool("send_message", { to: "user", body: "the build is green" }), say("sent"));
  const { bench, command } = await prepareBench("codex", {
    script,
    permissions: "allow",
    env: { TIELINE_HOME: board.home },
  });
  await using _ = bench;
  await registerMcp(bench, "codex");
  await openAtSharedServer(bench, command);
  await board.adopt(bench);
  // The server reports the thread a moment after the pane is known.
  await until(
    async () =>
      (await board.json<AgentView[]>("ls")).some(({ name, sessionId }) => name === "ana" && sessionId !== null),
    { what: async () => "its thread" },
  );
  await bench.prompt("tell them please");
  expect(await toolResult(bench)).toMatch(/MSG_ANA_[0-9a-f]{8} is accepted for user/);
  expect((await board.json<InboxView[]>("inbox"))[0]).toMatchObject({ from: "ana", body: "the build is green" });
});
