/** What tests of Claude Code have in common. */
import type { ModelRequest } from "../../fixtures/model-servers/server.ts";
import type { Bench } from "./bench.ts";
import { installAgent } from "./install.ts";
import { press } from "./user.ts";
import { programTest } from "./programTest.ts";

export const claudeTest = await programTest("claude-code");

const installed = await installAgent("claude-code");
/** The program itself, for configurations that name it. */
export const claudeProgram = ("command" in installed && installed.command[0]) || "claude";

export const shell = (command: string) => ({ name: "Bash", input: { command, description: "scripted" } });

/** How often the model has read a text in the whole conversation. */
export const timesRead = (request: ModelRequest, text: string): number =>
  request.entries.filter((entry) => entry.text.includes(text)).length;

/** Closes the open dialog, as a user who declines it. */
export async function dismiss(bench: Bench): Promise<void> {
  await press(bench, "Escape", async () => (await bench.registry())?.status !== "waiting");
}
