/** Runs a simulation from its seed and its steps, and makes a failing one smaller. */
import { Violation } from "./oracles.ts";
import { calm, perform } from "./perform.ts";
import { seededRandom } from "./random.ts";
import { planSteps, type Step } from "./steps.ts";
import { Shared, World, type WorldMutation } from "./world.ts";

export interface RunOptions {
  readonly seed: number;
  readonly steps: readonly Step[];
  readonly trace?: boolean;
  readonly mutation?: WorldMutation;
  readonly shared?: Shared;
}

export interface RunResult {
  readonly violation: Violation | null;
  readonly trace: string;
  readonly happened: ReadonlyMap<string, number>;
  readonly sends: number;
}

/** When the faults are over, everything is served within this virtual time. */
const livenessMs = 15 * 60_000;
const lateDraftsMs = 60_000;

export const stepsOf = (seed: number, count: number): Step[] => planSteps(seededRandom(seed, "steps"), count);

export function run({ seed, steps, trace = false, mutation = {}, shared = new Shared() }: RunOptions): RunResult {
  const world = new World({ seed, trace, mutation, shared });
  let violation: Violation | null = null;
  try {
    for (const step of steps) {
      world.time.run(step.afterMs);
      world.oracles.check();
      perform(world, step);
    }
    world.time.run(1_000);
    world.oracles.check();
    checkLiveness(world);
  } catch (thrown) {
    if (!(thrown instanceof Violation)) throw thrown;
    violation = thrown;
    world.trace.note("oracle", () => violation!.message);
  }
  return { violation, trace: world.trace.text, happened: world.happened, sends: world.tables.messages.size };
}

function checkLiveness(world: World): void {
  world.trace.note("world", () => "the faults are over");
  calm(world);
  const isLive = (id: Parameters<World["residentOf"]>[0]): boolean => world.residentOf(id) !== null;
  const waiting = (): string[] => world.oracles.settled(isLive);
  for (let passed = 0; passed < livenessMs; passed += 5_000) {
    world.time.run(5_000);
    world.oracles.check();
    if (waiting().length === 0) return;
    // Keys that waited for a paste to end come after it; their user takes them back, too.
    if (passed === lateDraftsMs) for (const { program } of world.residents) program?.key("C-u", "user");
  }
  world.oracles.fail("when the faults are over, everything is served", waiting().join("; "));
}

/** Fewer steps that break the same oracle. */
export function shrink(options: RunOptions, violation: Violation): readonly Step[] {
  const fails = (steps: readonly Step[]): boolean => run({ ...options, steps }).violation?.oracle === violation.oracle;
  let { steps } = options;
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < steps.length;) {
      const fewer = [...steps.slice(0, at), ...steps.slice(at + size)];
      if (fails(fewer)) steps = fewer;
      else at += size;
    }
  }
  return steps;
}
