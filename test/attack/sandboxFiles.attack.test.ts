import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { keeping } from "../../src/testing/keeping.ts";
import { describeUnless, lackOfBubblewrap } from "../../src/testing/needing.ts";
import { until } from "../../src/testing/until.ts";
import { startWorld, type World } from "../../src/testing/world.ts";

const keep = keeping();
const boxed = "boxed: { command: [sh, prog.sh], workspace: ., sandbox: bwrap, network: none, input: files }";
/** Which file of which agent runs outside. */
const targets = {
  args: "args.sh",
  wrapper: "wrap.sh",
  searched: "bin/bot",
  variable: "f",
  interpreted: "interpreter",
} as const;

/** Rewrites each file when it is asked to, and sends mail that would start its agent. */
const program = `for one in ${Object.entries(targets)
  .map(([agent, file]) => `${agent}:${file}`)
  .join(" ")}; do
  agent=\${one%%:*} file=\${one#*:}
  echo 'id >>'"$(cat escape)" >"$file" 2>/dev/null && echo "$file" >>first
  rm -f "$file" 2>/dev/null && echo "$file" >>first
  mv evil "$file" 2>/dev/null && echo "$file" >>first
done
echo evil 2>/dev/null >bin/ls && echo bin/ls >>first
echo done >>first
while :; do
  for one in ${Object.entries(targets)
    .map(([agent, file]) => `${agent}:${file}`)
    .join(" ")}; do
    agent=\${one%%:*} file=\${one#*:}
    [ -e "go-$agent" ] && [ ! -e "done-$agent" ] || continue
    { echo '#!/bin/sh'; echo 'id >>'"$(cat escape)"; echo 'exec cat'; } >"$file" && echo yes >"written-$agent"
    swarm-msg send "$agent" hi
    echo done >"done-$agent"
  done
  sleep 0.1
done
`;

