/** Searching the history by words: all of them, wherever they are, whatever their case and accents. */

/** Words next to each other, in this order. */
export interface Phrase {
  readonly words: readonly string[];
  /** Written with `*` behind it: its last word is a prefix. */
  readonly open: boolean;
}

/** `login "on Safari" fail*`. What has letters on both sides of a mark, such as `auth.ts`, is a phrase as well. */
export function phrasesOf(query: string): Phrase[] {
  const written = query.match(/"[^"]*"\*?|[^\s"]+/g) ?? [];
  const phrases = written.map((text) => ({ words: wordsOf(text), open: text.endsWith("*") }));
  return phrases.filter(({ words }) => words.length > 0);
}

/** Letters and digits; everything else separates words. */
export function wordsOf(text: string): string[] {
  // Marks are removed first, because normalisation sorts a long run of them in quadratic time.
  const plain = text.replaceAll(/\p{M}/gu, "").normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase();
  return plain.match(/[\p{L}\p{N}\p{Co}]+/gu) ?? [];
}

export function containsAll(body: string, phrases: readonly Phrase[]): boolean {
  const words = wordsOf(body);
  return phrases.every((phrase) => words.some((_, at) => standsAt(words, at, phrase)));
}

function standsAt(words: readonly string[], at: number, { words: wanted, open }: Phrase): boolean {
  return wanted.every((word, index) => {
    const found = words[at + index];
    return open && index === wanted.length - 1 ? found?.startsWith(word) === true : found === word;
  });
}
