/** Stops the whole process for so long: for a reader that cannot wait otherwise, of a file that is being written. */
export const blockFor = (ms: number): void => Bun.sleepSync(ms);
