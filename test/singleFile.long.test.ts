import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plantBunSettings } from "../src/testing/bunSettings.ts";
import { copyOfTree, mustSucceed } from "../src/testing/packedPackage.ts";
import { until } from "../src/testing/until.ts";
import { resultOf, type ChildResult } from "../src/testing/childResult.ts";

/** The single file alone: no checkout beside it, no Bun and no Node on the PATH. */
let dir: string;
let count = 0;
const places: Place[] = [];

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "tl-one-"));
  const tree = copyOfTree(dir);
  await mustSucceed([join(tree, "scripts/build")], tree);
  copyFileSync(join(tree, "dist/tieline"), join(dir, "tieline"));
});
afterEach(async () => {
  for (const place of places.splice(0)) await place.leave();
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

interface Place {
  readonly project: string;
  readonly home: string;
  readonly env: Record<string, string>;
  run(args: readonly string[]): Promise<ChildResult>;
  leave(): Promise<void>;
}

function aPlace(yaml: string): Place {
  const root = join(dir, String(++count));
  const [project, home] = [join(root, "project"), join(root, "home")];
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, "tieline.yaml"), yaml);
  const env = {
    PATH: "/usr/bin:/bin",
    HOME: root,
    LANG: "C.UTF-8",
    TERM: "xterm-256color",
    TMPDIR: root,
    TMUX_TMPDIR: root,
    TIELINE_HOME: home,
    TIELINE_TMUX_SOCKET: "private",
  };
  const place: Place = {
    project,
    home,
    env,
    async run(args) {
      const child = Bun.spawn([join(dir, "tieline"), ...args], {
        cwd: project,
        env,
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      return resultOf(child);
    },
    async leave() {
      await place.run(["daemon", "stop"]);
      await Bun.spawn(["tmux", "-L", "private", "kill-server"], { env, stderr: "ignore" }).exited;
    },
  };
  places.push(place);
  return place;
}

async function mustRun(place: Place, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await place.run(args);
  if (code !== 0) throw new Error(`tieline ${args.join(" ")}: exit ${code}\n${stdout}${stderr}`);
  return stdout;
}

const inbox = async (place: Place): Promise<{ from: string; body: string }[]> =>
  JSON.parse(await mustRun(place, ["inbox", "user", "--json"])) as { from: string; body: string }[];

describe("the single file", () => {
  test("starts its own daemon, its agents find tieline and swarm-msg, and messages go both ways", async () => {
    const place = aPlace(`team: one
agents:
  talker: { command: [sh, -c, 'while read -r line; do tieline send user "heard $line"; done'], headless: true }
  writer: { command: [sh, -c, 'swarm-msg send user "by file"; sleep 1000'], workspace: room, input: files }
`);
    await mustRun(place, ["trust", "--yes"]);
    await mustRun(place, ["up"]);
    await mustRun(place, ["send", "talker", "--wait", "delivered", "hello"]);
    await until(async () => (await inbox(place)).length === 2, "both messages");
    expect((await inbox(place)).map(({ from, body }) => [from, body.replace(/MSG_\w+/, "TAG")]).toSorted()).toEqual([
      ["talker", "heard TAG: hello"],
      ["writer", "by file"],
    ]);
    expect(readFileSync(join(place.home, "bin/tieline"), "utf8")).toContain(realpathSync(join(dir, "tieline")));
    const version = (program: string): string =>
      Bun.spawnSync([program, "--version"], { env: place.env }).stdout.toString();
    expect(version(join(place.home, "bin/tieline"))).toBe(version(join(dir, "tieline")));
    expect(lstatSync(join(place.home, "bin/swarm-msg")).mode & 0o111).not.toBe(0);
  });

  test("answers hooks by itself, without a Bun beside it", async () => {
    const place = aPlace("team: one\n");
    await Bun.spawn(["tmux", "-L", "private", "new-session", "-d", "cat"], { env: place.env }).exited;
    await mustRun(place, ["adopt", "%0", "--name", "ana", "--provider", "generic"]);
    const socket = await new Response(
      Bun.spawn(["tmux", "-L", "private", "display-message", "-p", "#{socket_path}"], { env: place.env }).stdout,
    ).text();
    const call = {
      session_id: "s",
      hook_event_name: "PreToolUse",
      tool_name: "SendMessage",
      tool_input: { to: "user", message: "hello" },
      tool_use_id: "t",
    };
    const hook = Bun.spawn([join(place.home, "hooks/hook"), "claude-code", "PreToolUse"], {
      env: { ...place.env, TMUX: `${socket.trim()},1,0`, TMUX_PANE: "%0" },
      stdin: new Blob([JSON.stringify(call)]),
    });
    expect(await new Response(hook.stdout).text()).toContain("The message is sent.");
    expect(await inbox(place)).toMatchObject([{ from: "ana", body: "hello" }]);
  });

  test("obeys no settings for Bun in the directory it is called in", async () => {
    const place = aPlace("team: one\n");
    plantBunSettings(place.project);
    expect(await mustRun(place, ["daemon", "start"])).toStartWith("✓ the daemon runs");
    expect(existsSync(join(place.project, "planted"))).toBe(false);
  });

  test("runs objects of a project in their threads, and serves the page", async () => {
    const place = aPlace("team: one\nobjects: { polly: { module: polly.ts } }\n");
    writeFileSync(
      join(place.project, "polly.ts"),
      "export const onMessage = (from: string, content: string, api: { reply(text: string): unknown }): " +
        "unknown => api.reply(`${from} said ${content}`);\n",
    );
    await mustRun(place, ["trust", "--yes"]);
    await mustRun(place, ["send", "polly", "--wait", "answered", "hi"]);
    expect(await inbox(place)).toMatchObject([{ from: "polly", body: "user said hi" }]);
    const link = (await mustRun(place, ["dash", "--no-open"])).match(/http:\S+/)![0];
    const page = await (await fetch(new URL("/", link))).text();
    const script = page.match(/src="(\/assets\/[^"]+\.js)"/)![1]!;
    const served = await fetch(new URL(script, link));
    expect([served.status, served.headers.get("content-type")]).toEqual([200, "text/javascript; charset=utf-8"]);
  });

  test("speaks MCP, registers itself by its own path, and plays the demo", async () => {
    const place = aPlace("team: one\n");
    await mustRun(place, ["setup", "--mcp", "claude"]);
    const registered = JSON.parse(readFileSync(join(place.home, "../.claude.json"), "utf8")) as {
      mcpServers: { tieline: { command: string } };
    };
    expect(existsSync(registered.mcpServers.tieline.command)).toBe(true);
    expect(registered.mcpServers.tieline.command).toStartWith(realpathSync(dir));
    expect(await mustRun(place, ["demo"])).toContain("reviewer");
    expect(await mustRun(place, ["skill"])).toContain("tieline send");
  });
});
