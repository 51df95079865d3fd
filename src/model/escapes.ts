/** Terminal escape sequences in an agent's output: colours, titles, links. They are no part of what it says. */

const longestParameters = 64;
const longestString = 2_048;
const parameters = `[0-?]{0,${longestParameters}}[ -/]{0,8}`;
const content = `[^\\x07\\x1b\\x9c\\n]{0,${longestString}}`;

/**
 * Control sequences (colours, cursor), strings (titles, links) that end, and all others, of which only the start goes.
 */
const sequences = new RegExp(
  `(?:\\x1b\\[|\\x9b)${parameters}[@-~]?|\\x1b[\\]PX^_]${content}(?:\\x07|\\x1b\\\\|\\x9c)|\\x1b[ -/]{0,8}[0-~]?`,
  "g",
);
/** A sequence that the text breaks off in. */
const brokenOff = new RegExp(`(?:(?:\\x1b\\[|\\x9b)${parameters}|\\x1b[\\]PX^_]${content}\\x1b?|\\x1b[ -/]{0,8})$`);
const longestSequence = longestString + 8;

export const mayHoldEscapes = (text: string): boolean => text.includes("\x1b") || text.includes("\x9b");

export const withoutEscapes = (text: string): string => (mayHoldEscapes(text) ? text.replaceAll(sequences, "") : text);

/** Where a sequence begins that the rest of the text may complete; the text's length when there is none. */
export function brokenOffAt(text: string): number {
  const from = Math.max(0, text.length - longestSequence);
  const match = brokenOff.exec(text.slice(from));
  return match ? from + match.index : text.length;
}
