import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Projects } from "../../config/projects.ts";
import { asTielineError } from "../../model/errors.ts";
import { Claims } from "./claims.ts";
import { Directory } from "./directory.ts";
import { memoryDocuments } from "./documents/memory.ts";
import { readEndpoints } from "../../testing/agents.ts";

let dir: string;
let documents: ReturnType<typeof memoryDocuments>;
let directory: Directory;
let claims: Claims;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tl-claims-"));
  documents = memoryDocuments();
  directory = new Directory(documents, () => undefined, readEndpoints);
  claims = new Claims(directory, new Projects());
});
afterEach(() => rmSync(dir, { recursive: true }));

function project(name: string, text: string): string {
  const root = join(dir, name);
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, "tieline.yaml"), text);
  return root;
}

const act = (root: string, named?: string): void => claims.claim(claims.seatOf(named, root));
const teamAt = (root: string, named?: string): string => claims.seatOf(named, root).team;

function refused(run: () => void) {
  try {
    run();
  } catch (thrown) {
    return asTielineError(thrown);
  }
  throw new Error("it was not refused");
}

describe("the team of a directory", () => {
  test("the one that is named, then the project's, then default", () => {
    const root = project("a", "team: web\n");
    const deep = join(root, "x", "y");
    mkdirSync(deep, { recursive: true });
    expect(claims.seatOf("x", deep)).toEqual({ team: "x", project: null, heldBy: null });
    expect(claims.seatOf("web", deep)).toMatchObject({ team: "web", project: { root } });
    expect(claims.seatOf(undefined, deep)).toMatchObject({ team: "web", project: { root }, heldBy: null });
    expect(claims.seatOf("", "/")).toEqual({ team: "default", project: null, heldBy: null });
    expect(() => claims.seatOf("no good", "/")).toThrow("not a valid team name");
  });

  test("looking writes nothing, and shows the file all the same", () => {
    const root = project("a", "team: web\nagents:\n  ana:\n");
    expect(teamAt(root)).toBe("web");
    expect(claims.projectOf("web")?.agents.has("ana")).toBe(true);
    expect(documents.all("team")).toEqual([]);
  });

  test("a second project with the name looks at the team of the first, and may not change it", () => {
    const [a, b] = [project("a", "team: web\n"), project("b", "team: web\n")];
    act(a);
    expect(claims.seatOf(undefined, b)).toMatchObject({ team: "web", heldBy: a });
    const { code, operands, remedy } = refused(() => act(b));
    expect(code).toBe("CONFLICT");
    expect(operands).toEqual({ team: "web", roots: [a, b], own: "web-b" });
    expect(remedy).toContain("`tieline team create web-b`");
    act(b, "web");
    expect(directory.team("web")?.root).toBe(a);
  });

  test("a team that is founded there becomes the second project's, with its own edges", () => {
    const [a, b] = [project("a", "team: web\n"), project("b", "team: web\nagents: {x: , y: }\ntopology: [x -> y]\n")];
    act(a);
    claims.found("web-b", b);
    expect(teamAt(b)).toBe("web-b");
    act(b);
    expect(claims.projectOf("web-b")).toMatchObject({ root: b, team: "web-b" });
    rmSync(a, { recursive: true });
    expect(teamAt(b)).toBe("web-b");
    writeFileSync(join(b, "tieline.yaml"), "team: shop\n");
    expect(teamAt(b)).toBe("shop");
  });

  test("a further team of a project does not take the place of its own", () => {
    const a = project("a", "team: web\n");
    claims.found("extra", a);
    expect(teamAt(a)).toBe("web");
    expect(directory.team("web")?.root).toBe(a);
    directory.removeTeam("web");
    expect(teamAt(a)).toBe("web");
  });

  test("a place that is gone frees the team; what its agents chose there moves along", () => {
    const a = project("a", "team: web\n");
    act(a);
    const agent = directory.register({
      name: "ana",
      team: "web",
      provider: "generic",
      launch: { profile: "ana", cwd: join(a, "api") },
    });
    const b = join(dir, "b");
    renameSync(a, b);
    expect(claims.seatOf(undefined, b)).toMatchObject({ team: "web", heldBy: null });
    expect(directory.team("web")?.root).toBe(a);
    act(b);
    expect(directory.team("web")?.root).toBe(b);
    expect(directory.agent(agent.id)?.launch?.cwd).toBe(join(b, "api"));
  });

  test("a link at the old place is no other project", () => {
    const a = project("a", "team: web\n");
    act(a);
    const b = join(dir, "b");
    renameSync(a, b);
    symlinkSync(b, a);
    act(b);
    expect(directory.team("web")?.root).toBe(b);
  });

  test("another name in the first project's file frees the team, a mistake in it does not", () => {
    const [a, b] = [project("a", "team: web\n"), project("b", "team: web\n")];
    act(a);
    writeFileSync(join(a, "tieline.yaml"), "team: [\n");
    expect(refused(() => act(b)).code).toBe("CONFLICT");
    writeFileSync(join(a, "tieline.yaml"), "team: old-web\n");
    act(b);
    expect(directory.team("web")?.root).toBe(b);
  });
});

describe("a project without `team:`", () => {
  test.each([
    ["app", "app"],
    ["My Project!", "My-Project"],
    ["Büro.1", "Buro.1"],
    ["-x-", "x"],
  ])("%j is team %j", (name, team) => {
    expect(teamAt(project(name, ""))).toBe(team);
  });

  test.each(["日本", "default", "all", "…"])("%j gives no name, so the team has one of its own", (name) => {
    const [one, other] = [project(`x/${name}`, ""), project(`y/${name}`, "")];
    expect(teamAt(one)).toMatch(/^project-[0-9a-f]{6}$/);
    expect(teamAt(other)).not.toBe(teamAt(one));
  });

  test("two directories of one name have two teams", () => {
    const [one, other] = [project("x/app", ""), project("y/app", "")];
    act(one);
    act(other);
    expect([teamAt(one), teamAt(other)]).toEqual(["app", "app-2"]);
    rmSync(one, { recursive: true });
    expect(teamAt(other)).toBe("app-2");
  });
});
