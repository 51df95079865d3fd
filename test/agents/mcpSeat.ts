import { freshTexts, say, type ModelRequest, type Script, type Step } from "../../fixtures/model-servers/server.ts";
import { prepareBench, type Bench } from "./bench.ts";
import type { AgentProgram } from "./install.ts";
import { Switchboard } from "./switchboard.ts";

const launcher = new URL("../../bin/tieline", import.meta.url).pathname;

export interface Seat extends AsyncDisposable {
  readonly board: Switchboard;
  readonly bench: Bench;
}

/**
 * A real program with `tieline setup --mcp` in its own configuration; adopted as `ana` unless it should stay unknown.
 */
export async function seated(
  program: AgentProgram,
  setup: string,
  script: Script,
  { adopted = true }: { adopted?: boolean } = {},
): Promise<Seat> {
  const board = await Switchboard.start();
  const { bench, command, launch } = await prepareBench(program, {
    script,
    permissions: "allow",
    env: { TIELINE_HOME: board.home },
  });
  const seat: Seat = {
    board,
    bench,
    async [Symbol.asyncDispose]() {
      await bench[Symbol.asyncDispose]();
      await board[Symbol.asyncDispose]();
    },
  };
  try {
    await registerMcp(bench, setup);
    await bench.open([...command, ...bench.recipe.args(bench.place, launch)], 120, 40);
    await bench.untilReady();
    if (adopted) await adopt(board, bench, program);
    return seat;
  } catch (thrown) {
    await seat[Symbol.asyncDispose]();
    throw thrown;
  }
}

export async function registerMcp(bench: Bench, setup: string): Promise<void> {
  const registering = Bun.spawn([launcher, "setup", "--mcp", setup], {
    cwd: bench.place.project,
    env: bench.env,
    stdout: "ignore",
  });
  if ((await registering.exited) !== 0) throw new Error("setup --mcp failed");
}

async function adopt(board: Switchboard, bench: Bench, program: AgentProgram): Promise<void> {
  const { code, stderr } = await board.tieline(["adopt", bench.pane, "--name", "ana", "--provider", program], {
    TIELINE_TMUX_SOCKET: bench.tmuxSocket,
  });
  if (code !== 0) throw new Error(`adopt: ${stderr}`);
}

const early = (text: string): boolean => text.includes("unsupported call");

/** A program takes prompts while its MCP servers still start; a call that comes too early is made again. */
export function insisting(...steps: Step[]): Script {
  let next = 0;
  return (request) => {
    if (next > 0 && freshTexts(request, "tool").some(early)) return steps[next - 1]!;
    return steps[next++] ?? say("done");
  };
}

/** What the tool answered, once it was there. */
export async function toolResult({ model }: Bench): Promise<string> {
  const answered = (request: ModelRequest): boolean => freshTexts(request, "tool").some((text) => !early(text));
  return freshTexts(await model.next(answered), "tool").join("\n");
}
