import { expect, test } from "bun:test";
import { fitting, shortened, type LabelBox } from "./labels.ts";

const box = (key: string, x: number, y: number, weight = 0): LabelBox => ({ key, text: key, x, y, weight });

test("labels that would lie on each other are left out, the lighter first", () => {
  const shown = fitting([box("alpha", 0, 0, 1), box("beta", 10, 4, 5), box("gamma", 200, 0), box("delta", 0, 40)]);
  expect([...shown].toSorted()).toEqual(["beta", "delta", "gamma"]);
});

test("long names are shortened and do not push others away", () => {
  const long = "x".repeat(64);
  expect(shortened(long)).toHaveLength(18);
  expect(fitting([box(long, 0, 0), box("near", 100, 0)]).size).toBe(2);
});
