import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseProject, type Project } from "../../config/project.ts";
import { namePattern } from "../../model/agent.ts";
import { builtinProfiles } from "./builtin.ts";
import { parseProfileFile } from "./profileFile.ts";
import { Profiles, projectProfilesDirectory } from "./profiles.ts";

const base = mkdtempSync(join(tmpdir(), "tl-profiles-"));
const user = join(base, "home", "agents");
const root = join(base, "project");
const write = (path: string, text: string): void => writeFileSync(path, text);
const project = (text: string): Project => parseProject(join(root, "tieline.yaml"), text);

beforeAll(() => {
  mkdirSync(user, { recursive: true });
  mkdirSync(projectProfilesDirectory(root), { recursive: true });
});
afterAll(() => rmSync(base, { recursive: true }));

describe("profiles", () => {
  test("project before user before built in, each with its origin", () => {
    write(join(user, "qa.md"), "---\nmodel: user-model\n---\nTest it.");
    write(join(user, "scout.md"), "Look around.");
    write(join(projectProfilesDirectory(root), "scout.md"), "---\nrole: scout\n---\nLook here.");
    const profiles = new Profiles(user);
    const here = project("agents: { bot: { command: ./bot, cwd: sub } }");
    const found = (name: string) => {
      const profile = profiles.lookup(here, name);
      return profile && [profile.origin, profile.source.replace(`${base}/`, "")];
    };
    expect(found("bot")).toEqual(["project", "project/tieline.yaml"]);
    expect(found("scout")).toEqual(["project", "project/.tieline/agents/scout.md"]);
    expect(found("qa")).toEqual(["user", "home/agents/qa.md"]);
    expect(found("engineer")).toEqual(["built in", "built in: engineer"]);
    expect(found("unknown")).toBeNull();
    expect(found("../qa")).toBeNull();
    expect(profiles.lookup(null, "scout")).toMatchObject({ origin: "user", prompt: "Look around." });
    expect(profiles.names(here)).toEqual([
      "bot",
      "scout",
      "qa",
      "team-lead",
      "engineer",
      "reviewer",
      "fixer",
      "researcher",
      "docs",
    ]);
    expect(profiles.list(here).map(({ name }) => name)).toEqual(profiles.names(here));
  });

  test("paths start at the project; a command makes it generic", () => {
    const bot = new Profiles(user).lookup(
      project("agents: { bot: { command: [./bot], cwd: sub, logs: [a.log] } }"),
      "bot",
    )!;
    expect(bot).toMatchObject({
      provider: "generic",
      command: ["./bot"],
      cwd: join(root, "sub"),
      logs: [join(root, "a.log")],
      autostart: true,
      may: [],
    });
  });

  test(
    "a command makes a profile generic, also where it is an interpreter: how its text goes in is for the user " +
      "to say",
    () => {
      const here = project(
        "agents:\n  a: { command: python3 }\n  b: { command: [psql, shop] }\n  c: { command: python3, args: " +
          "[bot.py] }\n  d: { command: [node], provider: generic }",
      );
      expect(["a", "b", "c", "d"].map((name) => new Profiles(user).lookup(here, name)!.provider)).toEqual([
        "generic",
        "generic",
        "generic",
        "generic",
      ]);
    },
  );

  test("an entry refines the profile of its name, or the one it names", () => {
    const here = project(
      "agents:\n  engineer: { model: small }\n  ana: { profile: engineer, role: backend }\n  fixer: { command: ./fix }",
    );
    const profiles = new Profiles(user);
    expect(profiles.lookup(here, "engineer")).toMatchObject({
      origin: "project",
      model: "small",
      role: "engineer",
      provider: "claude-code",
    });
    expect(profiles.lookup(here, "ana")).toMatchObject({ name: "ana", model: "small", role: "backend" });
    expect(profiles.lookup(here, "ana")!.prompt).toContain("# Engineer");
    expect(profiles.lookup(here, "fixer")).toMatchObject({ provider: "generic", prompt: null, role: null });
  });

  test("a base that does not exist, or leads round in a circle, is an error", () => {
    const profiles = new Profiles(user);
    expect(() => profiles.lookup(project("agents: { a: { profile: nothing } }"), "a")).toThrow(
      "builds on the profile nothing",
    );
    for (const name of ["../qa", "x".repeat(300)]) {
      expect(() => profiles.lookup(project(`agents: { a: { profile: ${name} } }`), "a")).toThrow(
        expect.objectContaining({ code: "CONFIG_INVALID" }),
      );
    }
    expect(() => profiles.lookup(project("agents: { a: { profile: b }, b: { profile: a } }"), "a")).toThrow(
      "builds on the profile a",
    );
  });

  test("a changed file is read again", () => {
    const file = join(user, "fresh.md");
    const profiles = new Profiles(user);
    write(file, "one");
    expect(profiles.lookup(null, "fresh")!.prompt).toBe("one");
    write(file, "two");
    utimesSync(file, 5, 5);
    expect(profiles.lookup(null, "fresh")!.prompt).toBe("two");
    rmSync(file);
    expect(profiles.lookup(null, "fresh")).toBeNull();
  });
});

describe("profile files", () => {
  test.each([
    ["---\nrole: x\nmodle: y\n---\n", 'f.md:3:1: unknown key "modle"; the nearest is "model"'],
    ["---\nautostart: maybe\n---\n", 'f.md:2:12: autostart is "maybe", but must be true or false'],
    ["---\na: [\n---\n", "f.md:2:5: "],
    ["---\nrole: x\n", "f.md:1:1: the front matter has no end"],
    ["---\nprompt: a\n---\nb", "f.md:4:1: there are two prompts: prompt: and the text below"],
  ])("%p is refused with its line", (text, message) => {
    expect(() => parseProfileFile("f.md", text)).toThrow(message);
  });

  test("Windows line ends, a byte order mark and rules in the text", () => {
    expect(parseProfileFile("f.md", "\uFEFF---\r\nrole: x\r\n---\r\nA\r\n\r\n---\r\nB\r\n")).toEqual({
      role: "x",
      prompt: "A\n\n---\nB",
    });
  });
});

describe("the built-in profiles", () => {
  const names = ["team-lead", "engineer", "reviewer", "qa", "fixer", "researcher", "docs"];

  test("are these seven", () => expect([...builtinProfiles.keys()]).toEqual(names));

  test.each(names)("%s has a role, a description and a prompt of its own", (name) => {
    const profile = new Profiles(join(base, "empty")).lookup(null, name)!;
    expect(profile.role).toMatch(namePattern);
    expect(profile.description!.length).toBeGreaterThan(20);
    expect(profile.prompt!.length).toBeGreaterThan(200);
    expect(profile.prompt!.length).toBeLessThan(5000);
  });
});
