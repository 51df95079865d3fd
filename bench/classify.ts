/** Reading one screen: every captured one, against a plain search through its text. Target: 1 ms for the slowest. */
import { classify } from "../src/providers/screen.ts";
import { labelledScreens } from "../src/testing/screens.ts";
import { providers } from "../src/compose/providers.ts";

const rounds = 40;
const targetMs = 1;
const screens = labelledScreens().map((one) => ({ ...one, manifest: providers.screen(one.provider) }));

const floor = microsecondsPer(screens, ({ screen }) => screen.lines.join("\n").includes("no such text"));
const each = screens
  .map((one) => microsecondsPer([one], ({ manifest, screen }) => classify(manifest, screen)))
  .toSorted((a, b) => a - b);
const mean = each.reduce((sum, one) => sum + one, 0) / each.length;
const slowest = each.at(-1)!;
const verdict = slowest < targetMs * 1000 ? "ok" : "TOO SLOW";
console.log(`floor: one search through the text         ${floor.toFixed(1)} µs`);
console.log(
  `classify, mean of ${each.length} screens            ${mean.toFixed(1)} µs  (${(mean / floor).toFixed(1)} × floor)`,
);
console.log(
  `classify, the slowest screen               ${slowest.toFixed(1)} µs  (${(slowest / floor).toFixed(1)} × ` +
    `floor; target ${targetMs} ms: ${verdict})`,
);

/** The median round, because others use the machine too. */
function microsecondsPer<One>(items: readonly One[], run: (item: One) => unknown): number {
  const times = Array.from({ length: rounds }, () => {
    const start = performance.now();
    for (const item of items) run(item);
    return ((performance.now() - start) * 1000) / items.length;
  });
  return times.toSorted((a, b) => a - b)[rounds / 2]!;
}
