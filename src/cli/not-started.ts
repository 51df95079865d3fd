import type { NotStarted } from "../client/schemas/life.ts";
import { errorText, type Terminal } from "./terminal.ts";

/** One error for each agent that could not be started or adopted; the others were. */
export async function complainOf(failed: readonly NotStarted[], terminal: Terminal): Promise<void> {
  for (const { agent, message, ...error } of failed) {
    await terminal.complain(errorText({ ...error, message: message.startsWith(agent) ? message : `${agent}: ${message}` }));
  }
}
