/** What every benchmark needs: sorted times, medians, and one line that says the ratio and its target. */

export const median = (times: readonly number[]): number => quantile(times, 0.5);

export function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Runs the candidates in turn, so that whatever else the machine does hurts all of them alike. */
export async function interleaved(
  rounds: number,
  candidates: Readonly<Record<string, () => unknown>>,
): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(candidates)) {
      const from = performance.now();
      await run();
      times[name]!.push(performance.now() - from);
    }
  }
  return times;
}

export function report(what: string, ratio: number, target: number, detail: string): void {
  const verdict = ratio <= target ? "within" : "OVER";
  console.log(`${what}: ratio ${ratio.toFixed(2)} (${verdict} ${target}) · ${detail}`);
}

export const ms = (value: number): string => `${value.toFixed(2)} ms`;
