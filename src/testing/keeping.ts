import { afterEach } from "bun:test";

/** Keeps what a test has opened until it has ended; what was opened last closes first. */
export function keeping(): <T extends AsyncDisposable>(one: T) => T {
  const open: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const one of open.splice(0).toReversed()) await one[Symbol.asyncDispose]();
  });
  return (one) => {
    open.push(one);
    return one;
  };
}
