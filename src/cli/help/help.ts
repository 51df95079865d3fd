import type { ArgumentShape, FlagShape, Group } from "../command.ts";
import { phrase, type DescribedCommand } from "./described.ts";
import { apart } from "../output/rows.ts";
import type { Paint } from "../output/terminal.ts";

/** What fits into most terminals, and is read without effort. */
const helpWidth = 96;

export const groups: readonly Group[] = ["Messages", "Agents", "Project", "Tieline itself"];

export function overview(commands: readonly DescribedCommand[], paint: Paint): string[] {
  const width = Math.max(...commands.map(({ name }) => name.length)) + 3;
  const listed = groups.flatMap((group) => [
    "",
    paint("bold", group),
    ...commands
      .filter((command) => command.group === group)
      .map(({ name, summary }) => `  ${paint("cyan", name.padEnd(width))}${phrase(summary)}`),
  ]);
  return [
    "Tieline: send messages to AI coding agents by name, and see whether they arrived.",
    "",
    "usage: tieline <command> [arguments]",
    ...listed,
    "",
    `\`tieline <command> --help\` shows how one is used. Every command takes --json, --team and --help.`,
  ];
}

export function helpFor(command: DescribedCommand, paint: Paint): string[] {
  const sections = [
    wrap(command.summary, helpWidth),
    section(
      "Usage",
      command.usage.map((form) => `tieline ${form}`),
      paint,
    ),
    apart(command.details.map((paragraph) => wrap(paragraph, helpWidth))),
    section("Actions", columns(command.actions), paint),
    section("Arguments", columns(command.args.map((argument) => [argumentName(argument), describe(argument)])), paint),
    section("Flags", columns(command.flags.map(([name, flag]) => [flagName(name, flag), describe(flag)])), paint),
    section(
      "Examples",
      command.examples.flatMap(([line, why]) => [paint("dim", `# ${why}`), line]),
      paint,
    ),
  ];
  return apart(sections.filter((lines) => lines.length > 0));
}

export function argumentName({ name, optional, many }: ArgumentShape): string {
  const label = many ? `${name}…` : name;
  return optional ? `[${label}]` : `<${label}>`;
}

export function flagName(name: string, { short, value }: FlagShape): string {
  const names = short === undefined ? `--${name}` : `-${short}, --${name}`;
  return value === undefined ? names : `${names} ${value}`;
}

export function describe({ summary, choices }: { summary: string; choices?: readonly string[] }): string {
  const isExplained = choices?.every((choice) => summary.includes(`${choice}: `)) ?? true;
  return isExplained ? summary : `${summary} (${choices!.join(", ")})`;
}

function section(title: string, lines: readonly string[], paint: Paint): string[] {
  return lines.length === 0 ? [] : [paint("bold", title), ...lines.map((line) => `  ${line}`)];
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...rows.map(([name]) => name.length)) + 3;
  return rows.flatMap(([name, text]) =>
    wrap(text, helpWidth - width - 2).map((line, index) => (index === 0 ? name : "").padEnd(width) + line),
  );
}

function wrap(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1)!;
    if (line === "") lines[lines.length - 1] = word;
    else if (line.length + word.length < width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}
