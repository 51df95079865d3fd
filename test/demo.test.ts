import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { startWorld } from "../src/testing/world.ts";

test("the demo without a terminal plays to its end and leaves nothing in the user's home", async () => {
  await using world = await startWorld();
  const { code, stdout, stderr } = await world.tieline(["demo"], { env: { HOME: world.project, TMPDIR: world.dir } });
  expect([code, stderr]).toEqual([0, ""]);
  for (const line of [
    "researcher may not write to reviewer; allowed: coder, user",
    "reviewer was offline; the message starts it",
    "→ reviewer   delivered after",
    "attach -t =demo",
  ]) {
    expect(stdout).toContain(line);
  }
  expect(readdirSync(world.project)).toEqual([]);
  expect(readdirSync(world.dir).filter((name) => name.startsWith("tieline-demo"))).toEqual([]);
});
