import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TielineError } from "../model/errors.ts";
import { edgeKey } from "../routing/topology/edge.ts";
import { checkEdges } from "../routing/topology/check.ts";
import { topologyOf } from "../routing/topology/topology.ts";
import { parseProject } from "./project.ts";
import { findProject, Projects } from "./projects.ts";
import { projectTemplate } from "./template.ts";

const parse = (text: string) => parseProject("/p/tieline.yaml", text);

function complaint(text: string): string {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof TielineError && error.code === "CONFIG_INVALID") return error.message.replace("/p/", "");
    throw error;
  }
  throw new Error("accepted");
}

describe("tieline.yaml", () => {
  test("an empty file is a project named after its directory that allows all", () => {
    const project = parse("");
    expect(project).toMatchObject({ root: "/p", team: "p", isTeamStated: false, edges: null });
    expect(project.agents.size).toBe(0);
  });

  test("agents, objects, topology and aliases", () => {
    const project = parse(`
team: feat/auth
agents:
  lead:
  coder: { command: ./run.sh, env: { PORT: 80, ON: true }, logs: out.log }
  bot: { command: [python3, bot.py], pasteLimit: 100 }
objects:
  ledger: { module: ./ledger.ts }
  tick: { options: { intervalMs: 500 } }
topology: [lead -> coder, lead -> coder, "coder <-> bot", lead -> *, feat/auth:bot -> api:lead]
aliases: { crew: [coder, api:lead] }
`);
    expect(project.team).toBe("feat/auth");
    expect(project.agents.get("lead")).toEqual({});
    expect(project.agents.get("coder")).toEqual({
      command: ["sh", "-c", "./run.sh"],
      env: { PORT: "80", ON: "true" },
      logs: ["out.log"],
    });
    expect(project.agents.get("bot")!.command).toEqual(["python3", "bot.py"]);
    expect(project.objects.get("tick")!.options).toEqual({ intervalMs: 500 });
    expect(project.edges!.map(edgeKey)).toEqual([
      "lead -> coder",
      "coder -> bot",
      "bot -> coder",
      "lead -> *",
      "bot -> api:lead",
    ]);
    expect(project.aliases.get("crew")).toEqual(["coder", "api:lead"]);
    expect([...project.declared]).toEqual(["lead", "coder", "bot", "ledger", "tick"]);
  });

  test("an unknown name in an edge is reported with its line and column, quoted or not", () => {
    const project = parse('agents: { lead: , coder: }\ntopology:\n  - lead -> codr\n  - "coder -> laed"\n');
    const problems = checkEdges(topologyOf({ ...project, edges: project.edges }), () => project.declared);
    expect(problems.map(({ message }) => message.replace("/p/", ""))).toEqual([
      'tieline.yaml:3:13: no agent or role "codr" in team p; did you mean "coder"?',
      'tieline.yaml:4:15: no agent or role "laed" in team p; did you mean "lead"?',
    ]);
  });

  test.each([
    ["tem: web", 'tieline.yaml:1:1: unknown key "tem"; the nearest is "team"'],
    ["agents:\n  a:\n    promt: x", 'tieline.yaml:3:5: unknown key "agents.a.promt"; the nearest is "agents.a.prompt"'],
    ["agents:\n  a: { pasteLimit: big }", 'tieline.yaml:2:20: agents.a.pasteLimit is "big", but must be a number'],
    ["agents:\n  a: { command: 3 }", "tieline.yaml:2:17: agents.a.command is 3, but must be text or a list"],
    [
      "agents:\n  a: { may: [fly] }",
      'tieline.yaml:2:14: agents.a.may.0 is "fly", but must be one of ' +
        "spawn, kill, answer, topology, broadcast-all, read",
    ],
    [
      "agents:\n  a: { promptPattern: '(' }",
      'tieline.yaml:2:23: agents.a.promptPattern is "(", but must be a regular expression',
    ],
    ["agents:\n  user: {}", "tieline.yaml:2:3: agents.user has a key that must be a name that is not reserved"],
    [
      "agents:\n  a b: {}",
      "tieline.yaml:2:3: agents.a b has a key that must be a name: a letter or _ first, then letters, digits, _ or -",
    ],
    [
      "agents:\n  a: { sandbox: command }",
      "tieline.yaml:2:6: agents.a.sandboxCommand is missing, but must be a list when `sandbox: command` is set",
    ],
    ["team: 'no good'", 'tieline.yaml:1:7: team is "no good", but must be a team name: letters, digits, _ - . or /'],
    ["topology:\n  - a => b", 'tieline.yaml:2:5: "a => b" is not an edge'],
    ["topology: a -> b", 'tieline.yaml:1:11: topology is "a -> b", but must be a list'],
    ["aliases:\n  crew: ['@all']", 'tieline.yaml:2:10: aliases.crew contains "@all", but must list names'],
    ["objects:\n  x: {}", "tieline.yaml:2:3: objects.x needs either a module or a command"],
    [
      "objects:\n  tick: { options: { intervalMS: 500 } }",
      'tieline.yaml:2:22: unknown key "objects.tick.options.intervalMS"; ' +
        'the nearest is "objects.tick.options.intervalMs"',
    ],
    [
      "objects:\n  tick: { options: { intervalMs: 5 } }",
      "tieline.yaml:2:34: objects.tick.options.intervalMs is 5, but must be a number between 100 and 604800000",
    ],
    [
      "objects:\n  gateway: { options: { port: 0, secret: short } }",
      'tieline.yaml:2:42: objects.gateway.options.secret is "short", but must be at least 16 characters long',
    ],
    [
      "objects:\n  gateway: { options: { port: 0 } }",
      'tieline.yaml:2:23: objects.gateway.options is {"port":0}, but must be a map with either secret or secretFile',
    ],
    [
      "objects:\n  gateway:",
      "tieline.yaml:2:11: objects.gateway.options is missing, but must be a map with either secret or secretFile",
    ],
    ["agents: { x: }\nobjects:\n  x: { module: m }", "tieline.yaml:3:3: x is both an agent and an object"],
    ["team: a\nteam: b", "tieline.yaml:2:1: Map keys must be unique"],
    ["- a", 'tieline.yaml:1:1: the file is ["a"], but must be a map'],
  ])("%p", (text, message) => {
    expect(complaint(text)).toBe(message);
  });

  test("the template is a working project", () => {
    const project = parse(projectTemplate("shop"));
    expect(project.team).toBe("shop");
    expect([...project.agents.keys()]).toEqual(["team-lead", "engineer", "reviewer"]);
    expect(checkEdges(topologyOf({ ...project, edges: project.edges }), () => project.declared)).toEqual([]);
  });

  test("what the template shows in comments works too", () => {
    const uncommented = projectTemplate("shop").replaceAll(/^( *)# (?= *(- |[a-z]+:))/gim, "$1");
    const project = parse(uncommented);
    expect([...project.agents.keys()]).toEqual(["team-lead", "engineer", "reviewer", "ana", "bot"]);
    expect(project.edges!.map(edgeKey)).toContain("team-lead -> api:lead");
    expect([...project.objects.keys()]).toEqual(["ledger", "tick"]);
  });
});

describe("finding the project and the team", () => {
  const root = mkdtempSync(join(tmpdir(), "tl-project-"));
  const file = join(root, "tieline.yaml");
  const deep = join(root, "a", "b");
  mkdirSync(deep, { recursive: true });
  writeFileSync(file, "team: web\n");
  afterAll(() => rmSync(root, { recursive: true }));

  test("upward from the working directory", () => {
    expect(findProject(deep)).toEqual({ file, ignored: [] });
    expect(findProject("/").file).toBeNull();
  });

  test("a file is parsed again only when it has changed", () => {
    const projects = new Projects();
    const first = projects.load(file);
    expect(projects.load(file)).toBe(first);
    writeFileSync(file, "team: api\n");
    utimesSync(file, 1, 1);
    expect(projects.load(file).team).toBe("api");
    rmSync(file);
    expect(() => projects.load(file)).toThrow("does not exist any more");
  });
});
