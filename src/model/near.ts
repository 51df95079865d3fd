/** Edit distance with swaps of neighbours (optimal string alignment), since a swap is the most common slip. */
export function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const change = a[row - 1] === b[column - 1] ? 0 : 1;
      let best = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + change);
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) best = Math.min(best, beforeLast[column - 2]! + 1);
      current.push(best);
    }
    [beforeLast, last] = [last, current];
  }
  return last[b.length]!;
}

/** Longer names are not typos, and comparing two texts takes the product of their lengths. */
const longestWord = 100;

/**
 * The candidates that a user may have meant, nearest first: at most two slips or a third of the length, one in a
 * short word. Words that are only begun are as near as one slip.
 */
export function nearNames(written: string, candidates: Iterable<string>, limit = 3): string[] {
  if (written.length > longestWord) return [];
  const word = written.toLowerCase();
  const slips = word.length <= 3 ? Math.min(1, word.length - 1) : Math.max(2, Math.floor(word.length / 3));
  const near: { name: string; slips: number }[] = [];
  for (const name of new Set(candidates)) {
    const between =
      word.length > 1 && name.toLowerCase().startsWith(word) ? 1 : slipsBetween(word, name.toLowerCase(), slips);
    if (between <= slips) near.push({ name, slips: between });
  }
  return near
    .toSorted((a, b) => a.slips - b.slips || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name);
}

/** Words of too different lengths need not be compared. */
function slipsBetween(word: string, name: string, limit: number): number {
  return Math.abs(name.length - word.length) > limit ? Infinity : distance(word, name);
}

/** The one candidate closest to what was written, however far: for keys, of which there are few. */
export function nearest(written: string, candidates: readonly string[]): string | null {
  let best: string | null = null;
  let least = Infinity;
  for (const candidate of candidates) {
    const between = distance(
      written.slice(0, longestWord).toLowerCase(),
      candidate.slice(0, longestWord).toLowerCase(),
    );
    if (between < least) [best, least] = [candidate, between];
  }
  return best;
}

/** `; did you mean "coder"?`, or nothing. */
export function didYouMean(names: readonly string[]): string {
  if (names.length === 0) return "";
  return `; did you mean ${names.map((name) => `"${name}"`).join(" or ")}?`;
}
