import type { ArgumentShape, Completion, FlagShape } from "../command.ts";
import { phrase, type DescribedCommand, type DescribedFlag } from "./described.ts";

/** Completion scripts made from the data of the commands, so that they cannot be out of date. */
export const scripts = { bash, zsh, fish } as const;

/** What Tieline itself lists, one value on a line. Errors are silent: no values are no completions. */
const lists = {
  agent: "tieline ls --names 2>/dev/null",
  profile: "tieline profiles ls --names 2>/dev/null",
  team: "tieline team ls --names 2>/dev/null",
  tag: "tieline log --tags 2>/dev/null",
} as const satisfies Partial<Record<Completion, string>>;
type Listed = keyof typeof lists;

const isListed = (complete: Completion | undefined): complete is Listed => complete !== undefined && complete in lists;
const listedIn = (command: DescribedCommand): Listed[] => [
  ...new Set(command.args.map(({ complete }) => complete).filter(isListed)),
];

function bash(commands: readonly DescribedCommand[]): string {
  const cases = commands.map((command) => {
    const values = command.flags.filter(([, flag]) => flag.value !== undefined).flatMap(bashValue);
    return [
      `    ${command.name})`,
      ...(values.length === 0 ? [] : ['      case "$previous" in', ...values, "      esac"]),
      `      words='${[...longFlags(command), ...bashWords(command)].join(" ")}'`,
      ...listedIn(command).map((kind) => `      [[ $current == -* ]] || words+=" $(${lists[kind]})"`),
      "      ;;",
    ].join("\n");
  });
  return `# Tieline completions for bash
_tieline() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" words=''
  COMPREPLY=()
  if (( COMP_CWORD == 1 )); then
    COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(" ")}' -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _tieline tieline
`;
}

function bashValue([name, flag]: DescribedFlag): string[] {
  const pattern = flag.short ? `-${flag.short}|--${name}` : `--${name}`;
  return [`        ${pattern}) ${bashReply(flag)}; return ;;`];
}

function bashReply({ choices, suggest = choices, complete }: FlagShape): string {
  if (suggest) return `COMPREPLY=($(compgen -W '${suggest.join(" ")}' -- "$current"))`;
  if (isListed(complete)) return `COMPREPLY=($(compgen -W "$(${lists[complete]})" -- "$current"))`;
  const actions: Record<Exclude<Completion, Listed>, string> = {
    file: 'COMPREPLY=($(compgen -f -- "$current"))',
    directory: 'COMPREPLY=($(compgen -d -- "$current"))',
  };
  return complete ? actions[complete] : ":";
}

function zsh(commands: readonly DescribedCommand[]): string {
  const names = commands.map(({ name, summary }) => `    ${quote(`${name}:${phrase(summary)}`)}`);
  const cases = commands.map((command) => {
    const flags = command.flags.map(zshFlag);
    const args = command.args.map((argument, index) =>
      quote(`${argument.many ? "*" : index + 1}:${argument.name}:${zshAction(argument)}`),
    );
    return [
      `    ${command.name}) _arguments -S \\`,
      ...[...flags, ...args].map((spec) => `      ${spec} \\`),
      "      && return ;;",
    ].join("\n");
  });
  return `#compdef tieline
${Object.entries(lists)
  .map(([kind, list]) => `_tieline_${kind}s() { local -a found; found=(\${(f)"$(${list})"}); compadd -a found }`)
  .join("\n")}
_tieline() {
  local -a commands
  commands=(
${names.join("\n")}
  )
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  local name=$words[2]
  shift words; (( CURRENT-- ))
  case $name in
${cases.join("\n")}
  esac
}
if [[ $funcstack[1] = _tieline ]]; then _tieline "$@"; else compdef _tieline tieline; fi
`;
}

function zshFlag([name, flag]: DescribedFlag): string {
  const summary = flag.summary.replaceAll(/[[\]:]/g, " ");
  const value = flag.value === undefined ? "" : `:${flag.value}:${zshAction(flag)}`;
  const long = quote(`--${name}[${summary}]${value}`);
  return flag.short ? `${long} ${quote(`-${flag.short}[${summary}]${value}`)}` : long;
}

function zshAction({
  choices,
  suggest = choices,
  complete,
}: Pick<FlagShape, "choices" | "suggest" | "complete">): string {
  if (suggest) return `(${suggest.join(" ")})`;
  if (isListed(complete)) return `_tieline_${complete}s`;
  return complete === undefined ? " " : complete === "file" ? "_files" : "_files -/";
}

function fish(commands: readonly DescribedCommand[]): string {
  const lines = commands.flatMap((command) => [
    `complete -c tieline -n __fish_use_subcommand -a ${command.name} -d ${quote(phrase(command.summary))}`,
    ...command.flags.map(([name, flag]) => fishFlag(command.name, name, flag)),
    ...command.args.flatMap((argument) => fishArgument(command.name, argument)),
  ]);
  return `# Tieline completions for fish\ncomplete -c tieline -f\n${lines.join("\n")}\n`;
}

function fishFlag(
  command: string,
  name: string,
  { short, value, summary, choices, suggest = choices, complete }: DescribedFlag[1],
): string {
  const parts = [`complete -c tieline -n '__fish_seen_subcommand_from ${command}'`, `-l ${name}`];
  if (short) parts.push(`-s ${short}`);
  if (value !== undefined) parts.push(complete === "file" || complete === "directory" ? "-r -F" : "-x");
  if (suggest) parts.push(`-a ${quote(suggest.join(" "))}`);
  if (isListed(complete)) parts.push(`-a '(${lists[complete]})'`);
  return [...parts, `-d ${quote(summary)}`].join(" ");
}

function fishArgument(command: string, { choices, complete }: ArgumentShape): string[] {
  const values = choices ? quote(choices.join(" ")) : isListed(complete) ? `'(${lists[complete]})'` : null;
  return values === null ? [] : [`complete -c tieline -n '__fish_seen_subcommand_from ${command}' -a ${values}`];
}

const longFlags = (command: DescribedCommand): string[] => command.flags.map(([name]) => `--${name}`);
const bashWords = (command: DescribedCommand): string[] => command.args.flatMap((argument) => argument.choices ?? []);
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
