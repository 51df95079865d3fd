import { describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { timersContract } from "../timersContract.ts";
import { simulatedModes } from "./failureModes.ts";
import { mutants } from "./mutants.ts";
import { Violation } from "./oracles.ts";
import { readReplay, writeReplay } from "./replay.ts";
import { run, shrink, stepsOf } from "./run.ts";
import { faults, type Fault } from "./steps.ts";
import { VirtualTime } from "./virtualTime.ts";
import { Shared } from "./world.ts";

const shared = new Shared();
const fixtures = join(import.meta.dir, "../../../fixtures/simulation");
const patienceMs = 600_000;
/** The event that shows a fault, where that is not the fault itself. */
const eventOf: Partial<Record<Fault, string>> = {
  "answer-lost": "answer lost after execution",
  "commit-lost": "commit lost",
  "dialog-after-paste": "something happened between paste and Enter",
  "hook-dies": "hook died after it wrote",
  kill: "process killed between two requests",
  "kill-at-commit": "commit killed-after",
  "socket-answer-lost": "socket: answer lost",
  "socket-drops": "socket: success and dropped",
  "swallow-enter": "Enter was swallowed",
  "swallow-paste": "a paste was swallowed",
  "typing-after-paste": "something happened between paste and Enter",
  "watch-doubled": "watch event doubled",
  "watch-late": "watch event late",
  "watch-lost": "watch event lost",
};

timersContract("virtual", () => {
  const time = new VirtualTime(0);
  return {
    timers: time.timersOf({ alive: true }),
    async settled(promise) {
      let isSettled = false;
      const done = promise.finally(() => (isSettled = true));
      while (!isSettled) {
        time.step();
        await Promise.resolve();
      }
      return done;
    },
  };
});

test("timers of a process that was killed never run", () => {
  const time = new VirtualTime(0);
  const life = { alive: true };
  let ran = 0;
  time.timersOf(life).after(5, () => ran++);
  life.alive = false;
  time.run(10);
  expect(ran).toBe(0);
});

test.each([1, 7, 12])("seed %d gives the same trace, byte for byte", (seed) => {
  const steps = stepsOf(seed, 60);
  const first = run({ seed, steps, shared, trace: true }).trace;
  expect(first.split("\n").length).toBeGreaterThan(100);
  expect(run({ seed, steps, trace: true }).trace).toBe(first);
  expect(run({ seed: seed + 1, steps, shared, trace: true }).trace).not.toBe(first);
});

describe("every run keeps its promises, and serves everything when the faults are over", () => {
  const happened = new Map<string, number>();
  const size = 20;
  const chunks = Array.from({ length: 6 }, (_, at) => 1 + at * size);

  test.each(chunks)(
    "20 seeds from %d on",
    (from) => {
      for (let seed = from; seed < from + size; seed++) {
        const result = run({ seed, steps: stepsOf(seed, 60), shared });
        for (const [what, times] of result.happened) happened.set(what, (happened.get(what) ?? 0) + times);
        if (result.violation)
          throw new Error(`npm run simulate -- --seed ${seed} --explain`, { cause: result.violation });
      }
    },
    patienceMs,
  );

  test.each(faults.map((fault) => [fault, eventOf[fault] ?? `fault: ${fault}`] as const))(
    "sometimes: %s",
    (_, event) => {
      expect(happened.get(event) ?? 0).toBeGreaterThan(0);
    },
  );

  test.each(Object.entries(simulatedModes))("sometimes: failure mode %s", (_, events) => {
    expect(events.filter((event) => !happened.has(event))).toEqual([]);
  });

  test("docs/failure-modes.md names the simulated ones", () => {
    const page = readFileSync(join(import.meta.dir, "../../../docs/failure-modes.md"), "utf8");
    const named = /simulated as well: ([\d, ]+)/.exec(page.replaceAll("\n", " "))?.[1];
    expect(named?.split(",").map(Number)).toEqual(Object.keys(simulatedModes).map(Number));
  });
});

test.each(readdirSync(fixtures))("what was found once is not there any more: %s", (name) => {
  const { seed, steps } = readReplay(join(fixtures, name));
  expect(run({ seed, steps, shared }).violation).toBeNull();
});

describe("known bugs are found", () => {
  test.each(mutants.map((mutant) => [mutant.name, mutant] as const))(
    "%s",
    (_, { mutation, withinSeeds, firstSeed = 1 }) => {
      for (let seed = firstSeed; seed < firstSeed + withinSeeds; seed++)
        if (run({ seed, steps: stepsOf(seed, 60), shared, mutation }).violation !== null) return;
      throw new Error(`not found by ${withinSeeds} seeds`);
    },
    patienceMs,
  );

  test("a failing run is made smaller, and the smaller one fails in the same way", () => {
    const { mutation } = mutants.find(({ name }) => name === "delivered counts as seen")!;
    const options = { seed: 1, steps: stepsOf(1, 60), shared, mutation };
    const { violation } = run(options);
    expect(violation).toBeInstanceOf(Violation);
    const steps = shrink(options, violation!);
    expect(steps).toHaveLength(1);
    expect(run({ ...options, steps }).violation?.oracle).toBe(violation!.oracle);
  });
});

describe("a file of a run", () => {
  const inFolder = (content: string, use: (path: string) => void): void => {
    const folder = mkdtempSync(join(tmpdir(), "tl-simulation-"));
    try {
      writeFileSync(join(folder, "run.json"), content);
      use(join(folder, "run.json"));
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  test("is read as it was written", () => {
    inFolder("", (path) => {
      const replay = { seed: 5, steps: stepsOf(5, 200), broke: "order" };
      writeReplay(path, replay);
      expect(readReplay(path)).toMatchObject(replay);
    });
  });

  test.each([
    [
      "another version",
      '{"version": 2, "seed": 1, "steps": []}',
      "it has version 2, and this simulation reads version 1",
    ],
    ["no JSON", "seed 7", "it is not JSON"],
    ["something else", '{"name": "tieline"}', "it is not a simulation (version"],
    ["an unknown step", '{"version": 1, "seed": 1, "broke": "", "steps": [{"afterMs": 1, "do": "dance"}]}', "steps.0"],
  ])("is refused with a reason: %s", (_, content, why) => {
    inFolder(content, (path) => {
      expect(() => readReplay(path)).toThrow(why);
      expect(() => readReplay(path)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    });
  });

  test("is refused where there is none", () => {
    expect(() => readReplay("/nowhere/run.json")).toThrow("it cannot be read");
  });
});
