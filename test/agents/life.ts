/**
 * The whole life of a real program under Tieline's own commands: spawn, answer, stop, resume, restart, kill, and mail
 * that wakes it.
 */
import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { batch, freshHas, type ModelRequest } from "../../fixtures/model-servers/server.ts";
import type { AgentView, Output } from "../../src/api/schema.ts";
import { systemProcesses } from "../../src/os/processes.ts";
import { prepareBench, type Bench, type BenchOptions } from "./bench.ts";
import type { AgentProgram } from "./install.ts";
import { Switchboard } from "./switchboard.ts";
import { until } from "./until.ts";

const secret = "the word is heron";

export async function wholeLife(program: AgentProgram, options: BenchOptions = {}): Promise<void> {
  await using board = await Switchboard.start();
  await using bench = await spawned(program, board, options);
  const born = await ana(board);
  await board.send("ana", "--wait", "seen", secret);

  await answered(board, bench);

  await board.run("stop", "ana");
  const stopped = await ana(board);
  expect([stopped.state, stopped.pane]).toEqual(["suspended", null]);
  expect(stopped.sessionId).toBeString();
  expect(await systemProcesses().read(bench.agentPid)).toBeUndefined();

  await board.run("resume", "ana");
  await sameAgain(board, bench, stopped);
  await board.run("restart", "ana");
  const restarted = await sameAgain(board, bench, stopped);
  expect(restarted.id).toBe(born.id);
  expect(restarted.pane).not.toBe(born.pane);

  await board.run("kill", "ana");
  expect(await ana(board)).toMatchObject({ state: "suspended", pane: null, sessionId: stopped.sessionId });
  expect(await bench.tmux("list-panes", "-a", "-F", "#{pane_id}")).not.toContain(`${restarted.pane!}\n`);
  await sameAgain(board, bench, stopped);
}

/** `ana`, started by `tieline spawn` in the bench's home and tmux server. */
async function spawned(program: AgentProgram, board: Switchboard, options: BenchOptions): Promise<Bench> {
  const { bench, command } = await prepareBench(program, options);
  return bench.after(async () => {
    await board.serve(bench);
    const profile = { provider: program, command, cwd: bench.place.project, env: bench.env };
    await Bun.write(join(board.root, "tieline.yaml"), JSON.stringify({ team: "default", agents: { ana: profile } }));
    await board.run("trust", "--yes");
    await board.run("spawn", "ana");
    await board.enter(bench);
    await bench.untilReady();
  });
}

/**
 * A permission dialog is seen as such, shown word for word, answered by `tieline answer` only, and mail waits for its
 * end.
 */
async function answered(board: Switchboard, bench: Bench): Promise<void> {
  const file = join(bench.place.project, "asked");
  bench.model.add({
    ...batch(bench.recipe.shellCall("touch asked", true)),
    when: (one) => freshHas(one, "make the file"),
  });
  await board.send("ana", "make the file");
  await bench.waitForScreen((screen) => screen.text.includes(bench.recipe.permissionDialog!));
  await until(async () => (await ana(board)).state === "permission", {
    what: async () => `ana asks; it is ${JSON.stringify(await ana(board))}`,
  });
  const tag = await board.send("ana", "meanwhile");
  await board.reached(tag, ({ reason }) => reason?.includes("permission") ?? false);
  const dialog = await board.json<Output<"dialog">>("answer", "ana");
  expect(dialog).toMatchObject({ agent: "ana", state: "permission" });
  expect(dialog.text).toContain("touch asked");
  expect(existsSync(file)).toBe(false);
  await board.run("answer", "ana", String(dialog.choices[0]!.choice), "--yes");
  await until(() => existsSync(file), {
    what: async () => `the file is there; the screen shows ${(await bench.capture()).text}`,
  });
  await board.reached(tag, ({ state }) => state === "seen");
}

/** The next message reaches the same conversation, which still holds what was said first. */
async function sameAgain(board: Switchboard, bench: Bench, { sessionId }: AgentView): Promise<AgentView> {
  const tag = await board.send("ana", "--wait", "seen", "do you remember?");
  const request = await bench.model.next((one) => freshHas(one, tag));
  expect(said(request)).toContain(secret);
  await board.enter(bench);
  await bench.untilReady();
  const now = await ana(board);
  expect(now.sessionId).toBe(sessionId);
  return now;
}

const said = ({ entries }: ModelRequest): string => entries.map(({ text }) => text).join("\n");

async function ana(board: Switchboard): Promise<AgentView> {
  return (await board.json<AgentView[]>("ls")).find(({ name }) => name === "ana")!;
}
