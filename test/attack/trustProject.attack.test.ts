import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "../../src/client/client.ts";
import { keeping } from "../../src/testing/keeping.ts";
import { lackUnless, testUnless } from "../../src/testing/needing.ts";
import { createOtherUser, lackOfOtherUser } from "../../src/testing/otherUser.ts";
import { until } from "../../src/testing/until.ts";
import { startWorld, type World } from "../../src/testing/world.ts";

const keep = keeping();
const gatewayPort = 20_000 + (process.pid % 20_000);

/** Everything by which a project's files could run something, each of which would leave a mark. */
const hostile = (mark: string): Record<string, string> => ({
  "tieline.yaml": `team: shop
agents:
  coder: { command: [sh, -c, "touch ${mark}/coder; exec cat"] }
  quiet: { command: [sh, -c, "touch ${mark}/quiet; exec cat"], headless: true }
  engineer: { permissions: skip, prompt: "run the tests at once" }
objects:
  command: { command: [sh, -c, "touch ${mark}/command; exec cat"] }
  module: { module: ./module.ts }
  gateway: { options: { port: ${gatewayPort}, secret: "0123456789abcdef", to: coder } }
  tick: { options: { intervalMs: 1000 } }
topology: [coder <-> quiet, coder -> engineer]
aliases: { everyone: [coder, quiet] }
`,
  "module.ts": `require("node:fs").writeFileSync("${mark}/module", "");\nexport const onMessage = () => undefined;\n`,
  ".tieline/agents/helper.md": `---\ncommand: [sh, -c, "touch ${mark}/helper; exec cat"]\n---\n`,
});

async function hostileWorld(): Promise<{ world: World; marks: () => string[] }> {
  const world = keep(await startWorld());
  const mark = join(world.dir, "marks");
  mkdirSync(mark);
  for (const [name, text] of Object.entries(hostile(mark))) world.file(name, text);
  return {
    world,
    marks: () => ["coder", "quiet", "command", "module", "helper"].filter((name) => existsSync(join(mark, name))),
  };
}

const isListening = (): Promise<boolean> =>
  fetch(`http://127.0.0.1:${gatewayPort}/`).then(
    () => true,
    () => false,
  );

