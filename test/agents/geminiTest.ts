/** What the tests of Gemini CLI share. */
import { test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ToolCall } from "../../fixtures/model-servers/server.ts";
import { withHooks } from "../../src/providers/gemini/install.ts";
import type { Bench, BenchOptions } from "./bench.ts";
import { installAgent } from "./install.ts";
import type { Switchboard } from "./switchboard.ts";

const deadlineMs = 300_000;
const installed = await installAgent("gemini");
const missing = "missing" in installed ? installed.missing : undefined;
if (missing) console.error(`SKIPPED: gemini ${installed.version} cannot be installed here: ${missing}`);

export const geminiTest = (name: string, body: () => Promise<void>): void => test.skipIf(!!missing)(name, body, deadlineMs);

export const shell = (command: string): ToolCall => ({ name: "run_shell_command", input: { command, description: "scripted" } });

export const isThere = (bench: Bench, file: string): boolean => existsSync(join(bench.place.project, file));

export const framed = (tag: string, body: string, header = `[${tag} from user]`): string => `${header}\n${body}\n[end ${tag} · reply: tieline reply ${tag}]`;

/** Started by Tieline, with our hooks in the person's settings, as `tieline setup --hooks gemini` puts them there. */
export function hooked(board: Switchboard, options: BenchOptions = {}): Promise<Bench> {
  return board.spawned("gemini", { settings: withHooks({}, { port: null, hook: join(board.home, "hooks", "hook"), wait: "" }), ...options });
}
