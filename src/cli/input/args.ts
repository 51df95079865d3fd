import { TielineError } from "../../model/errors.ts";
import type { AnyCommand, Argument, Command, Flag, Flags } from "../command.ts";

/** Programs that can be started as agents, for completions. */
export const agentPrograms = ["claude-code", "codex", "gemini", "opencode", "pi"] as const;

/** Every command takes these. */
export const standardFlags = {
  team: { value: "TEAM", complete: "team", summary: "act in this team instead of TIELINE_TEAM or the project's" },
  json: { summary: "print JSON, for scripts" },
  help: { short: "h", summary: "show how the command is used" },
} as const satisfies Flags;

/** Gives `run` the types that the data of its command imply. */
export function command<const A extends readonly Argument[], const F extends Flags>(
  data: Command<A, F>,
): Command<A, F> {
  return data;
}

export interface Parsed {
  readonly args: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly flags: Readonly<Record<string, unknown>>;
}

/**
 * Flags may stand anywhere before `--`; everything after it is text. `--help` wins over whatever else is wrong, so
 * that it always helps.
 */
export async function parse(command: AnyCommand, argv: readonly string[]): Promise<Parsed> {
  const known: Flags = { ...command.flags, ...standardFlags };
  const flags: Record<string, unknown> = {};
  const words: string[] = [];
  if (asksForHelp(argv)) return { args: {}, flags: { help: true } };

  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "--") {
      words.push(...rest.splice(0));
    } else if (word.startsWith("-")) {
      const [written, inline] = splitInline(word);
      const [name, flag] = findFlag(known, written) ?? (await unknownFlag(command, known, written));
      flags[name] =
        flag.value === undefined
          ? switchValue(command, written, inline)
          : flagValue(command, written, flag, inline ?? rest.shift());
    } else {
      words.push(word);
    }
  }
  for (const [name, flag] of Object.entries(known)) {
    if (flag.required && flags[name] === undefined)
      throw usage(command, `--${name} ${flag.value ?? ""}`.trim() + " is missing");
  }
  return { args: assign(command, words), flags };
}

/** The values of arguments and flags that name a field of the operation, by field. */
export function inputOf({ args, flags }: Pick<AnyCommand, "args" | "flags">, given: Parsed): Record<string, unknown> {
  const named = [
    ...(args as readonly Argument[]).map((argument) => [argument, given.args[argument.name]] as const),
    ...Object.entries(flags as Flags).map(([name, flag]) => [flag, given.flags[name]] as const),
  ];
  const input: Record<string, unknown> = {};
  for (const [meaning, value] of named) {
    const isGiven = value !== undefined && !(Array.isArray(value) && value.length === 0);
    if (isGiven && "field" in meaning && typeof meaning.field === "string") input[meaning.field] = value;
  }
  return input;
}

function asksForHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  const options = end < 0 ? argv : argv.slice(0, end);
  return options.includes("--help") || options.includes("-h");
}

/** `--ttl=5m` is `--ttl 5m`. */
function splitInline(word: string): [written: string, inline: string | undefined] {
  const equals = word.startsWith("--") ? word.indexOf("=") : -1;
  return equals < 0 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)];
}

function findFlag(known: Flags, written: string): [string, Flag] | undefined {
  const long = written.startsWith("--");
  const name = written.slice(long ? 2 : 1);
  return Object.entries(known).find(([key, flag]) => (long ? key === name : flag.short === name));
}

async function unknownFlag(command: AnyCommand, known: Flags, written: string): Promise<never> {
  const { didYouMean, nearNames } = await import("../../model/near.ts");
  const near = written.startsWith("--") ? nearNames(written.slice(2), Object.keys(known)) : [];
  throw usage(
    command,
    `unknown flag ${written}${didYouMean(near.map((name) => `--${name}`))}`,
    "text that begins with - goes after --",
  );
}

function switchValue(command: AnyCommand, written: string, inline: string | undefined): true {
  if (inline !== undefined) throw usage(command, `${written} takes no value`);
  return true;
}

function flagValue(command: AnyCommand, written: string, flag: Flag, text: string | undefined): unknown {
  if (text === undefined) throw usage(command, `${written} needs a value: ${written} ${flag.value}`);
  if (flag.choices) checkChoice(command, written, flag.choices, text);
  return flag.parse ? flag.parse(text, written) : text;
}

function checkChoice(command: AnyCommand, what: string, choices: readonly string[], text: string): void {
  if (!choices.includes(text))
    throw usage(command, `${what} is one of ${choices.join(", ")}; not ${JSON.stringify(text)}`);
}

function assign(command: AnyCommand, words: readonly string[]): Parsed["args"] {
  const left = [...words];
  const args: Record<string, string | readonly string[] | undefined> = {};
  for (const argument of command.args as readonly Argument[]) {
    const value = left.shift();
    if (value === undefined && !argument.optional) throw usage(command, `<${argument.name}> is missing`);
    if (value !== undefined && argument.choices) checkChoice(command, argument.name, argument.choices, value);
    args[argument.name] = argument.many ? (value === undefined ? [] : [value, ...left.splice(0)]) : value;
  }
  if (left.length > 0) throw usage(command, `unexpected ${JSON.stringify(left[0])}`);
  return args;
}

/** USAGE, with the command's own usage as the remedy. */
export function usage(command: Pick<AnyCommand, "name" | "usage">, message: string, hint?: string): TielineError {
  const forms = command.usage.map((form) => `tieline ${form}`).join("  or  ");
  return new TielineError("USAGE", message, {
    remedy: `usage: ${forms}${hint === undefined ? "" : `; ${hint}`}; see \`tieline ${command.name} --help\``,
  });
}
