import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadAll } from "../src/cli/registry.ts";
import { parse } from "../src/cli/input/args.ts";
import { promptOf } from "../src/agents/start/launch.ts";
import { skillText, teaching } from "../src/agents/start/teaching.ts";
import { tools } from "../src/mcp/tools.ts";
import { startWorld } from "../src/testing/world.ts";

const folder = join(import.meta.dir, "../skills/tieline");

describe("what agents are taught", () => {
  test("is short, and says the same in every place", async () => {
    expect(skillText.split("\n").length).toBeLessThan(60);
    expect(readFileSync(join(folder, "SKILL.md"), "utf8")).toBe(skillText);
    expect(readFileSync(join(folder, "AGENTS.md"), "utf8")).toBe(teaching);
    expect(skillText).toStartWith("---\nname: tieline\ndescription: ");
    await using world = await startWorld();
    expect((await world.tieline(["skill"])).stdout).toBe(skillText);
    expect((await world.tieline(["skill", "--agents"])).stdout).toBe(teaching);
  });

  test("names only commands and tools that there are", async () => {
    const commands = new Map((await loadAll()).map((command) => [command.name, command]));
    const lines = [...teaching.matchAll(/`tieline (\w+)([^`]*)`/g)];
    expect(lines.length).toBeGreaterThan(8);
    for (const [, name, rest] of lines) {
      const command = commands.get(name!);
      expect(command, name).toBeDefined();
      const words = rest!.replace(/<<.*$/, "").match(/"[^"]*"|\S+/g) ?? [];
      await parse(
        command!,
        words.map((word) => word.replaceAll('"', "")),
      );
    }
    for (const name of ["send_message", "ask", "reply", "check_inbox", "list_agents"])
      expect(tools.map((tool) => tool.name)).toContain(name);
  });

  test("goes to agents that we start, after their own prompt and with their name", () => {
    const profile = { prompt: "Build it.", skill: null } as Parameters<typeof promptOf>[0];
    const ana = { name: "ana", team: "web" };
    expect(promptOf(profile, ana, {})).toBe(
      `Build it.\n\nYou are \`ana\`, an agent in the team \`web\`.\n\n${teaching}`,
    );
    expect(promptOf({ ...profile, prompt: null }, ana, {})).toContain(teaching);
    expect(promptOf({ ...profile, prompt: null }, ana, { promptsAtOnce: true })).toBeNull();
  });
});
