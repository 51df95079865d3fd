import { expect, test } from "bun:test";
import { join } from "node:path";

const css = await Bun.file(join(import.meta.dir, "base.css")).text();
const root = css.slice(css.indexOf(":root {"), css.indexOf("}"));
const colours = new Map(
  [...root.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(([, name, light, dark]) => [
    name!,
    { light: light!, dark: dark! },
  ]),
);

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5]
    .map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

const grounds = ["ground", "surface", "raised", "sunken", "tint"];
const pairs = [
  ...["text", "muted", "accent", "good", "warn", "bad"].flatMap((ink) =>
    grounds.map((ground) => [ink, ground] as const),
  ),
  ["warn", "warn-tint"] as const,
  ["bad", "bad-tint"] as const,
  ["on-accent", "accent"] as const,
];

test.each(["light", "dark"] as const)("every text can be read in the %s", (mode) => {
  const weak = pairs
    .map(([ink, ground]) => ({ ink, ground, ratio: contrast(colours.get(ink)![mode], colours.get(ground)![mode]) }))
    .filter(({ ratio }) => ratio < 4.5);
  expect(weak).toEqual([]);
});

test("nothing moves for those who do not want it", async () => {
  expect(await Bun.file(join(import.meta.dir, "small.css")).text()).toContain(
    "@media (prefers-reduced-motion: reduce)",
  );
});
