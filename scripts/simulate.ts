/**
 * Runs the simulation: `npm run simulate -- [--seed N] [--seeds COUNT] [--steps M] [--replay FILE] [--explain]`.
 * Without a seed it begins at one that the clock gives. Ends with 1 at the first failure, and prints the command that
 * repeats it.
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { asTielineError, TielineError } from "../src/model/errors.ts";
import { readReplay, writeReplay } from "../src/testing/simulation/replay.ts";
import { run, shrink, stepsOf } from "../src/testing/simulation/run.ts";
import type { Step } from "../src/testing/simulation/steps.ts";
import { Shared } from "../src/testing/simulation/world.ts";

const usage = "npm run simulate -- [--seed N] [--seeds COUNT] [--steps M] [--replay FILE] [--explain]";

try {
  process.exitCode = main();
} catch (thrown) {
  const { code, message, remedy } = asTielineError(thrown);
  console.error(`${code}: ${message}\n  ${remedy}`);
  process.exitCode = 2;
}

function main(): number {
  const options = optionsOf(process.argv.slice(2));
  const { explain } = options;
  const shared = new Shared();
  if (options.replay !== undefined) {
    const { seed, steps } = readReplay(options.replay);
    return told(seed, steps, { explain, shared });
  }
  const from = options.seed ?? Math.floor(Date.now() / 1_000);
  const began = performance.now();
  let sends = 0;
  for (let seed = from; seed < from + options.seeds; seed++) {
    const steps = stepsOf(seed, options.steps);
    if (options.seeds === 1) return told(seed, steps, { explain, shared });
    const result = run({ seed, steps, shared });
    sends += result.sends;
    if (result.violation !== null) return told(seed, steps, { explain, shared });
  }
  const seconds = (performance.now() - began) / 1_000;
  console.log(`${options.seeds} runs, ${sends} messages, no failure (${seconds.toFixed(1)} s)`);
  return 0;
}

function told(seed: number, steps: readonly Step[], { explain, shared }: { explain: boolean; shared: Shared }): number {
  const { violation, trace, sends } = run({ seed, steps, shared, trace: explain });
  if (violation === null) {
    if (explain) console.log(trace);
    console.log(`seed ${seed}: ${steps.length} steps, ${sends} messages, no failure`);
    return 0;
  }
  const fewer = shrink({ seed, steps, shared }, violation);
  const path = join(tmpdir(), `tieline-simulation-${seed}.json`);
  writeReplay(path, { seed, steps: fewer, broke: violation.oracle });
  if (explain) console.log(run({ seed, steps: fewer, shared, trace: true }).trace);
  console.error(`seed ${seed}: ${violation.message}`);
  console.error(`${steps.length} steps were cut to ${fewer.length}. To repeat it:`);
  console.error(`  npm run simulate -- --replay ${path}${explain ? "" : " --explain"}`);
  return 1;
}

function optionsOf(argv: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        seed: { type: "string" },
        seeds: { type: "string", default: argv.includes("--seed") ? "1" : "100" },
        steps: { type: "string", default: "60" },
        replay: { type: "string" },
        explain: { type: "boolean", default: false },
      },
    });
    return {
      ...{
        replay: values.replay,
        explain: values.explain,
        seed: values.seed === undefined ? undefined : whole("seed", values.seed, 0),
      },
      ...{ seeds: whole("seeds", values.seeds, 1), steps: whole("steps", values.steps, 1) },
    };
  } catch (thrown) {
    if (thrown instanceof TielineError) throw thrown;
    throw new TielineError("USAGE", thrown instanceof Error ? thrown.message : String(thrown), { remedy: usage });
  }
}

function whole(name: string, text: string, least: number): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new TielineError("USAGE", `--${name} is "${text}", but must be a whole number of at least ${least}`, {
    remedy: usage,
  });
}
