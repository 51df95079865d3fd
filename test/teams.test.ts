import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ReceiptView } from "../src/api/schema.ts";
import type { ProfileView } from "../src/api/schemas/profiles.ts";
import type { TeamView } from "../src/api/schemas/routing.ts";
import { startWorld, type World } from "../src/testing/world.ts";

let world: World;
beforeAll(async () => {
  const yaml = "team: web\nagents:\n  ana: { command: [cat] }\n  bob: { command: [cat], autostart: false }\n";
  world = await startWorld({ files: { "tieline.yaml": yaml } });
});
afterAll(() => world[Symbol.asyncDispose]());

describe("profiles", () => {
  const show = (name: string): Promise<ProfileView> => world.json<ProfileView>(["profiles", "show", name]);

  test("are found in the project, the user's directory and built in, in this order", async () => {
    const all = await world.json<ProfileView[]>(["profiles", "ls"]);
    expect(all.slice(0, 2).map(({ name, origin }) => [name, origin])).toEqual([
      ["ana", "project"],
      ["bob", "project"],
    ]);
    expect(all.find(({ name }) => name === "engineer")).toMatchObject({ origin: "built in", file: null });
  });

  test("add writes a file with the given settings, once; rm removes it", async () => {
    const file = join(world.project, ".tieline/agents/cy.md");
    await world.json([
      "profiles",
      "add",
      "cy",
      "--command",
      "cat -u",
      "--role",
      "tester",
      "--prompt",
      "Test: everything.",
    ]);
    expect(readFileSync(file, "utf8")).toBe("---\ncommand: cat -u\nrole: tester\n---\n\nTest: everything.\n");
    expect(await show("cy")).toMatchObject({
      origin: "project",
      file,
      command: ["sh", "-c", "cat -u"],
      role: "tester",
      prompt: "Test: everything.",
    });
    expect((await world.tieline(["profiles", "edit", "cy"])).stdout).toBe(`${file}\n`);
    expect(await world.tieline(["profiles", "add", "cy"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("error CONFLICT"),
    });
    await world.json(["profiles", "rm", "cy"]);
    expect(existsSync(file)).toBeFalse();
  });

  test("the user's own serve every project", async () => {
    const added = await world.json<ProfileView>([
      "profiles",
      "add",
      "dora",
      "--user",
      "--profile",
      "engineer",
      "--model",
      "opus",
    ]);
    expect(added).toMatchObject({
      origin: "user",
      file: join(world.env["TIELINE_HOME"]!, "agents/dora.md"),
      model: "opus",
      provider: "claude-code",
    });
  });

  test("tieline.yaml and what is built in are left alone", async () => {
    const before = readFileSync(join(world.project, "tieline.yaml"), "utf8");
    for (const [action, name] of [
      ["rm", "ana"],
      ["rm", "qa"],
      ["edit", "qa"],
      ["add", "ana"],
    ] as const) {
      expect(await world.tieline(["profiles", action, name])).toMatchObject({
        code: 3,
        stderr: expect.stringContaining("error CONFLICT"),
      });
    }
    expect(readFileSync(join(world.project, "tieline.yaml"), "utf8")).toBe(before);
    expect(await world.tieline(["profiles", "show", "dra"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('did you mean "dora"'),
    });
    expect(await world.tieline(["profiles", "add", "eve", "--profile", "enginer"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('there is no profile "enginer"; did you mean "engineer"?'),
    });
    expect((await world.json<ProfileView[]>(["profiles", "ls"])).map(({ name }) => name)).not.toContain("eve");
    expect(await world.tieline(["profiles", "add", "user"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("error NAME_INVALID"),
    });
  });

  test("autostart: false is not started by mail", async () => {
    expect(await world.tieline(["send", "bob", "hello"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("its profile does not let mail start it"),
    });
  });
});

describe("teams", () => {
  const team = (name: string): Promise<TeamView> => world.json<TeamView>(["team", "show", name]);

  test("are made for the project, and agents move between them", async () => {
    await world.json(["up", "ana"]);
    expect(await world.json<TeamView>(["team", "create", "feat/auth"])).toMatchObject({
      name: "feat/auth",
      root: world.project,
      members: [],
    });
    await world.json(["team", "join", "feat/auth", "ana"]);
    expect((await team("feat/auth")).members.map(({ name }) => name)).toEqual(["ana"]);
    expect((await team("web")).members).toEqual([]);
    expect(await world.json<TeamView>(["team", "leave", "feat/auth", "ana"])).toMatchObject({
      name: "default",
      members: [expect.objectContaining({ name: "ana" })],
    });
    await world.json(["team", "join", "feat/auth", "default:ana"]);
    expect(await world.tieline(["team", "join", "feat/auth", "engineer"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("engineer was never started"),
    });
    await world.json(["send", "feat/auth:ana", "--wait", "delivered", "hello"]);
    expect(await world.tieline(["team", "join", "feat/aut", "ana"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('did you mean "feat/auth"?'),
    });
  });

  test("that do not exist are refused; one without agents is only empty", async () => {
    const slips = [
      ["broadcast", "hello"],
      ["send", "@team", "hello"],
      ["send", "@all", "hello"],
      ["down"],
      ["resume", "--all"],
      ["topology", "show"],
      ["topology", "check"],
      ["topology", "export"],
      ["layout", "mosaic"],
    ];
    for (const words of slips) {
      const refused = await world.tieline([...words, "--team", "weg"]);
      expect([words, refused.code, refused.stderr]).toEqual([
        words,
        3,
        expect.stringContaining('error ADDRESS_UNKNOWN: there is no team "weg"; did you mean "web"?'),
      ]);
    }
    const [refusal] = (await world.tieline(["broadcast", "--team", "weg", "hello", "--json"])).stdout.split("\n");
    expect(JSON.parse(refusal!)).toEqual({
      error: expect.objectContaining({ code: "ADDRESS_UNKNOWN", remedy: expect.stringContaining("tieline team ls") }),
    });
    expect(await world.json<ReceiptView>(["broadcast", "--team", "web", "hello"])).toMatchObject({
      successful: [],
      notice: expect.stringContaining("@web has no members"),
    });
    expect((await world.tieline(["ls", "--team", "weg"])).stdout).toContain("no agents in team weg");
    const up = await world.tieline(["up", "--team", "weg"]);
    expect([up.code, up.stderr]).toEqual([
      2,
      expect.stringContaining(`${join(world.project, "tieline.yaml")} is of team web, and team weg has none`),
    ]);
  });

  test("are renamed, unless a file names them", async () => {
    await world.json(["topology", "add", "--close", "ana -> *", "--team", "feat/auth"]);
    await world.json(["team", "rename", "feat/auth", "auth"]);
    expect(await team("auth")).toMatchObject({
      root: world.project,
      edges: 1,
      members: [expect.objectContaining({ name: "ana" })],
    });
    expect((await world.tieline(["team", "show", "feat/auth"])).code).toBe(3);
    expect(await world.tieline(["team", "rename", "web", "shop"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("tieline.yaml names its team web"),
    });
  });

  test("a mistyped --team makes no team", async () => {
    await world.tieline(["ls", "--team", "wbe"]);
    expect((await world.json<TeamView[]>(["team", "ls"])).map(({ name }) => name)).toEqual(["auth", "web"]);
  });

  test("disband refuses while agents run or mail waits; shutdown stops them, --force fails the mail", async () => {
    expect(await world.tieline(["team", "disband", "auth"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("ana of team auth still run"),
    });
    expect(await world.json(["team", "shutdown", "auth"])).toEqual({ stopped: ["ana"] });
    await world.json(["broadcast", "--team", "auth", "good night"]);
    expect(await world.tieline(["team", "disband", "auth"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("1 messages for team auth are not delivered yet"),
    });
    expect(await world.json(["team", "disband", "auth", "--force"])).toEqual({
      name: "auth",
      removed: ["ana"],
      failedDeliveries: 1,
    });
    const [bounce] = await world.json<{ kind: string; body: string }[]>(["inbox"]);
    expect(bounce).toMatchObject({ kind: "bounce", body: expect.stringContaining("team auth was disbanded") });
    expect((await world.json<TeamView[]>(["team", "ls"])).map(({ name }) => name)).toEqual(["web"]);
  });
});
