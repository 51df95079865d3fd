import type { Output } from "../../api/schema.ts";
import type { NotStarted } from "../../api/schemas/life.ts";
import { errorText, type Terminal } from "./terminal.ts";

/** One error for each agent that could not be started or adopted; the others were. */
export async function complainOf(failed: readonly NotStarted[], terminal: Terminal): Promise<void> {
  for (const { agent, message, ...error } of failed) {
    await terminal.complain(
      errorText({ ...error, message: message.startsWith(agent) ? message : `${agent}: ${message}` }),
    );
  }
}

/** tieline.yaml declares no agents: nothing was started, and no session was made. */
export const isEmpty = ({ started, already, failed }: Output<"up">): boolean =>
  started.length + already.length + failed.length === 0;

export const noAgents =
  "tieline.yaml has no agents; add one under `agents:`, such as `engineer: {}`, or start one with `tieline " +
  "spawn engineer`";
