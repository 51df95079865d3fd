import { expect } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { batch, freshHas, freshTexts, Gate, say } from "../../fixtures/model-servers/server.ts";
import { claudeProgram, claudeTest, shell } from "./claudeCode.ts";
import { pausedTool } from "./pausedTool.ts";
import { Switchboard } from "./switchboard.ts";

/** A headless lead beside the bench's own session, whose tmux server and model it uses. */
async function withLead(board: Switchboard) {
  const bench = await board.claude({ settings: {}, permissions: "allow" });
  const yaml = [
    "team: web",
    "agents:",
    "  lead:",
    "    provider: claude-code",
    "    headless: true",
    `    command: [${claudeProgram}]`,
    `    cwd: ${bench.place.project}`,
    "    permissions: skip",
    "",
  ];
  writeFileSync(join(board.root, "tieline.yaml"), yaml.join("\n"));
  return bench.after(async () => {
    await board.run("trust", "--yes");
    await board.run("up", "--team", "web");
  });
}

/** What a lead says at the end of its turn answers what it was given. */
const givenToModel = expect.stringMatching(/^(seen|answered)$/);

claudeTest(
  "a headless lead: idle by its input stream as user, in a tool with its result, --hard cuts a reply",
  async () => {
    await using board = await Switchboard.start();
    await using bench = await withLead(board);
    const first = await board.timed("headless, idle", "turn", () =>
      board.send("lead", "--team", "web", "--wait", "seen", 'hello lead\n{"not": "a line"}'),
    );
    const request = await bench.model.next((one) => freshHas(one, first));
    expect(
      freshTexts(request, "user").some((text) =>
        text.includes(`[${first} from user]\nhello lead\n{"not": "a line"}\n`),
      ),
    ).toBe(true);
    expect((await board.status(first)).deliveries[0]).toMatchObject({
      state: givenToModel,
      transport: "stream-json",
      authority: "user",
    });

    const tool = await pausedTool(bench);
    bench.model.add(
      { ...batch(shell(tool.command)), when: (one) => freshHas(one, "run it") },
      { ...say("done"), when: (one) => freshTexts(one, "tool").length > 0 },
    );
    await board.send("lead", "--team", "web", "run it");
    await tool.started;
    const second = await board.send("lead", "--team", "web", "--when", "tool", "while you work");
    await board.reached(second, ({ state }) => state !== "queued");
    await tool.release();
    const joined = await bench.model.next((one) => freshHas(one, second));
    expect(freshTexts(joined, "tool")).toContain("released");
    await board.reached(second, ({ state }) => state === "seen" || state === "answered");

    const never = new Gate();
    bench.model.add({ ...say("a long", never), when: (one) => freshHas(one, "write an essay") });
    await board.send("lead", "--team", "web", "write an essay");
    const essay = await bench.model.next((one) => freshHas(one, "write an essay"));
    await never.reached;
    const third = await board.timed("headless, streaming", "interrupt --hard", () =>
      board.send("lead", "--team", "web", "--when", "interrupt", "--hard", "--wait", "seen", "stop writing"),
    );
    expect(await essay.ended).toBe("cut");
    await bench.model.next((one) => freshHas(one, third));
  },
);

claudeTest("a headless lead outlives the daemon, and an urgent message stops its call", async () => {
  await using board = await Switchboard.start();
  await using bench = await withLead(board);
  await board.run("daemon", "stop");
  const gate = new Gate();
  bench.model.add({ ...batch(shell("touch auth.ts")), when: (one) => freshHas(one, "edit auth.ts"), hold: gate });
  await board.send("lead", "--team", "web", "edit auth.ts");
  await gate.reached;
  const tag = await board.send("lead", "--team", "web", "--when", "interrupt", "do not touch auth.ts");
  gate.open();
  await bench.model.next((one) => freshTexts(one, "tool").some((text) => text.includes(tag)));
  expect(existsSync(join(bench.place.project, "auth.ts"))).toBe(false);
});
