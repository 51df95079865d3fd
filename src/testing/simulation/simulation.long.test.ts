import { expect, test } from "bun:test";
import { run, stepsOf } from "./run.ts";
import { Shared } from "./world.ts";

const shared = new Shared();

/** More runs than in the default lane, from seeds of their own. */
test.each(Array.from({ length: 20 }, (_, at) => 10_000 + 50 * at))(
  "50 runs from seed %d on keep every promise",
  (from) => {
    const failed: string[] = [];
    for (let seed = from; seed < from + 50; seed++) {
      const { violation } = run({ seed, steps: stepsOf(seed, 60), shared });
      if (violation) failed.push(`npm run simulate -- --seed ${seed} --steps 60 --explain: ${violation.message}`);
    }
    expect(failed).toEqual([]);
  },
  3_600_000,
);
