/** Shells, and the programs that run behind them. */
import { descendants, type ProcessFacts, type Processes } from "../tmux/process.ts";

const shells = new Set(["sh", "bash", "zsh", "fish", "dash", "ksh", "mksh", "ash", "tcsh", "csh", "nu", "busybox"]);

/** A login shell has a dash before its name. */
export const isShell = ({ command }: Pick<ProcessFacts, "command">): boolean => shells.has(command.replace(/^-/, ""));

/** A shell that runs a script is a program; one without is a prompt. */
export function isBareShell(program: Pick<ProcessFacts, "command">, argv: readonly string[]): boolean {
  return isShell(program) && !argv.slice(1).some((argument, at) => !argument.startsWith("-") || argument === "-c" || argv[at] === "-c");
}

/** What a program has started in its own process group, where it shares the terminal with it, as a script does with what it runs. */
export async function groupBelow({ pid, processGroup }: Pick<ProcessFacts, "pid" | "processGroup">, processes: Processes): Promise<ProcessFacts[]> {
  return (await descendants(processes, pid)).filter((one) => one.processGroup === processGroup);
}
