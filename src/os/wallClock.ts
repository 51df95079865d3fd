/** The time of day, and by how much it was set since this process started, in milliseconds. */
export function wallClock(): { readonly at: number; readonly setByMs: number } {
  const at = Date.now();
  return { at, setByMs: at - performance.timeOrigin - performance.now() };
}
