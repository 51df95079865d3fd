/** When the attempt that left a mark in a pane was claimed. */
export const claimedAt = (mark: string): number => Number(mark.slice(mark.lastIndexOf(":") + 1));

/** The mark of an attempt in a pane. After a restore only the delivery is known, not when it was claimed. */
export function markOfAttempt(mark: string, pasted: string, entered: string): string {
  if (claimedAt(mark) > 0) return mark;
  const delivery = mark.slice(0, mark.lastIndexOf(":") + 1);
  return [entered, pasted].find((found) => found.startsWith(delivery)) ?? mark;
}
