import { beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { dependencies } from "../package.json";
import { mustSucceed, repository } from "../src/testing/packedPackage.ts";
import { sourceOf } from "./architecture/sources.ts";

let files: readonly string[];
beforeAll(async () => {
  const printed = await mustSucceed(["npm", "pack", "--dry-run", "--json", "--ignore-scripts"], repository);
  const [packed] = JSON.parse(printed) as [{ files: { path: string }[] }];
  files = packed.files.map(({ path }) => path);
});

test("the package holds no tests, fixtures, benchmarks or sources of the page", () => {
  const surplus = /(^|\/)(test|testing|fixtures|bench|dashboard|\.ci)\/|\.(test|fixture)\.tsx?$|\.(png|svg)$/;
  expect(files.filter((path) => surplus.test(path))).toEqual([]);
  expect(files).toContainValues(["bin/tieline", "scripts/find-bun", "src/daemon/main.ts", "docs/cli.md"]);
});

test("the package holds every file and names every package that its sources import", () => {
  const sources = files
    .filter((path) => path.startsWith("src/") && path.endsWith(".ts"))
    .map((path) => sourceOf(path, readFileSync(join(repository, path), "utf8")));
  const missing = sources.flatMap(({ path, imports }) =>
    imports
      .filter(({ target }) => !files.includes(target) && !isInstalled(target))
      .map(({ target }) => `${path} imports ${target}`),
  );
  expect(sources.length).toBeGreaterThan(300);
  expect(missing).toEqual([]);
});

const isInstalled = (target: string): boolean =>
  /^(node|bun):|^bun$/.test(target) || Object.keys(dependencies).some((name) => `${target}/`.startsWith(`${name}/`));
