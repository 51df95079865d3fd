/**
 * Nothing in the product asks the runtime for time or chance by itself, so that a simulation can decide both. Each way
 * around the ports has a sample of its own.
 */
import { containing, importing, isIn, isInOne, product, type Rule } from "./selection.ts";
import { sourceOf, type Source } from "./sources.ts";

/** Where the ports are made, and programs that run inside other ones. */
const timekeepers = ["src/model/ids.ts", "src/providers/pi/extension.ts"];
/** Programs of their own, which take the real ports. */
const programs = ["cli", "client", "mcp", "sdk", "compose"];

const outsideOs = (sources: readonly Source[]): Source[] =>
  product(sources).filter(({ path }) => !isIn(path, "os") && !timekeepers.includes(path));

const time = [
  ...["setTimeout(wake, 1_000);", "setInterval(sweep, 1_000);", "setImmediate(flush);"],
  ...["await Bun.sleep(10);", "Bun.sleepSync(10);", "AbortSignal.timeout(1_000);"],
  ...["const at = Date.now();", "const at = new Date();", "const at = performance.now();"],
  ...["const at = performance.timeOrigin;", "const at = process.hrtime();", "const at = Bun.nanoseconds();"],
];
const timePattern = new RegExp(
  [
    /\bset(Timeout|Interval|Immediate)\b/,
    /\bBun\.(sleep(Sync)?|nanoseconds)\b/,
    /\bAbortSignal\.timeout\b/,
    /\b(Date|performance)\.now\b/,
    /\bnew Date\(\)/,
    /\b(timeOrigin|hrtime)\b/,
  ]
    .map(({ source }) => source)
    .join("|"),
);

const chance = [
  ...["const key = crypto.randomUUID();", "const key = randomBytes(16);", "const lot = Math.random();"],
  ...["const lot = randomInt(6);", "crypto.getRandomValues(new Uint8Array(16));", "const key = Bun.randomUUIDv7();"],
];
const chancePattern = /\bMath\.random\b|\b(randomUUID(v7)?|randomBytes|randomInt|randomFill(Sync)?|getRandomValues)\b/;

const rule = (
  name: string,
  violations: Rule["violations"],
  samples: readonly string[],
  path = "src/delivery/a.ts",
): Rule[] => samples.map((sample) => ({ name: `${name}: ${sample}`, violations, broken: [sourceOf(path, sample)] }));

export const timeRules: readonly Rule[] = [
  ...rule(
    "time comes in as a parameter",
    (sources) => [
      ...containing(outsideOs(sources), timePattern, "take Timers or Clock as a parameter"),
      ...importing(outsideOs(sources), (target) => !/^(node:)?timers/.test(target), "take Timers as a parameter"),
    ],
    [...time, `import { setTimeout as pause } from "node:timers/promises";`],
  ),
  ...rule(
    "chance comes in as a parameter",
    (sources) => containing(outsideOs(sources), chancePattern, "take RandomBytes as a parameter"),
    chance,
  ),
  ...rule(
    "a part uses the time and chance that it is given",
    (sources) =>
      containing(
        outsideOs(sources).filter(({ path }) => !isInOne(path, programs)),
        /\bsystem(Timers\.|Files\.|Clock\(|Elapsed\(|Random\()/,
        "the real one is only a default",
      ),
    [
      ...["await systemTimers.pause(10);", "const at = systemClock();", "const at = systemElapsed();"],
      ...["const key = systemRandom(16);", "systemFiles.sizeOf(path);"],
    ],
  ),
];
