import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TopologyView } from "../src/api/schemas/routing.ts";
import { startWorld, type World } from "../src/testing/world.ts";

const agents = "agents:\n  ana: { command: [cat] }\n  bob: { command: [cat] }\n";
const topology = (world: World): Promise<TopologyView> => world.json<TopologyView>(["topology", "show"]);

describe("a team without a topology", () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ files: { "tieline.yaml": `team: web\n${agents}` } });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("is not closed by its first edge without --close", async () => {
    const { code, stderr } = await world.tieline(["topology", "add", "ana -> bob"]);
    expect(code).toBe(3);
    expect(stderr).toContain(
      "error CONFLICT: team web has no topology, so every agent may write to every other; after this edge " +
        "only edges count",
    );
    expect(stderr).toContain('`tieline topology add --close "ana -> bob"`');
    expect(await topology(world)).toEqual({ team: "web", edges: null, removed: [] });
  });

  test("is closed with --close, takes further edges, and is open again after the last is removed", async () => {
    await world.json(["topology", "add", "--close", "ana -> bob"]);
    const { edges } = await world.json<TopologyView>(["topology", "add", "bob -> ana"]);
    expect(edges).toHaveLength(2);
    await world.json(["topology", "rm", "ana <-> bob"]);
    expect((await world.tieline(["topology", "show"])).stdout).toBe(
      "team web has no topology: every agent may write to every other\n",
    );
  });
});

describe("an edge of tieline.yaml that is removed at run time", () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({
      files: { "tieline.yaml": `team: web\n${agents}topology:\n  - ana -> bob\n  - bob -> ana\n` },
    });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("stays in the list with its place", async () => {
    expect((await world.tieline(["topology", "rm", "ana -> bob"])).stdout).toMatch(
      /ana -> bob +removed at run time +\S*tieline\.yaml:6:5/,
    );
    expect(await topology(world)).toMatchObject({
      edges: [{ from: "bob", to: "ana", origin: "config" }],
      removed: [{ from: "ana", to: "bob", origin: "config" }],
    });
    expect((await world.tieline(["topology", "show"])).stdout).toMatch(
      /bob -> ana +config.*\n.*ana -> bob +removed at run time/,
    );
  });

  test("is a comment in every export", async () => {
    const exported = async (format: string): Promise<string> =>
      (await world.tieline(["topology", "export", "--format", format])).stdout;
    expect(await exported("text")).toBe("bob -> ana\n# ana -> bob (removed at run time)\n");
    expect(await exported("mermaid")).toContain("  %% ana -> bob (removed at run time)\n");
    expect(await exported("graphviz")).toContain("  // ana -> bob (removed at run time)\n}");
  });

  test("is listed when no edge is left, and comes back by add", async () => {
    const { stdout } = await world.tieline(["topology", "rm", "bob -> ana"]);
    expect(stdout).toStartWith("the topology of team web has no edges: agents may only reply and write to user\n");
    expect(stdout.match(/removed at run time/g)).toHaveLength(2);
    expect(await world.json<TopologyView>(["topology", "add", "ana <-> bob"])).toMatchObject({
      edges: [{ origin: "config" }, { origin: "config" }],
      removed: [],
    });
  });

  test("is no longer listed once the file does not have it", async () => {
    await world.json(["topology", "rm", "ana -> bob"]);
    const yaml = readFileSync(join(world.project, "tieline.yaml"), "utf8");
    world.file("tieline.yaml", yaml.replace("  - ana -> bob\n", ""));
    expect(await topology(world)).toMatchObject({ edges: [{ from: "bob", to: "ana" }], removed: [] });
  });
});
