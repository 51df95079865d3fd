import { TielineError } from "../model/errors.ts";

/**
 * Inside double quotes tmux gives a meaning to these (a leading `~` is the home directory even there); a raw line
 * break would end the command line.
 */
const special = /[\\"$~\n\r]/g;
const escaped: Record<string, string> = { "\\": "\\\\", '"': '\\"', $: "\\$", "~": "\\~", "\n": "\\n", "\r": "\\r" };

/**
 * One argument for tmux's command parser, on one line. Formats (`#{…}`) keep their meaning where the command expands
 * its argument; the parser itself hands over exactly these bytes.
 */
export function quote(argument: string): string {
  if (argument.includes("\0") || !argument.isWellFormed()) {
    throw new TielineError("BODY_NOT_TEXT", "tmux carries text only: the argument holds a NUL or half a character", {
      remedy: "send valid UTF-8 text without NUL bytes",
    });
  }
  return `"${argument.replace(special, (char) => escaped[char] ?? char)}"`;
}

/** A list of commands as one line: `[["set-buffer", "x"], ["paste-buffer"]]` → `set-buffer "x" ; paste-buffer`. */
export function commandLine(list: readonly (readonly string[])[]): string {
  return list.map(([name = "", ...rest]) => [name, ...rest.map(quote)].join(" ")).join(" ; ");
}
