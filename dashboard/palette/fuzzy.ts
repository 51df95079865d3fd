/** Finds what a user means by a few letters: they occur in this order, best at the beginnings of words. */

export interface Match {
  readonly score: number;
  /** The places of the letters in the text. */
  readonly at: readonly number[];
}

const startsWord = (text: string, at: number): boolean =>
  at === 0 || /[^\p{L}\p{N}]/u.test(text[at - 1]!) || (/\p{Lu}/u.test(text[at]!) && /\p{Ll}/u.test(text[at - 1]!));

/** Every word of the query has to be found; null: one is not. */
export function fuzzy(query: string, text: string): Match | null {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  let score = 0;
  const at: number[] = [];
  for (const word of words) {
    const match = inOrder(word, text);
    if (match === null) return null;
    score += match.score;
    at.push(...match.at);
  }
  return { score: score - text.length / 1_000, at: [...new Set(at)].toSorted((a, b) => a - b) };
}

function inOrder(word: string, text: string): Match | null {
  const lower = text.toLowerCase();
  const whole = wholeIn(word, text, lower);
  if (whole !== null) return whole;
  const at: number[] = [];
  let score = 0;
  let from = 0;
  for (const letter of word) {
    const next = nextOf(letter, text, lower, from);
    if (next < 0) return null;
    score += startsWord(text, next) ? 6 : next === from && at.length > 0 ? 4 : 1;
    at.push(next);
    from = next + letter.length;
  }
  return { score, at };
}

/** The word as it is, at the beginning of a word if possible. */
function wholeIn(word: string, text: string, lower: string): Match | null {
  let best = lower.indexOf(word);
  for (let next = best; next >= 0; next = lower.indexOf(word, next + 1)) {
    if (!startsWord(text, next)) continue;
    best = next;
    break;
  }
  if (best < 0) return null;
  const score = 10 * word.length + (startsWord(text, best) ? 10 : 0) + (best === 0 ? 5 : 0);
  return { score, at: Array.from({ length: word.length }, (_, index) => best + index) };
}

/** The letter at the next beginning of a word, else the next one. */
function nextOf(letter: string, text: string, lower: string, from: number): number {
  const first = lower.indexOf(letter, from);
  if (first === from) return first;
  for (let next = first; next >= 0; next = lower.indexOf(letter, next + 1)) if (startsWord(text, next)) return next;
  return first;
}
