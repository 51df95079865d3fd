import { join } from "node:path";
import { batch, say } from "../../fixtures/model-servers/server.ts";
import type { Bench } from "./bench.ts";

/** A shell command that stops in the middle of a turn: `started` resolves when it runs, `release` lets it end. */
export interface PausedTool {
  command: string;
  started: Promise<void>;
  release(): Promise<void>;
}

/** Both signals are FIFOs, whose ends wait for each other, so nothing has to be polled. */
export async function pausedTool(bench: Bench): Promise<PausedTool> {
  const [began, proceed] = [join(bench.place.temporary, "began"), join(bench.place.temporary, "proceed")];
  const { project } = bench.place;
  await finish(["mkfifo", began, proceed], project);
  return {
    command: `echo > ${began}; cat ${proceed}`,
    started: finish(["cat", began], project),
    release: () => finish(["sh", "-c", 'echo released > "$0"', proceed], project),
  };
}

/** The program in the middle of a call, which ends when it is released; its turn ends after that. */
export async function inPausedTool(bench: Bench): Promise<PausedTool> {
  const tool = await pausedTool(bench);
  bench.model.add(batch(bench.recipe.shellCall(tool.command)), say("done"));
  await bench.prompt("run it");
  await tool.started;
  return tool;
}

/** Runs in the project, so that the bench ends it should the test fail first. */
async function finish(command: string[], cwd: string): Promise<void> {
  const code = await Bun.spawn(command, { cwd, stdin: "ignore", stdout: "ignore", stderr: "inherit" }).exited;
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}`);
}
