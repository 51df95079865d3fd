/**
 * What Tieline started ends when it says so, and when its pane ends: also the server of a Codex behind its npm
 * launcher.
 */
import { expect } from "bun:test";
import { chmodSync, existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { batch, freshHas } from "../../fixtures/model-servers/server.ts";
import { prepareBench, isThere, type Bench, type PreparedBench } from "./bench.ts";
import { codexTest, shell } from "./codexTest.ts";
import { living, withDescendants } from "./processes.ts";
import { Switchboard } from "./switchboard.ts";
import { until } from "./until.ts";

/** `codex` as npm installs it: a program of node that starts the real one. */
function launcherOf({ bench, command }: PreparedBench): string {
  const script = command[0]!.replace(/@openai\/codex-.*$/, "@openai/codex/bin/codex.js");
  chmodSync(script, 0o755);
  const launcher = join(bench.place.home, "codex");
  symlinkSync(script, launcher);
  return launcher;
}

/** In a tool, with another call to follow. */
async function working(board: Switchboard, prepared: PreparedBench, program: string): Promise<Bench> {
  const { bench } = prepared;
  return bench.after(async () => {
    await board.serve(bench);
    const ana = {
      provider: "codex",
      command: [program],
      cwd: bench.place.project,
      env: bench.env,
      permissions: "skip",
    };
    await Bun.write(join(board.root, "tieline.yaml"), JSON.stringify({ team: "default", agents: { ana } }));
    await board.run("trust", "--yes");
    await board.run("up");
    await board.enter(bench);
    await bench.untilReady();
    bench.model.add({
      ...batch(shell("touch started; until [ -e release ]; do sleep 0.1; done; touch finished")),
      when: (one) => freshHas(one, "go on"),
    });
    bench.model.add({
      ...batch(shell("touch forbidden")),
      when: (one) => one.fresh.some(({ role }) => role === "tool"),
    });
    await board.send("ana", "go on");
    await until(() => isThere(bench, "started"), { what: async () => "the tool runs" });
  });
}

const ends: [string, (board: Switchboard, bench: Bench) => Promise<unknown>][] = [
  ["tieline kill", (board) => board.run("kill", "ana")],
  ["tmux kill-pane", (_, bench) => bench.tmux("kill-pane", "-t", bench.pane)],
  ["tmux kill-server", (_, bench) => bench.tmux("kill-server").catch(() => "")],
  ["kill -9 of the program in the pane", async (_, bench) => process.kill(bench.agentPid, "SIGKILL")],
  [
    "kill -9 without a daemon",
    async (board, bench) => {
      await board.run("daemon", "stop");
      process.kill(bench.agentPid, "SIGKILL");
    },
  ],
];

for (const launcher of ["its npm launcher", "the program itself"]) {
  codexTest.each(ends)(
    `a working Codex, started by ${launcher}, and %s: its server ends at once, and no further call runs`,
    async (how, end) => {
      await using board = await Switchboard.start();
      const prepared = await prepareBench("codex");
      await using bench = await working(
        board,
        prepared,
        launcher === "its npm launcher" ? launcherOf(prepared) : prepared.command[0]!,
      );
      const servers = await bench.servers();
      expect(servers.length).toBe(launcher === "its npm launcher" ? 2 : 1);
      const all = await withDescendants(servers);
      await end(board, bench);
      // The command says so only when it is so.
      if (how === "tieline kill") expect(await living(servers)).toEqual([]);
      await until(async () => (await living(all)).length === 0, {
        what: async () => `the server and its tools ended; there still run: ${(await living(all)).join(", ")}`,
      });
      await Bun.write(join(bench.place.project, "release"), "");
      const { requests } = bench.model;
      expect(requests.filter((one) => one.fresh.some(({ role }) => role === "tool"))).toEqual([]);
      expect(["finished", "forbidden"].map((file) => existsSync(join(bench.place.project, file)))).toEqual([
        false,
        false,
      ]);
    },
  );
}
