/**
 * How a program ended that ended soon after its start: its exit code and its last lines, from the pane that tmux kept.
 */
import { exitIn, exitWords, type Exit } from "../../model/agent.ts";
import { asTielineError, TielineError } from "../../model/errors.ts";
import { shellWord } from "../../os/shell.ts";
import { killPaneOf } from "../../tmux/session.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import { lookFor } from "../start/patience.ts";

/** A program that ends sooner than this has not really run. Until then its pane stays when it ends. */
export const shortLifeMs = 10_000;

const keptLines = 20;
const longestLine = 300;
const longestWord = 60;
const longestCommand = 160;

/** Which pane, so that no other one is read or closed in its place. */
export interface KeptPane {
  readonly pane: string;
  readonly panePid: number;
  readonly serverPid: number;
}

/** Reads how the program of the pane ended, and closes the pane. null: it still runs, or the pane is gone. */
export async function takeExit(
  server: TmuxServer,
  kept: KeptPane,
  run: { readonly command: string; readonly afterMs: number },
): Promise<Exit | null> {
  try {
    let facts = await factsOf(server, kept);
    if (!facts.dead) return null;
    // The terminal may be closed before tmux has collected the exit. tmux 3.3a can miss it until another child ends.
    if (facts.code === null && facts.signal === null) {
      await server.run([["run-shell", "-b", "true"]]);
      await lookFor(
        async () => (facts = await factsOf(server, kept)).code ?? facts.signal ?? undefined,
        collectedWithinMs,
      );
    }
    const output = await server.read([["capture-pane", "-p", "-J", "-t", kept.pane, "-S", "-50"]]);
    await killPaneOf(server, kept);
    return { ...run, code: facts.code, signal: facts.signal, output: lastLines(output) };
  } catch (thrown) {
    if (["PANE_UNKNOWN", "TMUX_UNAVAILABLE"].includes(asTielineError(thrown).code)) return null;
    throw thrown;
  }
}

const collectedWithinMs = 1_000;

async function factsOf(
  server: TmuxServer,
  kept: KeptPane,
): Promise<{ dead: boolean; code: number | null; signal: number | null }> {
  const format = "#{pid} #{pane_pid} #{pane_dead} #{pane_dead_status} #{pane_dead_signal}";
  const [facts = ""] = await server.read([["display-message", "-p", "-t", kept.pane, format]]);
  const [serverPid, panePid, dead, code = "", signal = ""] = facts.split(" ");
  const isIt = Number(serverPid) === kept.serverPid && Number(panePid) === kept.panePid;
  return { dead: isIt && dead === "1", code: numberIn(code), signal: numberIn(signal) };
}

const numberIn = (text: string): number | null => (text === "" ? null : Number(text));

/** tmux writes a line of its own below what the program printed. */
function lastLines(screen: readonly string[]): string[] {
  const lines = screen
    .map((line) => line.trimEnd())
    .filter((line) => line !== "" && !/^Pane is dead( \(|$)/.test(line));
  return lines.slice(-keptLines).map((line) => line.slice(0, longestLine));
}

/** A command as a user would type it, without its long prompt. */
export function commandWords(command: readonly string[]): string {
  const words = command
    .map((word) => shellWord(word.length > longestWord ? `${word.slice(0, longestWord)}…` : word))
    .join(" ");
  return words.length > longestCommand ? `${words.slice(0, longestCommand)}…` : words;
}

/** Why a start failed, for a sentence that names the agent already. */
export function failedStart(error: TielineError): string {
  const exit = exitIn(error);
  return exit === null ? error.message : exitWords(exit);
}

export const exitedAtOnce = (name: string, exit: Exit, cwd: string | null = null): TielineError =>
  new TielineError("SPAWN_FAILED", `${name} ${exitWords(exit)}`, {
    remedy: `correct its command (\`${exit.command}\`) or what it needs${cwd === null ? "" : `; it runs in ${cwd}`}`,
    operands: { agent: name, exit },
  });
