import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TrustView } from "../../api/schemas/trust.ts";
import { parseProject, teamNamedAfter } from "../../config/project.ts";
import { commandLineWithDaemon } from "../../testing/commandLineWithDaemon.ts";

const tieline = commandLineWithDaemon();

describe("init", () => {
  const path = (): string => join(tieline.dir, "tieline.yaml");
  const seen = (more: Partial<TrustView> = {}): TrustView => ({
    ...{
      root: tieline.dir,
      file: path(),
      team: "x",
      state: "new",
      digest: "d1",
      files: [path()],
      fileDigest: "",
      trustedAt: null,
      problem: null,
      remedy: null,
      starts: [],
      changes: [],
      notCovered: "",
    },
    fileDigest: new Bun.CryptoHasher("sha256").update(readFileSync(path())).digest("hex"),
    ...more,
  });

  test("trusts what it has written, by its digest", async () => {
    tieline.daemon.answers.trustShow = () => seen();
    tieline.daemon.answers.trust = () => seen({ state: "trusted" });
    expect(await tieline.run(["init"])).toMatchObject({ code: 0, stderr: "" });
    expect(tieline.daemon.calls.map(({ name, input }) => [name, input])).toEqual([
      ["teams", {}],
      ["trustShow", { directory: tieline.dir }],
      ["trust", { directory: tieline.dir, digest: "d1" }],
    ]);
  });

  test.each([
    [
      "profiles that were there already",
      { files: ["a", "b"] },
      "`tieline trust` shows what else is in the project, and asks",
    ],
    [
      "a file that is not what was written",
      { fileDigest: "other" },
      "`tieline trust` shows what else is in the project, and asks",
    ],
    [
      "a directory of others",
      { state: "exposed" as const, problem: "/x belongs to mallory (uid 1)" },
      "/x belongs to mallory (uid 1)",
    ],
  ])("does not trust %s", async (_, more, why) => {
    tieline.daemon.answers.trustShow = () => seen(more);
    const { code, stderr } = await tieline.run(["init"]);
    expect([code, stderr]).toEqual([0, `note: ${path()} is not trusted yet: ${why}\n`]);
    expect(tieline.daemon.calls.map(({ name }) => name)).toEqual(["teams", "trustShow"]);
  });

  test("writes tieline.yaml once and never again", async () => {
    expect(await tieline.run(["init"])).toMatchObject({ code: 0 });
    const path = join(tieline.dir, "tieline.yaml");
    const written = readFileSync(path, "utf8");
    expect(written).toContain("#");
    const again = await tieline.run(["init"]);
    expect(again.code).toBe(3);
    expect(again.stderr).toStartWith("error CONFLICT: ");
    expect(readFileSync(path, "utf8")).toBe(written);
  });

  test.each(["web", "feat-auth", "my.app", "7", "true", "team", "my project"])(
    "what it writes in a directory named %j can be read back",
    async (name) => {
      const directory = join(tieline.dir, name);
      mkdirSync(directory);
      expect(await tieline.run(["init", name])).toMatchObject({ code: 0 });
      const file = join(directory, "tieline.yaml");
      expect(parseProject(file, readFileSync(file, "utf8")).team).toBe(
        name === "team" ? teamNamedAfter(directory) : name.replace(" ", "-"),
      );
    },
  );

  test("leaves a name that another project has to that one", async () => {
    const team = { createdAt: 1, members: [], pending: 0, edges: null, aliases: {} };
    tieline.daemon.answers.teams = () => [
      { ...team, name: "app", root: "/elsewhere/app" },
      { ...team, name: "app-2", root: join(tieline.dir, "app") },
    ];
    mkdirSync(join(tieline.dir, "app"));
    expect(await tieline.run(["init", "app"])).toMatchObject({ code: 0 });
    expect(readFileSync(join(tieline.dir, "app", "tieline.yaml"), "utf8")).toContain("\nteam: app-2\n");
  });

  test("a team that can be none is refused, and nothing is written", async () => {
    mkdirSync(join(tieline.dir, "slip"));
    expect(await tieline.run(["init", "slip", "--team", "a b"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('error NAME_INVALID: "a b" is not a valid team name'),
    });
    expect(readdirSync(join(tieline.dir, "slip"))).toEqual([]);
  });
});
