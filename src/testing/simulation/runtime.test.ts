/** The product in a simulation lives on its ports alone: nothing asks the runtime for time or chance behind them. */
import { expect, test } from "bun:test";
import { run, stepsOf } from "./run.ts";
import { Shared } from "./world.ts";

const shared = new Shared();
/** A busy machine is no reason to fail. */
const patienceMs = 600_000;

const forbidden: readonly (readonly [object, readonly string[]])[] = [
  [globalThis, ["setTimeout", "setInterval", "setImmediate"]],
  [Date, ["now"]],
  [performance, ["now"]],
  [Math, ["random"]],
  [crypto, ["randomUUID", "getRandomValues"]],
  [AbortSignal, ["timeout"]],
];

/** Runs synchronous work while every use of the runtime's time and chance is written down and fails. */
function withoutRuntime<Result>(work: () => Result): { readonly result: Result; readonly used: readonly string[] } {
  const used: string[] = [];
  using restored = new DisposableStack();
  for (const [owner, names] of forbidden) {
    for (const name of names) {
      const real = Object.getOwnPropertyDescriptor(owner, name);
      const refuse = (): never => {
        used.push(name);
        throw new Error(`${name} was asked for`);
      };
      Object.defineProperty(owner, name, { configurable: true, writable: true, value: refuse });
      restored.defer(() => {
        if (real) Object.defineProperty(owner, name, real);
        else Reflect.deleteProperty(owner, name);
      });
    }
  }
  return { result: work(), used };
}

test("a use of the runtime is noticed, and is possible again afterwards", () => {
  const { used } = withoutRuntime(() => {
    expect(() => Date.now()).toThrow("now was asked for");
    expect(() => crypto.randomUUID()).toThrow("randomUUID was asked for");
  });
  expect(used).toEqual(["now", "randomUUID"]);
  expect(Date.now()).toBeGreaterThan(0);
  expect(crypto.randomUUID()).toHaveLength(36);
});

test.each([1, 2, 3, 4, 5])(
  "seed %d asks the runtime for nothing",
  (seed) => {
    const steps = stepsOf(seed, 40);
    const expected = run({ seed, steps, shared, trace: true }).trace;
    const { result, used } = withoutRuntime(() => run({ seed, steps, shared, trace: true }));
    expect(used).toEqual([]);
    expect(result.trace).toBe(expected);
  },
  patienceMs,
);
