/** What tests of Claude Code have in common. */
import { test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Gate, type ModelRequest } from "../../fixtures/model-servers/server.ts";
import type { Bench } from "./bench.ts";
import { installAgent } from "./install.ts";
import { press } from "./person.ts";

const deadlineMs = 300_000;
export const installed = await installAgent("claude-code");
const missing = "missing" in installed ? installed.missing : undefined;
if (missing) console.error(`SKIPPED: claude-code ${installed.version} cannot be installed here: ${missing}`);

export const claudeTest = (name: string, body: () => Promise<void>, timeoutMs = deadlineMs) => test.skipIf(!!missing)(name, body, timeoutMs);

/** The program itself, for configurations that name it. */
export const claudeProgram = ("command" in installed && installed.command[0]) || "claude";

export const shell = (command: string) => ({ name: "Bash", input: { command, description: "scripted" } });

export const isThere = (bench: Bench, file: string): boolean => existsSync(join(bench.place.project, file));

/** How often the model has read a text in the whole conversation. */
export const timesRead = (request: ModelRequest, text: string): number => request.entries.filter((entry) => entry.text.includes(text)).length;

/** A reply that stops until a message has been sent: what the model wants to do next meets the message on its way. */
export function afterSending(send: () => Promise<string>): { gate: Gate; tag: Promise<string> } {
  const gate = new Gate();
  const tag = gate.reached.then(async () => {
    const sent = await send();
    gate.open();
    return sent;
  });
  return { gate, tag };
}

/** Closes the dialog that the program stands at, as a person does who wants none of it. */
export async function dismiss(bench: Bench): Promise<void> {
  await press(bench, "Escape", async () => (await bench.registry())?.status !== "waiting");
}
