/** What the real programs do, as a real subscriber of NATS hears it. */
import { expect } from "bun:test";
import { batch, say } from "../../fixtures/model-servers/server.ts";
import { lackOfNats, NatsServer, type Heard } from "../../src/testing/natsServer.ts";
import type { Bench } from "./bench.ts";
import type { AgentProgram } from "./install.ts";
import { programTest } from "./programTest.ts";
import { Switchboard } from "./switchboard.ts";

async function agentTest(
  program: AgentProgram,
  start: (board: Switchboard) => Promise<Bench>,
  tool: { name: string; input: Record<string, unknown> },
): Promise<void> {
  const run = await programTest(program, lackOfNats);
  run(`${program}: its prompt, its tool call and its response, each once`, async () => {
    await using server = await NatsServer.start();
    await using listener = await server.listen("tieline.*.ana.*");
    await using board = await Switchboard.start();
    await board.run("daemon", "stop");
    await board.tieline(["daemon", "start"], { TIELINE_NATS_URL: server.url });
    await using bench = await start(board);
    bench.model.add(batch(tool), say("all done"));
    await bench.prompt("run the tool");
    const isHook = ({ subject }: Heard): boolean => !subject.startsWith("tieline.delivery.");
    const heard = (
      await listener.until((all) => all.some(({ subject }) => subject === "tieline.agent.ana.response"))
    ).filter(isHook);
    expect(heard).toMatchObject([
      { subject: "tieline.user.ana.prompt", payload: { agent: "ana", team: "default", text: "run the tool" } },
      {
        subject: "tieline.tool.ana.call",
        payload: { agent: "ana", team: "default", toolName: "Bash", input: { command: "echo hello" } },
      },
      { subject: "tieline.agent.ana.response", payload: { agent: "ana", text: "all done" } },
    ]);
  });
}

await agentTest("claude-code", (board) => board.claude({ permissions: "allow" }), {
  name: "Bash",
  input: { command: "echo hello", description: "scripted" },
});
await agentTest("codex", (board) => board.codex({ permissions: "allow" }), {
  name: "exec_command",
  input: { cmd: "echo hello" },
});
