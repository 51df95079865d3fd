import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { AgentView, Output, ReceiptView } from "../src/api/schema.ts";
import type { TeamView } from "../src/api/schemas/routing.ts";
import { startWorld, type World } from "../src/testing/world.ts";

const yaml = (team: string): string => `${team}agents:\n  ana: { command: [cat] }\n  bob: { command: [cat] }\n`;

let world: World;
beforeAll(async () => {
  world = await startWorld({ files: { "tieline.yaml": yaml("team: web\n") } });
});
afterAll(() => world[Symbol.asyncDispose]());

const place = (name: string): string => join(world.dir, name);
const teams = async (): Promise<string[]> =>
  (await world.json<TeamView[]>(["team", "ls"], { cwd: "/" })).map(({ name }) => name);
const ls = async (cwd: string): Promise<string[]> =>
  (await world.json<AgentView[]>(["ls"], { cwd })).map(({ team, name }) => `${team}:${name}`);
const cwdOf = (agent: AgentView): Promise<string> =>
  world.tmux("display-message", "-p", "-t", agent.pane!, "#{pane_current_path}");
const remedies = (stderr: string): string[] =>
  [...stderr.matchAll(/`tieline ([^`]+)`/g)].map(([, command]) => command!);

async function copyOf(name: string): Promise<string> {
  cpSync(world.project, place(name), { recursive: true });
  await world.trust(place(name));
  return place(name);
}

async function ok(args: readonly string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await world.tieline(args, { cwd });
  if (code !== 0) throw new Error(`tieline ${args.join(" ")}: exit ${code}\n${stdout}${stderr}`);
  return stderr;
}

const reading = [
  ["ls"],
  ["doctor"],
  ["whoami"],
  ["topology", "show"],
  ["topology", "check"],
  ["resolve", "ana"],
  ["profiles", "ls"],
  ["log"],
  ["dead"],
  ["inbox"],
  ["trust", "--yes"],
];

test("reading a project claims no team", async () => {
  for (const command of reading) await ok(command, world.project);
  expect(await teams()).toEqual([]);
  expect((await world.json<{ name: string }[]>(["profiles", "ls"])).map(({ name }) => name)).toContain("ana");
});

describe("a second copy of a project", () => {
  let copy: string;
  beforeAll(async () => {
    await ok(["up"], world.project);
    copy = await copyOf("worktree");
  });

  test("can be read, and says whose team it shows", async () => {
    for (const command of reading) await ok(command, copy);
    const { stdout, stderr } = await world.tieline(["ls"], { cwd: copy });
    expect(stdout).toContain("ana");
    expect(stderr).toContain(`team web belongs to ${world.project}, not to ${copy}`);
  });

  test("changes nothing in the other's team, and offers commands that work", async () => {
    const acting = [
      ["up"],
      ["send", "ana", "hi"],
      ["spawn", "ana"],
      ["down"],
      ["kill", "ana"],
      ["prune"],
      ["prune", "--force"],
      ["note", "--agent", "ana", "hi"],
      ["topology", "add", "ana -> bob"],
    ];
    for (const command of acting) {
      expect(await world.tieline(command, { cwd: copy })).toMatchObject({
        code: 3,
        stderr: expect.stringContaining("error CONFLICT"),
      });
    }
    expect(await world.json<AgentView[]>(["ls"])).toMatchObject([
      { name: "ana", note: null },
      { name: "bob", note: null },
    ]);
    expect(await world.tieline(["prune", "--all"], { cwd: copy })).toMatchObject({
      code: 0,
      stdout: "nothing is gone\n",
    });
    const { stderr } = await world.tieline(["up"], { cwd: copy });
    expect(remedies(stderr)).toEqual(["team create web-worktree", "team disband web"]);
    expect(stderr).toContain("`--team web`");
  });

  test("--team means the other's", async () => {
    const sent = await world.json<ReceiptView>(["send", "ana", "hi", "--team", "web"], { cwd: copy });
    expect(sent.deliveries[0]).toMatchObject({ agent: "ana" });
    expect(await ls(copy)).toEqual(["web:ana", "web:bob"]);
  });

  test("has a team of its own after `team create`, for good", async () => {
    await ok(["team", "create", "web-worktree"], copy);
    const { started } = await world.json<Output<"up">>(["up"], { cwd: copy });
    expect(started.map(({ team, name }) => `${team}:${name}`)).toEqual(["web-worktree:ana", "web-worktree:bob"]);
    expect(await cwdOf(started[0]!)).toBe(copy);
    await ok(["daemon", "stop"], copy);
    expect(await ls(copy)).toEqual(["web-worktree:ana", "web-worktree:bob"]);
    expect(await ls(world.project)).toEqual(["web:ana", "web:bob"]);
    expect((await world.tieline(["ls"], { cwd: copy })).stderr).toBe("");
  });

  test("takes the name over after `team disband`", async () => {
    const other = await copyOf("clone");
    expect(await world.tieline(["team", "disband", "web"], { cwd: other })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("--force"),
    });
    await ok(["team", "disband", "web", "--force"], other);
    await ok(["up"], other);
    expect(await ls(other)).toEqual(["web:ana", "web:bob"]);
    expect(await world.tieline(["up"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`team web belongs to ${other}`),
    });
  });

  test("an agent that works in a copy is still of its own team", async () => {
    const inCopy = await copyOf("elsewhere");
    await ok(["spawn", "ana", "--name", "cy", "--cwd", inCopy], place("clone"));
    const [, cy] = /TIELINE_TOKEN=(\S+)/.exec(await environment("cy")) ?? [];
    const me = await world.json<{ name: string; team: string }>(["whoami"], {
      cwd: inCopy,
      env: { TIELINE_TOKEN: cy! },
    });
    expect(me).toMatchObject({ name: "cy", team: "web" });
    const sent = await world.json<ReceiptView>(["send", "bob", "hi"], { cwd: inCopy, env: { TIELINE_TOKEN: cy! } });
    expect(sent.deliveries).toHaveLength(1);
  });

  async function environment(name: string): Promise<string> {
    const agents = await world.json<AgentView[]>(["ls", "--all"]);
    const { pane } = agents.find((agent) => agent.name === name)!;
    const pid = await world.tmux("display-message", "-p", "-t", pane!, "#{pane_pid}");
    return readFileSync(`/proc/${pid}/environ`, "utf8").replaceAll("\0", "\n");
  }
});

describe("a project that was moved", () => {
  test("keeps its team, its agents and the directories that they were started in", async () => {
    const [before, after] = [place("before"), place("after")];
    mkdirSync(join(before, "api"), { recursive: true });
    await Bun.write(join(before, "tieline.yaml"), yaml("team: shop\n"));
    await world.trust(before);
    await ok(["spawn", "ana"], join(before, "api"));
    renameSync(before, after);
    for (const command of [["ls"], ["doctor"], ["whoami"]]) await ok(command, after);
    expect(await ls(after)).toEqual(["shop:ana"]);
    await world.trust(after);
    await ok(["send", "ana", "hi"], after);
    const ana = await world.json<AgentView>(["restart", "ana"], { cwd: after });
    expect(await cwdOf(ana)).toBe(join(after, "api"));
    const [shop] = (await world.json<TeamView[]>(["team", "ls"], { cwd: "/" })).filter(({ name }) => name === "shop");
    expect(shop).toMatchObject({ root: after });
    rmSync(after, { recursive: true });
  });
});

describe("from a wrong directory", () => {
  test("the receipt names the agent of that name that runs in another team", async () => {
    await ok(["profiles", "add", "helper", "--user", "--command", "cat"], "/");
    await ok(["spawn", "helper"], place("clone"));
    const { code, stdout } = await world.tieline(["send", "helper", "hi"], { cwd: world.dir });
    expect(code).toBe(0);
    const tag = /MSG_USER_[0-9a-f]+/.exec(stdout)![0];
    const words = "default:helper is not running, so this message starts it; web:helper is.";
    expect(stdout).toContain(
      `${words} \`tieline send web:helper\` reaches that one; \`tieline cancel ${tag}\` takes this message back`,
    );
    for (const [to, cwd] of [
      ["web:helper", world.dir],
      ["helper", place("clone")],
    ] as const) {
      expect(await world.json<ReceiptView>(["send", to, "hi"], { cwd })).not.toContainKey("notice");
    }
  });
});

describe("a project without `team:`", () => {
  test("has a team of its own, named after its directory", async () => {
    for (const [directory, team] of [
      ["x/My Project!", "My-Project"],
      ["x/app", "app"],
      ["y/app", "app-2"],
    ] as const) {
      mkdirSync(place(directory), { recursive: true });
      await Bun.write(join(place(directory), "tieline.yaml"), yaml(""));
      await world.trust(place(directory));
      const { session, started } = await world.json<Output<"up">>(["up"], { cwd: place(directory) });
      expect([session, ...started.map((agent) => agent.team)]).toEqual([team, team, team]);
    }
  });

  test("init names the team after the directory, and never `default`", async () => {
    const names: string[] = [];
    for (const directory of ["z/日本", "w/日本", "z/default", "z/app", "z/Café au lait"]) {
      mkdirSync(place(directory), { recursive: true });
      await ok(["init"], place(directory));
      names.push(/^team: (.*)$/m.exec(readFileSync(join(place(directory), "tieline.yaml"), "utf8"))![1]!);
    }
    expect(names.slice(3)).toEqual(["app-3", "Cafe-au-lait"]);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names.slice(0, 3)) expect(name).toMatch(/^project-[0-9a-f]{6}$/);
  });
});
