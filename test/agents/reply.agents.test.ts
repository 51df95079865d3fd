/** The command that a message names works in the program's own shell, however that sets its PATH. */
import { batch, say, type ModelRequest, type Step } from "../../fixtures/model-servers/server.ts";
import { recipes, startBench, type Bench, type BenchOptions } from "./bench.ts";
import type { AgentProgram } from "./install.ts";
import { programTest } from "./programTest.ts";
import { Switchboard } from "./switchboard.ts";
import { until } from "./until.ts";

/** A model that does what the last line of a message tells it. */
const answering =
  (program: AgentProgram) =>
  (request: ModelRequest): Step => {
    const [, reply] =
      request.fresh
        .map(({ text }) => /· reply: (\S+ reply MSG_USER_\w+)\]/.exec(text))
        .find((found) => found !== null) ?? [];
    return reply === undefined ? say("done") : batch(recipes[program].shellCall(`${reply} "heard you"`));
  };

const starts: Readonly<
  Record<string, (board: Switchboard, program: AgentProgram, options: BenchOptions) => Promise<Bench>>
> = {
  "started by Tieline": (board, program, options) => board.spawned(program, options),
  async adopted(board, program, options) {
    const bench = await startBench(program, options);
    return bench.after(() => board.adopt(bench));
  },
};

for (const program of ["claude-code", "codex", "gemini", "opencode", "pi"] as const) {
  const test = await programTest(program);
  for (const [how, start] of Object.entries(starts)) {
    test(`${program}, ${how}: it answers with the command that the message names`, async () => {
      await using board = await Switchboard.start();
      // Nothing but Tieline itself puts the command on a PATH here, and a login shell resets that, as on many
      // systems.
      await using bench = await start(board, program, {
        permissions: "allow",
        script: answering(program),
        env: { SHELL: "/bin/bash", PATH: process.env["PATH"]! },
      });
      const tag = await board.send("ana", "do you hear me?");
      await board.reached(tag, ({ state }) => state === "answered");
      const inbox = async () => (await board.client().call("inbox", { peek: true })).map(({ body }) => body);
      await until(async () => (await inbox()).includes("heard you"), {
        what: async () => `the answer; there is ${JSON.stringify(await inbox())} and ${(await bench.capture()).text}`,
      });
    });
  }
}