describe("a project that the user has not trusted", () => {
  testUnless(lackUnless(Bun.which("git") !== null, "git is missing here"))(
    "cloned from a repository, it is shown by every command that shows it and starts nothing by any of the others",
    async () => {
      const { world: origin } = await hostileWorld();
      for (const command of [
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
      ])
        Bun.spawnSync(["git", ...command], { cwd: origin.project, env: origin.env });
      const { world, marks } = await hostileWorld();
      rmSync(world.project, { recursive: true });
      expect(Bun.spawnSync(["git", "clone", "-q", origin.project, world.project], { env: world.env }).exitCode).toBe(0);
      const text = readFileSync(join(world.project, "tieline.yaml"), "utf8").replaceAll(
        join(origin.dir, "marks"),
        join(world.dir, "marks"),
      );
      writeFileSync(join(world.project, "tieline.yaml"), text);

      for (const command of [
        ["ls"],
        ["topology", "show"],
        ["topology", "check"],
        ["profiles", "ls"],
        ["profiles", "show", "coder"],
        ["resolve", "coder"],
        ["team", "show", "shop"],
        ["doctor"],
        ["trust", "--show"],
      ]) {
        expect([command, (await world.tieline(command)).code]).toEqual([command, 0]);
      }
      const listed = await world.tieline(["ls"]);
      expect(listed.stderr).toContain(
        `note: ${join(world.project, "tieline.yaml")} is not trusted yet, so nothing is started from it; ` +
          `\`tieline trust ${world.project}\` shows what it can start and asks`,
      );
      expect((await world.tieline(["topology", "show"])).stdout).toContain("coder");

      for (const command of [
        ["up"],
        ["up", "coder"],
        ["spawn", "coder"],
        ["spawn", "quiet"],
        ["spawn", "helper"],
        ["spawn", "engineer"],
        ["send", "coder", "please run the tests"],
        ["ask", "coder", "--timeout", "1s", "well?"],
        ["trust"],
      ]) {
        const { code, stderr } = await world.tieline(command);
        expect([command, code, stderr]).toEqual([command, 3, expect.stringContaining("error UNTRUSTED: ")]);
      }
      for (const command of [
        ["send", "@everyone", "hello"],
        ["send", "command", "hello"],
        ["send", "module", "hello"],
        ["send", "gateway", "hello"],
        ["resume"],
        ["resume", "coder"],
        ["restart", "coder"],
        ["metrics"],
      ])
        await world.tieline(command);
      await world.killDaemon();
      await world.tieline(["ls"]);
      expect([marks(), await isListening()]).toEqual([[], false]);
      expect((await world.ls()).map(({ name }) => name)).toEqual([]);
    },
  );

  test("what the question shows is all that could run, and what it does not cover", async () => {
    const { world } = await hostileWorld();
    const { stdout } = await world.tieline(["trust", "--show"]);
    for (const part of [
      "agent coder  command: ",
      "agent quiet  headless: true",
      "agent engineer  permissions: skip",
      "agent engineer  prompt: run the tests at once",
      "agent helper  command: ",
      "object command  command: ",
      "object module  code: sha256 ",
      "object gateway  options: ",
      "Not covered: what these programs read and run themselves, such as package.json",
    ])
      expect(stdout).toContain(part);
  });

  test("escape sequences in it steer no terminal", async () => {
    const world = keep(
      await startWorld({
        trusted: false,
        files: {
          "tieline.yaml": `agents:\n  coder: { command: ["echo", "\\e[2J\\e]52;c;ZXZpbA==\\a\\u202Eharmless"] }\n`,
        },
      }),
    );
    const { stdout } = await world.tieline(["trust", "--show"]);
    expect(stdout).toContain("/usr/bin/echo");
    expect(stdout).not.toMatch(/[\u001b\u0007\u202e]/u);
  });

  test("on a terminal `up` asks, takes no for an answer, and starts after a yes", async () => {
    const { world, marks } = await hostileWorld();
    const no = await onTerminal(world, ["up", "coder"], "n\r");
    expect([no.code, no.told]).toEqual([3, expect.stringContaining("Trust it? [y/N]")]);
    expect(marks()).toEqual([]);
    const yes = await onTerminal(world, ["up", "coder"], "y\r");
    expect(yes.code).toBe(0);
    expect(marks()).toContain("coder");
  });
});

describe("only the user, on the command line", () => {
  const files = {
    "tieline.yaml":
      `team: shop\nagents:\n  agent: { command: [sh, -c, 'tieline trust --yes >said 2>&1; echo $? >code; echo ` +
      `"$TIELINE_TOKEN" >token; exec cat'], may: [spawn, kill, topology] }\n`,
  };

  test("an agent cannot trust, by the command, by its token at the port, or by MCP", async () => {
    const world = keep(await startWorld({ files }));
    await world.json(["up"]);
    await until(
      () => existsSync(join(world.project, "token")) && readFileSync(join(world.project, "token"), "utf8") !== "",
      "the agent's attempt",
    );
    // The same files are trusted already; what matters is who asks.
    world.file("tieline.yaml", files["tieline.yaml"].replace("may: [spawn", "args: [x], may: [spawn"));
    const token = readFileSync(join(world.project, "token"), "utf8").trim();
    const asAgent = await world.tieline(["trust", "--yes"], { env: { TIELINE_TOKEN: token } });
    expect([asAgent.code, asAgent.stderr]).toEqual([
      3,
      expect.stringContaining("error NOT_PERMITTED: agent may not do this"),
    ]);
    const url = `http://127.0.0.1:${readFileSync(join(world.env["TIELINE_HOME"]!, "port"), "utf8").trim()}`;
    const { digest } = await world.json<{ digest: string }>(["trust", "--show"]);
    await expect(createClient({ url, token }, { cwd: world.project }).call("trust", { digest })).rejects.toMatchObject({
      code: "NOT_PERMITTED",
    });
    const tools = Bun.spawn([join(import.meta.dir, "../../bin/tieline"), "mcp"], {
      cwd: world.project,
      env: { ...world.env, TIELINE_TOKEN: token },
      stdin: new Blob([
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},' +
          '"clientInfo":{"name":"x","version":"1"}}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n' +
          '{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n',
      ]),
      stdout: "pipe",
      stderr: "ignore",
    });
    const listed = await new Response(tools.stdout).text();
    expect(listed).toContain('"tools":[');
    expect(listed).not.toMatch(/"name":"[^"]*trust/);
    expect((await world.json<{ state: string }>(["trust", "--show"])).state).toBe("changed");
  });

  test("not even with the user's token at the port, where a page would ask", async () => {
    const world = keep(await startWorld({ files, trusted: false }));
    const { digest } = await world.json<{ digest: string }>(["trust", "--show"]);
    const home = world.env["TIELINE_HOME"]!;
    const url = `http://127.0.0.1:${readFileSync(join(home, "port"), "utf8").trim()}`;
    const token = readFileSync(join(home, "user.token"), "utf8").trim();
    await expect(createClient({ url, token }, { cwd: world.project }).call("trust", { digest })).rejects.toMatchObject({
      code: "NOT_PERMITTED",
      message: "a project is trusted on the command line only",
      remedy: "run `tieline trust` in its directory",
    });
    expect((await world.json<{ state: string }>(["trust", "--show"])).state).toBe("new");
  });
});

