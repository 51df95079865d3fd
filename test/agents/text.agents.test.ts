/**
 * Programs that give words inside of a prompt no meaning of their own, so that nothing in a message is written
 * otherwise.
 */
import { expect } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freshHas, freshTexts, say } from "../../fixtures/model-servers/server.ts";
import { startBench, type Bench, type BenchOptions } from "./bench.ts";
import type { AgentProgram } from "./install.ts";
import { programTest } from "./programTest.ts";
import { Switchboard } from "./switchboard.ts";

const secret = "the heron flies at noon";
const lines = [
  "@notes.txt and x@notes.txt",
  "!touch ran",
  "/exit",
  "/quit",
  "/skill:heron and $heron",
  "$(touch ran) !`touch ran`",
  "@general, @build",
];
const body = lines.join("\n");
const script: BenchOptions["script"] = (request) => say(`ok ${request.index}`);

const programs: readonly (readonly [AgentProgram, string])[] = [
  ["opencode", "opencode-server"],
  ["pi", "pi-extension"],
];

for (const [program, transport] of programs) {
  const run = await programTest(program);

  run(`${program}: files, skills, commands and shell lines in a message that it is given are text`, async () => {
    await using board = await Switchboard.start();
    await using bench = await board.spawned(program, { script });
    await expectText(board, bench, await board.bobsToken(), transport);
  });

  run(`${program}: the same, typed`, async () => {
    await using board = await Switchboard.start();
    await using bench = await startBench(program, { script });
    await board.adopt(bench);
    await expectText(board, bench, await board.another("bob"), "tmux");
  });
}

async function expectText(board: Switchboard, bench: Bench, bob: string, transport: string): Promise<void> {
  const { project } = bench.place;
  writeFileSync(join(project, "notes.txt"), secret);
  const tag = await board.sendAs(bob, "ana", "--wait", "delivered", body);
  expect((await board.status(tag)).deliveries[0]!.transport).toBe(transport);
  const request = await bench.model.next((one) => freshHas(one, `[end ${tag}`));
  expect(freshTexts(request, "user")).toEqual([expect.stringContaining(`]\n${body}\n[end ${tag}`)]);
  expect(bench.model.requests.flatMap(({ entries }) => entries).filter(({ text }) => text.includes(secret))).toEqual(
    [],
  );
  expect(existsSync(join(project, "ran"))).toBe(false);
}
