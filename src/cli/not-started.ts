import type { NotStarted } from "../client/schemas/life.ts";
import type { Terminal } from "./terminal.ts";

/** One error for each agent that could not be started; the others were. */
export async function complainOf(failed: readonly NotStarted[], terminal: Terminal): Promise<void> {
  for (const { agent, code, message, remedy } of failed) {
    await terminal.complain(`error ${code}: ${message.startsWith(agent) ? message : `${agent}: ${message}`}\n  ${remedy}`);
  }
}
