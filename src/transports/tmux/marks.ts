/** When the attempt that left a mark in a pane was claimed. */
export const claimedAt = (mark: string): number => Number(mark.slice(mark.lastIndexOf(":") + 1));