describeUnless(lackOfBubblewrap())("files that run outside of the sandbox and lie in its workspace", () => {
  let world: World;
  const path = (name: string): string => join(world.project, name);

  beforeAll(async () => {
    world = await startWorld();
    world.file("escape", join(world.dir, "escaped"));
    world.file("evil", "#!/bin/sh\nid\n");
    world.file("prog.sh", program);
    for (const name of ["args.sh", "f"]) world.file(name, name === "f" ? ":\n" : "exec cat\n");
    for (const name of ["wrap.sh", "bin/bot", "interpreter"]) world.file(name, "#!/bin/sh\nexec cat\n");
    world.file("tool", `#!${path("interpreter")}\n`);
    for (const name of ["wrap.sh", "bin/bot", "interpreter", "tool"]) chmodSync(path(name), 0o755);
    world.file(
      "tieline.yaml",
      `team: walls
agents:
  ${boxed}
  args: { command: [/bin/sh], args: [args.sh] }
  wrapper: { command: [cat], sandbox: command, sandboxCommand: [./wrap.sh] }
  searched: { command: [bot], env: { PATH: "${path("bin")}:/usr/bin:/bin" } }
  variable: { command: [bash, -c, exec cat], env: { BASH_ENV: "${path("f")}" } }
  interpreted: { command: [./tool] }
topology: [${Object.keys(targets)
        .map((agent) => `boxed -> ${agent}`)
        .join(", ")}]
`,
    );
    await world.trust();
    await world.json(["up", "boxed"]);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("are read-only inside", async () => {
    const written = (): string => (existsSync(path("first")) ? readFileSync(path("first"), "utf8") : "");
    await until(() => written().includes("done"), "the attempts");
    expect(written()).toBe("done\n");
  });

  /** An editor that saves by renaming takes the read-only mount away from the running sandbox. */
  async function savedWhileAttacked(agent: string, file: string): Promise<void> {
    copyFileSync(path(file), path("saved"));
    renameSync(path("saved"), path(file));
    writeFileSync(path(`go-${agent}`), "");
    await until(() => existsSync(path(`done-${agent}`)), "the mail of the sandbox", 30_000);
  }

  const { searched, ...single } = targets;

  test.each(Object.entries(single))(
    "are not started once the sandbox has rewritten them: %s",
    async (agent, file) => {
      const original = readFileSync(path(file));
      await savedWhileAttacked(agent, file);
      expect(readFileSync(path(file), "utf8")).toContain("escaped");
      const { stderr } = await world.tieline(["send", agent, "hello"]);
      expect(stderr).toContain(`error UNTRUSTED: ${path(file)} changed since`);
      expect((await world.tieline(["trust", "--show"])).stdout).toContain(`files: ${path(file)} sha256 `);
      expect(existsSync(join(world.dir, "escaped"))).toBe(false);
      writeFileSync(path(file), original);
    },
    60_000,
  );

  test("are not started while the sandbox could rewrite them after the check, until it is restarted", async () => {
    const { stderr } = await world.tieline(["up", "args"]);
    expect(stderr).toContain(`error UNTRUSTED: a running sandboxed agent can write ${path("args.sh")}, so args is not`);
    await world.json(["restart", "boxed"]);
    await world.json(["up", "args"]);
    expect(existsSync(join(world.dir, "escaped"))).toBe(false);
  });

  test("stay read-only in a directory of PATH, also when one is saved outside", async () => {
    await savedWhileAttacked("searched", searched);
    expect(existsSync(path("written-searched"))).toBe(false);
    expect(readFileSync(path(searched), "utf8")).toBe("#!/bin/sh\nexec cat\n");
  });
});

describeUnless(lackOfBubblewrap())("a link on the way to a file that runs outside", () => {
  test("is refused in the workspace of a sandbox, which could replace it", async () => {
    const world = keep(await startWorld());
    world.file("prog.sh", "exec cat\n");
    world.file("tools/x.sh", "exec cat\n");
    symlinkSync("tools", join(world.project, "scripts"));
    world.file("tieline.yaml", `team: walls\nagents:\n  ${boxed}\n  x: { command: [sh, scripts/x.sh] }\n`);
    await world.trust();
    const { code, stderr } = await world.tieline(["up", "boxed"]);
    expect([code, stderr]).toEqual([4, expect.stringContaining("scripts is a link, which cannot be kept read-only")]);
  });
});

describeUnless(lackOfBubblewrap())("the directory that core.hooksPath names", () => {
  const attack = `mkdir -p ci/hooks; echo id >ci/hooks/pre-commit && echo yes >planted
mv ci other; echo done >finished`;

  async function withHooks(where = "--local"): Promise<World> {
    const world = keep(await startWorld());
    world.file("prog.sh", `${attack}\nexec cat\n`);
    for (const words of [
      ["init", "--quiet"],
      ["config", where, "core.hooksPath", "ci/hooks"],
    ])
      expect(Bun.spawnSync(["git", ...words], { cwd: world.project, env: world.env }).exitCode).toBe(0);
    world.file("tieline.yaml", `team: walls\nagents:\n  ${boxed}\n`);
    await world.trust();
    return world;
  }

  test.each(["--local", "--global"])("is read-only inside, also when it did not exist before: %s", async (where) => {
    const world = await withHooks(where);
    await world.json(["up", "boxed"]);
    await until(() => existsSync(join(world.project, "finished")), "the attempts");
    expect(existsSync(join(world.project, "planted"))).toBe(false);
    expect(readdirSync(join(world.project, "ci/hooks"))).toEqual([]);
  });

  test("is refused behind a link, and nothing is made where that leads", async () => {
    const world = await withHooks();
    mkdirSync(join(world.dir, "elsewhere"));
    symlinkSync(join(world.dir, "elsewhere"), join(world.project, "ci"));
    const { code, stderr } = await world.tieline(["up", "boxed"]);
    expect([code, stderr]).toEqual([4, expect.stringContaining("ci is a link, which cannot be kept read-only")]);
    expect(readdirSync(join(world.dir, "elsewhere"))).toEqual([]);
  });
});
