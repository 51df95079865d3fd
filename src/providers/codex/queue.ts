/**
 * The queue of a Codex on its own: another process of the same program may put something in, and it takes it out at
 * rest.
 */
import { existsSync } from "node:fs";
import type { Agent } from "../../model/agent.ts";
import { environOf, linkOf } from "../processFiles.ts";
import { allHeldBy, homeOfCodex } from "./processes.ts";
import { findRollout, rolloutFolders, type Rollout } from "./rollout.ts";
import { tmuxEndpoint } from "../../delivery/transports/paneEndpoint.ts";

export interface CodexQueue {
  /** Where the thread is written down. */
  readonly transcript: Rollout;
  /** Resolves with Codex's complaint, or null when it has taken the text. */
  add(text: string, signal: AbortSignal): Promise<string | null>;
}

/**
 * Null: the agent is in no thread of its own that has begun, or in one of several, of which nothing tells the one in
 * front.
 */
export function codexQueueOf(agent: Agent): CodexQueue | null {
  const pid = tmuxEndpoint.of(agent)?.locator.agentPid;
  if (pid === undefined) return null;
  const [held, ...others] = allHeldBy(pid);
  if (held === undefined || others.length > 0) return null;
  const program = linkOf(held.holder, "exe");
  const home = homeOfCodex(pid) ?? "/";
  const transcript = findRollout(home, held.threadId);
  // A thread is written down with its first turn; before that Codex does not know it by its id.
  if (program === null || transcript === null || !existsSync(transcript)) return null;
  return {
    transcript: { path: transcript, below: rolloutFolders(home) },
    add: (text, signal) =>
      run([program, "queue", "--thread", held.threadId, "--message", text], environOf(pid), signal),
  };
}

/** What `codex queue` has to know of the Codex that it writes to. */
const needed: ReadonlySet<string> = new Set(["HOME", "CODEX_HOME", "PATH", "TMPDIR"]);

async function run(
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string | null> {
  if (signal.aborted) return "the attempt was called off before it began";
  const env = Object.fromEntries(Object.entries(environment).filter(([name]) => needed.has(name)));
  const child = Bun.spawn([...command], { env, cwd: "/", stdin: "ignore", stdout: "ignore", stderr: "pipe", signal });
  const [complaint, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  return code === 0 ? null : `codex queue ended with ${code}: ${complaint.trim().slice(0, 500)}`;
}
