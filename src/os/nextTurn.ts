/** Resolves after other events had their turn: long work calls it between its pieces. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** For work of many small pieces: gives way to other events whenever it has had the process for `budgetMs`. */
export function pacer(budgetMs = 8, now: () => number = () => performance.now()): () => Promise<void> {
  let since = now();
  return async () => {
    if (now() - since < budgetMs) return;
    await nextTurn();
    since = now();
  };
}
