import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentView, Output } from "../src/api/schema.ts";
import { bunExec } from "../src/os/exec.ts";
import { runOnTerminal } from "../src/testing/onTerminal.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

const yaml = `team: web
agents:
  ana: { command: [cat] }
  boss: { command: [cat], role: lead }
  bob: { command: [cat] }
`;

let world: World;
beforeAll(async () => {
  world = await startWorld({ files: { "tieline.yaml": yaml } });
});
afterAll(() => world[Symbol.asyncDispose]());

const shellIn = (directory: string): Promise<string> =>
  world.pane(["sh", "-c", `cd ${directory} && exec sh`], { ...world.env, PS1: "$ " });

/** A terminal of its own, with a client of the world's tmux server in it: what a user sees and types into. */
async function viewer(
  session: string,
): Promise<AsyncDisposable & { screen(): Promise<string>; press(...keys: string[]): Promise<void> }> {
  const outer = async (...argv: string[]): Promise<string> =>
    (await bunExec(["tmux", "-u", "-L", "outer", "-f", "/dev/null", ...argv], { env: world.env })).stdout;
  await outer(
    "new-session",
    "-d",
    "-s",
    "view",
    "-x",
    "150",
    "-y",
    "40",
    "--",
    "env",
    "-u",
    "TMUX",
    "tmux",
    "-u",
    "-L",
    "private",
    "attach",
    "-t",
    `=${session}:`,
  );
  return {
    screen: () => outer("capture-pane", "-p", "-t", "=view:"),
    press: async (...keys) => void (await outer("send-keys", "-t", "=view:", ...keys)),
    [Symbol.asyncDispose]: async () => void (await outer("kill-server")),
  };
}

describe("a session that `up` makes", () => {
  test("opens on the lead, and its shell is in the project", async () => {
    const { started } = await world.json<Output<"up">>(["up"]);
    const boss = started.find(({ name }) => name === "boss")!;
    expect(await world.tmux("display-message", "-p", "-t", "=web:", "#{pane_id}")).toBe(boss.pane!);
    expect(await world.tmux("list-windows", "-t", "=web:", "-F", "#{window_name} #{pane_current_path}")).toContain(
      `shell ${world.project}`,
    );
  });

  test("stays where the user has left it", async () => {
    await world.tmux("select-window", "-t", "=web:bob");
    await world.json(["kill", "ana"]);
    await world.json(["up"]);
    expect(await world.tmux("display-message", "-p", "-t", "=web:", "#{window_name}")).toBe("bob");
  });
});

/** A project of its own, trusted. */
async function projectWith(team: string, agents: string): Promise<string> {
  const directory = join(world.dir, team);
  mkdirSync(directory);
  writeFileSync(join(directory, "tieline.yaml"), `team: ${team}\n${agents}`);
  await world.trust(directory);
  return directory;
}

const onTerminal = (cwd: string) =>
  runOnTerminal([join(import.meta.dir, "../bin/tieline")], { cwd, env: world.env, columns: 200 });

describe("tieline in a project", () => {
  test("says after detaching which agents did not start, and exits as `up` does", async () => {
    const cwd = await projectWith(
      "mixed",
      "agents:\n  good: { command: [cat] }\n  bad: { command: 'echo no key; exit 3', promptPattern: '^never$' }\n",
    );
    const run = onTerminal(cwd);
    const clients = async (): Promise<string[]> =>
      (await world.tmux("list-clients", "-F", "#{client_control_mode} #{session_name} #{client_tty}")).split("\n");
    const terminal = async (): Promise<string | undefined> =>
      (await clients()).find((line) => line.startsWith("0 mixed "))?.split(" ")[2];
    await until(async () => (await terminal()) !== undefined, "the client");
    await world.tmux("detach-client", "-t", (await terminal())!);
    const { code, told } = await run;
    expect(code).toBe(4);
    expect(told).toMatch(/\[detached [^]*\r\nerror SPAWN_FAILED: bad exited with code 3: no key \(after /);
  });

  test("says where there are no agents how to add one, and names no session that is not there", async () => {
    const cwd = await projectWith("bare", "agents: {}\n");
    for (const words of [["up"], ["open"]]) {
      const { code, stdout } = await world.tieline(words, { cwd });
      expect([code, stdout]).toEqual([
        0,
        expect.stringMatching(/^tieline\.yaml has no agents; .*`tieline spawn engineer`\n$/),
      ]);
    }
  });
});

describe("tieline outside a project", () => {
  test("shows what is running in all teams, until Ctrl-C", async () => {
    const pane = await shellIn("/");
    await world.tmux("send-keys", "-t", pane, "tieline", "Enter");
    await until(async () => /boss \(lead\) +web/.test(await world.screen(pane)), "the agents");
    expect(await world.screen(pane)).toContain("Ctrl-C closes this view");
    await world.json(["kill", "bob"]);
    await until(async () => /bob.*suspended/.test(await world.screen(pane)), "the change");
    await world.tmux("send-keys", "-t", pane, "C-c");
    await world.tmux("send-keys", "-t", pane, "echo back", "Enter");
    await until(
      async () => /^(\$ )?back$/m.test(await world.screen(pane)),
      () => world.screen(pane),
    );
  });

  test("without a terminal it lists them once", async () => {
    const { code, stdout } = await world.tieline(["open"], { cwd: "/" });
    expect(code).toBe(0);
    expect(stdout).toMatch(/boss \(lead\) +web/);
  });

  test("send, ls and broadcast point to the agents of other teams", async () => {
    const running = (await world.json<AgentView[]>(["ls", "--all"])).filter(
      ({ kind, presence }) => kind === "program" && presence !== "offline",
    ).length;
    expect(running).toBeGreaterThan(1);
    const send = await world.tieline(["send", "nope", "x"], { cwd: "/" });
    expect(send.stderr).toContain(`\`tieline ls --all\` lists the agents of other teams (${running} running)`);
    expect((await world.tieline(["ls"], { cwd: "/" })).stdout).toBe(
      `no agents in team default; ${running} run in other teams: \`tieline ls --all\`\n`,
    );
    const { stdout } = await world.tieline(["broadcast", "hi"], { cwd: "/" });
    expect(stdout).toContain(
      "there are no agents in team default; --team TEAM writes to another team, --all to every live agent",
    );
    expect(stdout).not.toContain("tieline.yaml");
    expect((await world.tieline(["send", "nope", "x"])).stderr).toContain("`tieline ls` lists the agents");
  });

  test("the popup of prefix G stays open", async () => {
    await world.tieline(["shortcuts", "install"]);
    await shellIn("/");
    await world.tmux("source-file", join(world.dir, ".tmux.conf"));
    await using view = await viewer("main");
    await until(async () => (await world.tmux("list-clients", "-F", "#{session_name}")).includes("main"), "the client");
    await view.press("C-b", "G");
    await until(async () => (await view.screen()).includes("│Ctrl-C closes this view"), "the popup");
    await until(async () => /boss \(lead\) +web/.test(await view.screen()), "the agents in it");
    await view.press("C-c");
    await until(async () => !(await view.screen()).includes("┌──"), "its end");
  });
});
