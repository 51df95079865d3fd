import { afterAll, expect, test } from "bun:test";
import { startWorld } from "../src/testing/world.ts";

const world = await startWorld({
  files: {
    "tieline.yaml": `team: once
agents:
  caller: { command: ["sh", "-c", "tieline send callee hello; exec cat"] }
  callee: { command: [cat] }
`,
  },
});
afterAll(() => world[Symbol.asyncDispose]());

test("agents that are wanted by two commands and by each other's mail at once are started once each", async () => {
  const results = await Promise.all([
    world.tieline(["up"]),
    world.tieline(["up"]),
    world.tieline(["send", "callee", "hello"]),
  ]);
  expect(results.map(({ code, stderr }) => [code, stderr])).toEqual([
    [0, ""],
    [0, ""],
    [0, ""],
  ]);
  const panes = (await world.tmux("list-panes", "-a", "-F", "#{@tieline_agent}")).split("\n").filter((id) => id !== "");
  expect(panes.length).toBe(2);
  expect(panes.toSorted()).toEqual((await world.ls()).map(({ id }) => id).toSorted());
});
