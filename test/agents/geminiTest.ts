/** What the tests of Gemini CLI share. */
import { join } from "node:path";
import type { ToolCall } from "../../fixtures/model-servers/server.ts";
import { withHooks } from "../../src/providers/gemini/install.ts";
import type { Bench, BenchOptions } from "./bench.ts";
import { programTest } from "./programTest.ts";
import type { Switchboard } from "./switchboard.ts";

export const geminiTest = await programTest("gemini");

export const shell = (command: string): ToolCall => ({
  name: "run_shell_command",
  input: { command, description: "scripted" },
});

/** Started by Tieline, with our hooks in the user's settings, as `tieline setup --hooks gemini` puts them there. */
export function hooked(board: Switchboard, options: BenchOptions = {}): Promise<Bench> {
  return board.spawned("gemini", {
    settings: withHooks({}, { hook: join(board.home, "hooks", "hook"), wait: "" }),
    ...options,
  });
}