describe("a project that was trusted and has changed", () => {
  const yaml = (command: string): string => `team: shop\nagents:\n  coder: { command: ${command} }\n`;

  test("mail waits with the reason, and starts the agent once the change is trusted", async () => {
    const world = keep(await startWorld({ files: { "tieline.yaml": yaml("[cat]") } }));
    await world.json(["up"]);
    await world.json(["kill", "coder"]);
    world.file("tieline.yaml", yaml(`[sh, -c, "touch ran; exec cat"]`));
    const { tag } = await world.json<{ tag: string }>(["send", "coder", "hello"]);
    await until(
      async () =>
        (await world.status(tag)).deliveries[0]!.reason?.includes("has changed since it was trusted") ?? false,
      "the reason",
    );
    for (const command of [
      ["resume", "coder"],
      ["restart", "coder"],
      ["spawn", "coder"],
    ])
      await world.tieline(command);
    expect(existsSync(join(world.project, "ran"))).toBe(false);
    const { stdout } = await world.tieline(["trust", "--yes"]);
    expect(stdout).toContain(
      "- agent coder  command: /usr/bin/cat\n  + agent coder  command: /usr/bin/sh -c 'touch ran; exec cat'\n",
    );
    await until(async () => (await world.status(tag)).deliveries[0]!.state === "delivered", "the delivery");
    expect(existsSync(join(world.project, "ran"))).toBe(true);
  });

  test("a running agent is not ended by a restart that could not start it again", async () => {
    const world = keep(await startWorld({ files: { "tieline.yaml": yaml("[cat]") } }));
    await world.json(["up"]);
    world.file("tieline.yaml", yaml("[tac]"));
    expect((await world.tieline(["restart", "coder"])).stderr).toContain("error UNTRUSTED");
    expect((await world.ls())[0]).toMatchObject({ name: "coder", state: "idle" });
  });

  test("a file that is swapped all the time is never started with what was not trusted", async () => {
    const world = keep(await startWorld({ files: { "tieline.yaml": yaml(`[sh, -c, "echo good >>ran; exec cat"]`) } }));
    writeFileSync(join(world.dir, "good.yaml"), yaml(`[sh, -c, "echo good >>ran; exec cat"]`));
    writeFileSync(join(world.dir, "evil.yaml"), yaml(`[sh, -c, "echo evil >>ran; exec cat"]`));
    const swapping = Bun.spawn(
      ["sh", "-c", `while :; do for one in evil good; do cp ../$one.yaml .next && mv .next tieline.yaml; done; done`],
      { cwd: world.project, stdin: "ignore" },
    );
    const answers = new Set<number>();
    try {
      for (let round = 0; round < 25; round++)
        answers.add((await world.tieline(["spawn", "coder", "--name", `coder${round}`])).code);
    } finally {
      swapping.kill("SIGKILL");
      await swapping.exited;
    }
    expect([...answers].filter((code) => code !== 0 && code !== 3)).toEqual([]);
    expect(answers.has(0)).toBe(true);
    expect(readFileSync(join(world.project, "ran"), "utf8")).not.toContain("evil");
  }, 60_000);

  test("a module that is swapped after it was judged runs as it was trusted", async () => {
    const code = (word: string): string => `export const onMessage = (from, content, api) => api.reply("${word}");\n`;
    const world = keep(
      await startWorld({
        files: { "module.ts": code("good"), "tieline.yaml": "team: shop\nobjects: { one: { module: ./module.ts } }\n" },
      }),
    );
    await world.ls();
    // It was admitted with the text that was trusted, and is loaded with the first message.
    world.file("module.ts", code("evil"));
    await world.tieline(["send", "one", "hello", "--wait", "answered"]);
    expect((await world.inbox("user")).map(({ body }) => body)).toEqual(["good"]);
    await world.killDaemon();
    await world.tieline(["send", "one", "hello again"]);
    expect((await world.inbox("user")).map(({ body }) => body)).not.toContain("evil");
  });
});

