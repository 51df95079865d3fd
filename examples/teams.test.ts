import { afterEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { InboxView, ReceiptView } from "../src/api/schema.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

/** Each example team at work, in a copy of its folder. */
let world: World;
afterEach(() => world[Symbol.asyncDispose]());

async function worldOf(example: string): Promise<World> {
  const folder = join(import.meta.dir, example);
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.(yaml|sh)$/.test(name));
  return (world = await startWorld({
    files: Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), "utf8")])),
  }));
}

describe("the example teams", () => {
  test("research → code → review: each stage is started by the mail of the one before", async () => {
    await worldOf("pipeline");
    await world.json(["send", "researcher", "the login"]);
    const mail = async (): Promise<InboxView[]> => world.json<InboxView[]>(["inbox", "--peek"]);
    await until(async () => (await mail()).length > 0, "the reviewer's report", 60_000);
    expect(await mail()).toEqual([
      expect.objectContaining({ from: "reviewer", body: "approved: a patch from notes on the login" }),
    ]);
    expect((await world.tieline(["topology", "check"])).code).toBe(0);
    expect((await world.tieline(["topology", "export", "--format", "mermaid"])).stdout).toContain("n0 --> n1");
  }, 90_000);

  test("a star: the lead hands out, collects and answers", async () => {
    await worldOf("star");
    const { stdout, code } = await world.tieline(["ask", "lead", "--timeout", "60s", "the checks"]);
    expect([
      code,
      stdout
        .trim()
        .split(/: |; ?/)
        .toSorted(),
    ]).toEqual([0, ["", "all three answered", "ana did the checks", "bob did the checks", "cy did the checks"]]);
    const [broadcast] = (await world.json<ReceiptView[]>(["log", "--limit", "50"])).filter(({ to }) => to === "@all");
    expect(broadcast!.deliveries.map(({ agent, state }) => [agent, state])).toEqual([
      ["ana", "answered"],
      ["bob", "answered"],
      ["cy", "answered"],
    ]);
    expect((await world.json<{ members: unknown[] }>(["team", "show", "star"])).members).toHaveLength(4);
  }, 90_000);

  test("two teams and a bridge: a question crosses it, and the answer comes back", async () => {
    await worldOf("bridge");
    const [web, api] = [join(world.project, "web"), join(world.project, "api")];
    for (const directory of [web, api]) await world.trust(directory);
    expect(await world.tieline(["up"], { cwd: api })).toMatchObject({ code: 0 });
    const asked = await world.tieline(["ask", "lead", "--timeout", "60s", "how many?"], { cwd: web });
    expect(asked).toMatchObject({ code: 0, stdout: "42, says the coder of api\n" });
    const teams = JSON.parse((await world.tieline(["team", "ls", "--json"], { cwd: web })).stdout) as {
      name: string;
      root: string;
    }[];
    expect(teams.map(({ name, root }) => [name, root])).toEqual([
      ["api", api],
      ["web", web],
    ]);
  }, 90_000);
});
