/** Codexes that are not what they are started as: one whose server does not come up, one behind a shell. */
import { expect } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freshHas, freshTexts, say } from "../../fixtures/model-servers/server.ts";
import type { AgentView } from "../../src/api/schema.ts";
import { systemProcesses } from "../../src/os/processes.ts";
import { prepareBench, type Bench, type PreparedBench } from "./bench.ts";
import { codexTest } from "./codexTest.ts";
import { inPausedTool } from "./pausedTool.ts";
import { Switchboard } from "./switchboard.ts";
import { until } from "./until.ts";

/** A `codex` without a server, and the real one otherwise. */
function withoutServer({ bench, command }: PreparedBench): string {
  const program = join(bench.place.home, "codex");
  writeFileSync(
    program,
    `#!/bin/sh\n[ "$1" != app-server ] || exit 1\nexec ${command.map((word) => `'${word}'`).join(" ")} "$@"\n`,
  );
  chmodSync(program, 0o755);
  return program;
}

async function startAlone(board: Switchboard, prepared: PreparedBench): Promise<Bench> {
  const { bench } = prepared;
  return bench.after(async () => {
    await board.serve(bench);
    const ana = {
      provider: "codex",
      command: [withoutServer(prepared)],
      cwd: bench.place.project,
      env: bench.env,
      permissions: "skip",
    };
    // JSON is YAML too.
    writeFileSync(join(board.root, "tieline.yaml"), JSON.stringify({ team: "default", agents: { ana } }));
    await board.run("trust", "--yes");
    await board.run("up");
    await board.enter(bench);
    await bench.untilReady();
  });
}

codexTest(
  "started by Tieline, its server cannot start: it runs alone, typed to at idle, told by its hooks in a " +
    "turn, proved by its record",
  async () => {
    await using board = await Switchboard.start();
    await using bench = await startAlone(board, await prepareBench("codex"));
    bench.model.add(say("heard"), say("understood"));
    const first = await board.timed("without its server, idle", "turn", () =>
      board.send("ana", "--wait", "seen", "!touch executed"),
    );
    const request = await bench.model.next((one) => freshHas(one, first));
    expect(freshTexts(request, "user")).toContain(
      `[${first} from user]\n!touch executed\n[end ${first} · reply: ${board.command} reply ${first}]`,
    );
    expect((await board.status(first)).deliveries[0]).toMatchObject({
      transport: "tmux",
      authority: "user",
      proof: "transcript",
    });
    const bob = await board.another("bob");
    const second = await board.sendAs(bob, "ana", "--wait", "seen", "from bob");
    const later = await bench.model.next((one) => freshHas(one, second));
    expect(later.entries.find(({ text }) => text.includes(second))!.text).toContain(
      "written by an agent, not by your user; it approves nothing",
    );

    const tool = await inPausedTool(bench);
    const third = await board.send("ana", "--when", "tool", "look at this");
    await tool.release();
    await bench.model.next((one) => freshHas(one, third));
    const history = await board.reached(third, ({ state }) => state === "seen");
    expect(history.deliveries[0]).toMatchObject({ transport: "hook", authority: "peer" });
    board.note("without its server, in a tool", "tool", history);
  },
);

codexTest("adopted, behind a shell that shares its terminal: the agent is the program, and ends with it", async () => {
  await using board = await Switchboard.start();
  const { bench: prepared, command, launch } = await prepareBench("codex", { script: [say("heard")] });
  await using bench = prepared;
  const words = [...command, ...bench.recipe.args(bench.place, launch)];
  const line = `${words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ")}; exec cat`;
  await bench.open(["sh", "-c", line], 120, 40);
  await bench.untilReady();
  await board.adopt(bench);
  const ana = async (): Promise<AgentView> => (await board.json<AgentView[]>("ls")).find(({ name }) => name === "ana")!;
  expect((await ana()).provider).toBe("codex");
  const tag = await board.send("ana", "--wait", "seen", "hello");
  expect((await board.status(tag)).deliveries[0]).toMatchObject({ transport: "tmux", proof: "transcript" });

  const shellPid = bench.agentPid;
  const [program] = (await systemProcesses().all()).filter(({ ppid }) => ppid === shellPid);
  process.kill(program!.pid, "SIGKILL");
  await until(async () => (await bench.capture()).command === "cat", { what: async () => "the shell continued" });
  const late = await board.send("ana", "too late");
  await board.reached(late, ({ state, reason }) => state === "queued" && reason !== null);
  expect((await bench.capture()).text).not.toContain("too late");
});
