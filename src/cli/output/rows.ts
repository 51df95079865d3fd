/**
 * The rows that are new on a screen. Text that scrolled is recognised where the old rows, without those
 * that left at the top and the one that was still being written, begin the new ones; a screen that was redrawn is
 * new as a whole.
 */
export function newRows(before: readonly string[], now: readonly string[]): readonly string[] {
  for (let gone = 0; gone < before.length; gone++) {
    const kept = before.slice(gone);
    if (begins(now, kept)) return now.slice(kept.length);
    if (kept.length > 1 && begins(now, kept.slice(0, -1))) return now.slice(kept.length - 1);
  }
  return now;
}

const begins = (rows: readonly string[], beginning: readonly string[]): boolean =>
  beginning.length <= rows.length && beginning.every((row, at) => row === rows[at]);

/** Blocks of lines with an empty line between each two. */
export const apart = (blocks: readonly (readonly string[])[]): string[] =>
  blocks.flatMap((lines, at) => (at === 0 ? lines : ["", ...lines]));
