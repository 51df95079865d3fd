/** The tieline.yaml of a clone may hold anything; the daemon reads it for all teams. */
import { describe, expect, test } from "bun:test";
import { Profiles } from "../agents/profiles/profiles.ts";
import { checkEdges } from "../routing/topology/check.ts";
import { parseEdge } from "../routing/topology/edge.ts";
import { topologyOf } from "../routing/topology/topology.ts";
import { parseProject } from "./project.ts";

const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => `${line(at)}\n`).join("");
const parse = (text: string) => parseProject("/x/tieline.yaml", text);
const agents = (count: number) => `agents:\n${lines(count, (at) => `  b${at}: {}`)}`;
const edges = (count: number) => `topology:\n${lines(count, (at) => `  - b${at} -> c${at}`)}`;

describe("the limits of a tieline.yaml", () => {
  test("1,000 agents and 10,000 edges are within them", () => {
    const project = parse(`${agents(1_000)}${edges(10_000)}`);
    expect([project.agents.size, project.edges!.length]).toEqual([1_000, 10_000]);
  });

  test.each([
    ["one agent too many", agents(1_001), "tieline.yaml:1:1: agents has 1001 entries; the limit is 1000"],
    ["one edge too many", edges(10_001), "topology has 10001 entries; the limit is 10000"],
    [
      "objects",
      `objects:\n${lines(1_001, (at) => `  o${at}: { command: x }`)}`,
      "objects has 1001 entries; the limit is 1000",
    ],
    ["aliases", `aliases:\n${lines(1_001, (at) => `  g${at}: [b]`)}`, "aliases has 1001 entries; the limit is 1000"],
    ["60,000 agents", agents(60_000), "it has more than 30000 keys and list items"],
    ["45,000 edges", edges(45_000), "it has more than 30000 keys and list items"],
    ["brackets", "[".repeat(300_000), "it is nested deeper than 64 levels"],
    ["braces", "{".repeat(300_000), "it is nested deeper than 64 levels"],
    ["lists in lists", "- ".repeat(300_000), "it is nested deeper than 64 levels"],
    ["keys in keys", "? ".repeat(300_000), "it is nested deeper than 64 levels"],
    ["anchors", `a: ${"&a ".repeat(200_000)}`, "it has more than 1000 anchors"],
    ["documents", "---\n".repeat(200_000), "it has more than 1000 anchors"],
  ])("%s: refused with the limit", (_, text, message) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(message) }),
    );
  });

  test("text that only looks like YAML counts as text", () => {
    const prompt = `${"[{- &a, ".repeat(20)}`;
    const project = parse(`agents:\n  coder:\n    prompt: |\n${lines(3_000, () => `      ${prompt}`)}`);
    expect(project.agents.get("coder")!.prompt).toContain(prompt.trim());
  });
});

test("at most 10 profiles build on each other", () => {
  const chain = (count: number) =>
    parse(`agents:\n${lines(count - 1, (at) => `  b${at}: { profile: b${at + 1} }`)}  b${count - 1}: { command: x }\n`);
  const profiles = new Profiles("/nonexistent");
  expect(profiles.lookup(chain(10), "b0")!.name).toBe("b0");
  expect(() => profiles.lookup(chain(11), "b0")).toThrow(
    expect.objectContaining({
      code: "CONFIG_INVALID",
      message: "/x/tieline.yaml: more than 10 profiles build on each other, down to b10",
    }),
  );
  expect(() => profiles.lookup(chain(1_000), "b0")).toThrow("more than 10 profiles");
});

test("the labels of a team are asked for once, and the first 20 unknown names are reported", () => {
  let asked = 0;
  const written = Array.from({ length: 1_000 }, (_, at) => parseEdge(`b${at} -> c${at}`, "web")).flat();
  const problems = checkEdges(topologyOf({ team: "web", edges: written }), () => {
    asked++;
    return new Set(["b0"]);
  });
  expect(problems).toHaveLength(20);
  expect(problems[0]!.operands).toMatchObject({ label: "c0" });
  expect(asked).toBe(1);
});
