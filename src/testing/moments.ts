/** For tests in which the moment is the point: it differs from run to run, and nothing is waited for. */
export const aMomentWithin = (ms: number): Promise<void> => Bun.sleep(Math.random() * ms);
