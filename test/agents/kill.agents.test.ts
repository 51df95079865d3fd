/** A working program whose pane ends runs no further call, with a server of its own or without a screen. */
import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { batch, freshHas } from "../../fixtures/model-servers/server.ts";
import { prepareBench, isThere, type Bench } from "./bench.ts";
import type { AgentProgram } from "./install.ts";
import { processesIn } from "./processes.ts";
import { programTest } from "./programTest.ts";
import { Switchboard } from "./switchboard.ts";
import { until } from "./until.ts";

async function working(board: Switchboard, program: AgentProgram, headless: boolean): Promise<Bench> {
  const { bench, command, launch } = await prepareBench(program, { permissions: "allow" });
  return bench.after(async () => {
    await board.serve(bench);
    const args = headless ? [] : bench.recipe.args(bench.place, { ...launch, permissions: "ask" });
    const ana = {
      provider: program,
      command,
      cwd: bench.place.project,
      env: bench.env,
      permissions: "skip",
      args,
      headless,
    };
    await Bun.write(join(board.root, "tieline.yaml"), JSON.stringify({ team: "default", agents: { ana } }));
    await board.run("trust", "--yes");
    await board.run("up");
    await board.enter(bench);
    if (!headless) await bench.untilReady();
    const call = (line: string) => batch(bench.recipe.shellCall(line));
    bench.model.add({
      ...call("touch started; until [ -e release ]; do sleep 0.1; done"),
      when: (one) => freshHas(one, "go on"),
    });
    bench.model.add({ ...call("touch forbidden"), when: (one) => one.fresh.some(({ role }) => role === "tool") });
    await board.send("ana", "go on");
    await until(() => isThere(bench, "started"), {
      what: async () => `the tool runs; the pane shows ${(await bench.capture()).text}`,
    });
  });
}

const ends: Readonly<Record<string, (board: Switchboard, bench: Bench) => Promise<unknown>>> = {
  "tieline kill": (board) => board.run("kill", "ana"),
  "tmux kill-pane": (_, bench) => bench.tmux("kill-pane", "-t", bench.pane),
  "kill -9 of what leads the pane": async (_, bench) => process.kill(bench.agentPid, "SIGKILL"),
};

for (const [program, headless] of [
  ["claude-code", true],
  ["opencode", false],
] as const) {
  const test = await programTest(program);
  const kind = `${program}${headless ? " without a screen" : ""}`;
  for (const [how, end] of Object.entries(ends)) {
    test(`${kind}, ${how}: no further call runs, and no process is left`, async () => {
      await using board = await Switchboard.start();
      await using bench = await working(board, program, headless);
      const root = join(bench.place.home, "..");
      await end(board, bench);
      await Bun.write(join(bench.place.project, "release"), "");
      await until(async () => (await processesIn(root)).length === 0, { what: async () => "all processes exited" });
      expect(bench.model.requests.filter((one) => one.fresh.some(({ role }) => role === "tool"))).toEqual([]);
      expect(existsSync(join(bench.place.project, "forbidden"))).toBe(false);
    });
  }
}
