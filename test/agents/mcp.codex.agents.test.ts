import { expect } from "bun:test";
import type { InboxView } from "../../src/client/schema.ts";
import { freshHas, Gate, say } from "../../fixtures/model-servers/server.ts";
import { prepareBench } from "./bench.ts";
import { codexTest, openAtSharedServer } from "./codexTest.ts";
import { insisting, registerMcp, seated, toolResult } from "./mcpSeat.ts";
import { Switchboard } from "./switchboard.ts";

const tool = (name: string, input: Record<string, unknown> = {}) => ({ calls: [{ name, input, namespace: "mcp__tieline" }] });

codexTest("it sends by the tool, under its own name, and the model reads that it was accepted", async () => {
  await using seat = await seated("codex", "codex", insisting(tool("send_message", { to: "user", body: "the build is green" }), say("sent")));
  await seat.bench.prompt("tell them please");
  await seat.bench.model.next((one) => freshHas(one, "tell them please"));
  const result = await toolResult(seat.bench);
  expect(result).toMatch(/MSG_ANA_[0-9a-f]{8} is accepted for user/);
  const [letter] = await seat.board.json<InboxView[]>("inbox");
  expect(letter).toMatchObject({ from: "ana", body: "the build is green" });
});

codexTest("mail that came while it worked is read by the tool, and is seen by that proof", async () => {
  const gate = new Gate();
  await using seat = await seated("codex", "codex", insisting({ hold: gate, ...tool("check_inbox") }, say("read")));
  await seat.bench.prompt("look at your mail");
  await gate.reached;
  const tag = await seat.board.send("ana", "do not touch auth.ts");
  gate.open();
  const result = await toolResult(seat.bench);
  expect(result).toContain(`[${tag} from user]`);
  expect(result).toContain("do not touch auth.ts");
  expect((await seat.board.reached(tag, ({ state }) => state === "seen")).deliveries[0]).toMatchObject({ proof: "tool", transport: "pull", authority: "peer" });
});

codexTest("a program that Tieline does not know is told how to become known", async () => {
  await using seat = await seated("codex", "codex", insisting(tool("list_agents"), say("oh")), { adopted: false });
  await seat.bench.prompt("who is there?");
  const result = await toolResult(seat.bench);
  expect(result).toContain("IDENTITY_UNKNOWN");
  expect(result).toContain("tieline adopt");
});

codexTest("at a server of its own the tool runs outside of the pane: the caller is known by its thread", async () => {
  await using board = await Switchboard.start();
  const script = insisting(tool("send_message", { to: "user", body: "the build is green" }), say("sent"));
  const { bench, command } = await prepareBench("codex", { script, permissions: "allow", env: { TIELINE_HOME: board.home } });
  await using _ = bench;
  await registerMcp(bench, "codex");
  await openAtSharedServer(bench, command);
  await board.adopt(bench);
  await bench.prompt("tell them please");
  expect(await toolResult(bench)).toMatch(/MSG_ANA_[0-9a-f]{8} is accepted for user/);
  expect((await board.json<InboxView[]>("inbox"))[0]).toMatchObject({ from: "ana", body: "the build is green" });
});