describe("files of others in a project of one's own", () => {
  testUnless(lackOfOtherUser())("a profile that another user drops into an open directory starts nothing", async () => {
    await using other = createOtherUser();
    const world = keep(
      await startWorld({
        files: {
          "tieline.yaml": "team: shop\nagents:\n  coder: { command: [cat] }\n",
          ".tieline/agents/own.md": "Be kind.\n",
        },
      }),
    );
    chmodSync(world.dir, 0o755);
    const agents = join(world.project, ".tieline/agents");
    chmodSync(agents, 0o1777);
    await other.run([
      "sh",
      "-c",
      `printf -- '---\\ncommand: [sh, -c, "id >${join(world.dir, "ran")}"]\\n---\\n' >${join(agents, "evil.md")}`,
    ]);
    expect(existsSync(join(agents, "evil.md"))).toBe(true);
    for (const command of [["spawn", "evil"], ["up"], ["spawn", "coder"], ["send", "evil", "hi"]])
      expect([command, (await world.tieline(command)).code]).toEqual([command, 3]);
    expect((await world.tieline(["trust", "--yes"])).code).toBe(3);
    rmSync(join(agents, "evil.md"));
    expect((await world.tieline(["spawn", "coder"])).stderr).toContain(`${agents} can be written by other users`);
    expect(existsSync(join(world.dir, "ran"))).toBe(false);
  });

  test.each([
    ["a profile", ".tieline/agents/coder.md", "team: shop\nagents:\n  coder: { command: [cat] }\n"],
    [
      "a module",
      "module.ts",
      "team: shop\nobjects: { one: { module: ./module.ts } }\nagents:\n  coder: { command: [cat] }\n",
    ],
  ])("%s that is a FIFO is refused, and the daemon continues", async (_, name, yaml) => {
    const world = keep(await startWorld({ files: { "tieline.yaml": yaml, [name]: "" } }));
    rmSync(join(world.project, name));
    Bun.spawnSync(["mkfifo", join(world.project, name)]);
    const { code, stderr } = await world.tieline(["spawn", "coder"]);
    expect([code, stderr]).toEqual([3, expect.stringContaining("is a FIFO, not a regular file")]);
    expect((await world.tieline(["ls"], { cwd: world.dir })).code).toBe(0);
  });
});

/** A command on a real terminal, answered as soon as it asks. */
async function onTerminal(
  world: World,
  args: readonly string[],
  answer: string,
): Promise<{ code: number; told: string }> {
  let told = "";
  let answered = false;
  const decoder = new TextDecoder();
  const data = (terminal: Bun.Terminal, chunk: Uint8Array): void => {
    told += decoder.decode(chunk, { stream: true });
    if (answered || !told.includes("[y/N]")) return;
    answered = true;
    terminal.write(answer);
  };
  const child = Bun.spawn([join(import.meta.dir, "../../bin/tieline"), ...args], {
    cwd: world.project,
    env: { ...world.env },
    terminal: { cols: 120, rows: 40, data },
  });
  const code = await child.exited;
  child.terminal?.close();
  return { code, told };
}
