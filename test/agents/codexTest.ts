/** What the tests of Codex share: how they are declared, what the scripted model calls, and how one is set up. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ToolCall } from "../../fixtures/model-servers/server.ts";
import { launchHooks } from "../../src/providers/codex/hooks.ts";
import { startBench, type Bench, type BenchOptions } from "./bench.ts";
import { pins } from "./install.ts";
import { press } from "./user.ts";
import { programTest } from "./programTest.ts";
import type { Switchboard } from "./switchboard.ts";
import { until } from "./until.ts";

const one = await programTest("codex");
const each =
  <Row extends readonly [string, ...unknown[]]>(rows: readonly Row[]) =>
  (name: string, body: (...row: Row) => Promise<void>): void => {
    for (const row of rows) one(name.replace("%s", row[0]), () => body(...row));
  };
export const codexTest = Object.assign(one, { each });

export const shell = (cmd: string): ToolCall => ({ name: "exec_command", input: { cmd } });
/** A call that the user is asked about. */
export const asking = (cmd: string): ToolCall => ({
  name: "exec_command",
  input: { cmd, sandbox_permissions: "require_escalated", justification: "scripted" },
});

/** Ends the turn, or its open dialog. */
export const interrupt = (bench: Bench): Promise<void> =>
  press(bench, "Escape", ({ text }) => text.includes("Conversation interrupted"));

/** The title shows neither work nor a question, and the composer is at the bottom. */
export async function untilIdle(bench: Bench): Promise<void> {
  await bench.waitForScreen(
    ({ title, text }) => title.includes("project") && !/^[⠀-⣿[]/.test(title) && /^› /m.test(text),
  );
}

/** A Codex on its own, as a user starts it, adopted as `ana`. With `hooks`, its hooks reach us. */
export async function embedded(
  board: Switchboard,
  { hooks = false, settings = {}, ...options }: BenchOptions & { hooks?: boolean } = {},
): Promise<Bench> {
  const ours = hooks
    ? {
        hooks: launchHooks({
          hook: join(board.home, "hooks", "hook"),
          wait: "",
          answer: `codex-cli ${pins.codex.version}`,
        }),
      }
    : {};
  const bench = await startBench("codex", { settings: { ...ours, ...settings }, ...options });
  return bench.after(async () => {
    await board.adopt(bench);
  });
}

/** The server that all of a user's Codexes share, where it usually listens, and a Codex at it. */
export async function openAtSharedServer(bench: Bench, command: readonly string[]): Promise<void> {
  Bun.spawn([...command, "app-server", "--listen", "unix://"], {
    cwd: bench.place.project,
    env: bench.env,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  const socket = join(bench.place.home, ".codex", "app-server-control", "app-server-control.sock");
  await until(() => existsSync(socket), { what: async () => "the shared server listens" });
  await bench.open([...command], 120, 40);
  await bench.untilReady();
}
