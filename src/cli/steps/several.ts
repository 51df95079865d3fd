import type { Client } from "../../client/client.ts";
import type { AgentView } from "../../api/schema.ts";
import type { NotStarted } from "../../api/schemas/life.ts";
import { asTielineError, type TielineError } from "../../model/errors.ts";
import { agentTable, presentAgent } from "../output/agentTable.ts";
import { complainOf } from "../output/notStarted.ts";
import type { Presenting } from "../output/present.ts";

/**
 * Does one thing to each of the named agents, all at once. One name: its agent, or its error. Several: those that it
 * was done to, one error for each other, and the exit code of the first error.
 */
export async function doToEach(
  verb: "kill" | "stop" | "restart",
  names: readonly string[],
  daemon: Client,
  { flags, terminal }: Presenting,
): Promise<number> {
  const wanted = [...new Set(names)];
  if (wanted.length === 1) return presentAgent(await daemon.call(verb, { agent: wanted[0]! }), { flags, terminal });
  const done: AgentView[] = [];
  const failed: NotStarted[] = [];
  let first: TielineError | null = null;
  const results = await Promise.allSettled(wanted.map((agent) => daemon.call(verb, { agent })));
  for (const [at, result] of results.entries()) {
    if (result.status === "fulfilled") {
      done.push(result.value);
      continue;
    }
    const error = asTielineError(result.reason);
    first ??= error;
    failed.push({ agent: wanted[at]!, code: error.code, message: error.message, remedy: error.remedy });
  }
  if (flags.json) await terminal.json({ done, failed });
  else {
    if (done.length > 0) await terminal.print(agentTable(done, terminal, { now: terminal.now(), teams: true }));
    await complainOf(failed, terminal);
  }
  return first?.exitCode ?? 0;
}
