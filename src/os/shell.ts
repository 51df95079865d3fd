/** Shells, and the programs that run behind them. */
import { basename } from "node:path";
import { descendants, type ProcessFacts, type Processes } from "./processes.ts";

const shells = new Set([
  "sh",
  "bash",
  "zsh",
  "fish",
  "dash",
  "ksh",
  "mksh",
  "ash",
  "tcsh",
  "csh",
  "nu",
  "pwsh",
  "xonsh",
  "elvish",
  "busybox",
]);

/** Quotes a word for a POSIX shell. */
export const shellWord = (word: string): string =>
  /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** A login shell has a dash before its name. */
export const isShell = ({ command }: Pick<ProcessFacts, "command">): boolean => shells.has(command.replace(/^-/, ""));

const posixShells = new Set(["sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "busybox"]);

/** Whether it reads quotes as POSIX has them. */
export const isPosixShell = (name: string): boolean => posixShells.has(name);

/**
 * A shell that runs a script is a program; one without is a prompt. One that is just being started has no arguments
 * yet.
 */
export function isBareShell(program: Pick<ProcessFacts, "command">, argv: readonly string[]): boolean {
  return isShell(program) && argv.length > 0 && !runsScript(argv);
}

function runsScript([shell = "", ...words]: readonly string[]): boolean {
  if (basename(shell) === "busybox") return !shells.has(words[0] ?? "") || runsScript(words);
  const script = words.findIndex((word, at) => isOperand(word) && !takesNext.test(words[at - 1] ?? ""));
  const options = script === -1 ? words : words.slice(0, script);
  if (options.some((word) => runsText.test(word))) return true;
  return script !== -1 && !options.some((word) => readsTerminal.test(word));
}

const isOperand = (word: string): boolean => !/^[-+]/.test(word);

/** `-c`, alone or among others, as in `-lc`; bash takes its long options with one dash, too. */
const runsText = /^(-(?!norc$|rcfile$)[a-zA-Z]*c[a-zA-Z]*|--commands?(=.*)?)$/;

/** `-s`: what follows are arguments for what is typed. */
const readsTerminal = /^-[a-zA-Z]*s[a-zA-Z]*$/;

/**
 * Options that have the next word for themselves: a set-up file, a setting's name, a command before the first prompt.
 */
const takesNext = /^([-+][a-zA-Z]*[oO]|-C|--?(rcfile|init-file|init-command|config|env-config|execute))$/;

/**
 * What a program has started in its own process group, where it shares the terminal with it, as a script does with what
 * it runs.
 */
export async function groupBelow(
  { pid, processGroup }: Pick<ProcessFacts, "pid" | "processGroup">,
  processes: Processes,
): Promise<ProcessFacts[]> {
  return (await descendants(processes, pid)).filter((one) => one.processGroup === processGroup);
}
