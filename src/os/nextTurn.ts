/** Resolves after other events had their turn: long work calls it between its pieces. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
