import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { batch, freshHas, freshTexts, say } from "../../fixtures/model-servers/server.ts";
import { installAgent } from "./install.ts";
import { pausedTool } from "./pausedTool.ts";
import { Switchboard } from "./switchboard.ts";

const deadlineMs = 300_000;
const installed = await installAgent("claude-code");
const missing = "missing" in installed ? installed.missing : undefined;
if (missing) console.error(`SKIPPED: claude-code ${installed.version} cannot be installed here: ${missing}`);
const claudeTest = (name: string, body: () => Promise<void>) => test.skipIf(!!missing)(name, body, deadlineMs);

const shell = (command: string) => ({ name: "Bash", input: { command, description: "scripted" } });

claudeTest("to an idle session, from the person: typed at its prompt, as the user's own word, proved by its transcript", async () => {
  await using board = await Switchboard.start();
  await using bench = await board.claude();
  const began = performance.now();
  const tag = await board.send("ana", "--wait", "seen", "the login test fails on Safari");
  console.log(`send --wait seen, by paste: ${Math.round(performance.now() - began)} ms`);
  const request = await bench.model.next((one) => freshHas(one, tag));
  expect(freshTexts(request, "user")).toContainEqual(expect.stringContaining(`[${tag} from user]\nthe login test fails on Safari\n`));
  expect((await board.status(tag)).deliveries[0]).toMatchObject({ state: "seen", proof: "transcript", transport: "tmux", authority: "user" });
});

claudeTest("a draft in the composer: the person's message goes by the socket, and the draft stays", async () => {
  await using board = await Switchboard.start();
  await using bench = await board.claude();
  await bench.paste("half a draft");
  await bench.waitForScreen((screen) => screen.text.includes("half a draft"));
  const began = performance.now();
  const tag = await board.send("ana", "--wait", "seen", "!echo no command");
  console.log(`send --wait seen, by socket: ${Math.round(performance.now() - began)} ms`);
  const request = await bench.model.next((one) => freshHas(one, tag));
  expect(freshTexts(request, "user").at(-1)).toContain("not typed by your user");
  expect((await board.status(tag)).deliveries[0]).toMatchObject({ state: "seen", proof: "transcript", transport: "claude-socket", authority: "peer" });
  expect((await bench.capture()).text).toContain("half a draft");
});

claudeTest("--when interrupt: the whole batch is refused before anything is touched, and the sender learns what was stopped", async () => {
  await using board = await Switchboard.start();
  await using bench = await board.claude({ permissions: "allow" });
  const tool = await pausedTool(bench);
  bench.model.add(batch(shell(tool.command)), batch(shell("touch auth.ts"), shell("touch auth.test.ts")), batch(shell("echo instead")), say("understood"));
  await bench.prompt("edit auth.ts");
  await tool.started;
  const tag = await board.send("ana", "--when", "interrupt", "do not touch auth.ts");
  await tool.release();
  // The running tool ends first: its result carries the message, and no call is refused.
  await bench.model.next((one) => freshHas(one, tag));
  const story = await board.reached(tag, ({ state }) => state === "seen");
  console.log(JSON.stringify(story.deliveries[0]));
});

claudeTest("--when interrupt, 10 ms before the call", async () => {
  await using board = await Switchboard.start();
  await using bench = await board.claude({ permissions: "allow" });
  let tag = "";
  bench.model.add(
    { when: (one) => freshHas(one, "edit auth.ts"), ...batch(shell("touch auth.ts"), shell("touch auth.test.ts")), hold: { pass: async () => void (tag = await board.send("ana", "--when", "interrupt", "do not touch auth.ts")), } as never },
    batch(shell("echo instead")),
    say("understood"),
  );
  await bench.prompt("edit auth.ts");
  const request = await bench.model.next((one) => freshTexts(one, "tool").length > 0);
  const results = request.fresh.filter((entry) => entry.role === "tool");
  expect(results).toHaveLength(2);
  for (const result of results) expect(result).toMatchObject({ isError: true, text: expect.stringContaining(`[${tag} from user · urgent]\ndo not touch auth.ts\n`) });
  expect(existsSync(join(bench.place.project, "auth.ts"))).toBe(false);
  expect(existsSync(join(bench.place.project, "auth.test.ts"))).toBe(false);
  // Once the model has read it, its next call is its own decision.
  const later = await bench.model.next((one) => freshTexts(one, "tool").includes("instead"));
  expect(freshHas(later, tag)).toBe(false);
  const story = await board.reached(tag, ({ state }) => state === "seen");
  expect(story.deliveries[0]).toMatchObject({ proof: "transcript", transport: "hook", reason: "stopped Bash touch auth.ts, Bash touch auth.test.ts" });
});
