import { TielineError } from "../../model/errors.ts";

/** Splits at blanks as a shell would, with quotes and backslashes, and expands nothing. */
export function shellWords(text: string, what: string): string[] {
  const found: string[] = [];
  let word: string | null = null;
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (quote === "" && /\s/.test(character)) {
      if (word !== null) found.push(word);
      word = null;
    } else if (character === quote) {
      quote = "";
    } else if (quote === "" && (character === '"' || character === "'")) {
      quote = character;
      word ??= "";
    } else if (character === "\\" && quote !== "'" && at + 1 < text.length) {
      word = (word ?? "") + text[++at]!;
    } else {
      word = (word ?? "") + character;
    }
  }
  if (quote !== "")
    throw new TielineError("USAGE", `${what}: a ${quote} is not closed`, {
      remedy: `write ${what} '--flag "two words"'`,
    });
  return word === null ? found : [...found, word];
}
