import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentView, ReceiptView } from "../src/api/schema.ts";
import { adopt } from "../src/agents/adopt/adopt.ts";
import { pastesOf, promptAgentPath, submissions } from "../src/testing/promptAgent.ts";
import { openStage, type Stage } from "../src/testing/stage.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

/** A user at a terminal of their own. */
function user(world: World, ...tmux: string[]): Bun.Subprocess {
  const terminal = { cols: 100, rows: 30, data: () => undefined };
  return Bun.spawn(["tmux", "-u", "-L", "private", ...tmux], { env: { ...world.env }, terminal });
}

const clientsOf = async (world: World, kind: "user" | "control"): Promise<string[]> => {
  const lines = (await world.tmux("list-clients", "-F", "#{?client_control_mode,control,user} #{session_name}")).split(
    "\n",
  );
  return lines.filter((line) => line.startsWith(kind)).map((line) => line.split(" ")[1]!);
};

describe("an unkind terminal", () => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld({ files: { "tieline.yaml": "team: web\nagents:\n  ana: { command: [cat] }\n" } });
  });
  afterEach(() => world[Symbol.asyncDispose]());
  const screenOf = async (agent: AgentView): Promise<string> => world.screen(agent.pane!);
  const delivered = (to: string, body: string): Promise<ReceiptView> =>
    world.json<ReceiptView>(["send", to, "--wait", "delivered", body]);

  test("no tmux: said in so many words, and nothing is half done", async () => {
    const bin = join(world.dir, "bin");
    mkdirSync(bin);
    for (const folder of ["/usr/bin", "/bin"])
      for (const name of readdirSync(folder)) if (name !== "tmux") link(join(folder, name), join(bin, name));
    const env = { PATH: bin };
    await world.tieline(["daemon", "stop"]);
    await world.tieline(["trust", "--yes"], { env });
    for (const args of [
      ["spawn", "ana"],
      ["adopt", "%1", "--name", "bob"],
    ]) {
      const { code, stderr } = await world.tieline(args, { env });
      expect([code, stderr]).toEqual([5, expect.stringContaining("error TMUX_UNAVAILABLE: tmux is not installed")]);
    }
    const listed = await world.json<AgentView[]>(["ls"], { env });
    expect(listed).toMatchObject([
      { name: "ana", state: "gone", pane: null, reason: "tmux is not installed or not on the PATH" },
    ]);
    const later = await world.json<ReceiptView>(["send", "ana", "when tmux is there"], { env });
    expect(later.deliveries[0]).toMatchObject({ agent: "ana", state: "queued" });
  });

  test("destroy-unattached in the user's tmux.conf does not end a team without a client", async () => {
    writeFileSync(join(world.dir, ".tmux.conf"), "set -g destroy-unattached on\n");
    const ana = await world.json<AgentView>(["spawn", "ana"]);
    const { tag } = await delivered("ana", "still there?");
    expect(await screenOf(ana)).toContain(tag);
    expect(await world.tmux("list-sessions", "-F", "#{session_name}")).toBe("web");
  });

  test("a session that is to end with its last viewer is written to, but not held open", async () => {
    const pane = await world.pane(["cat"]);
    await world.tmux("new-session", "-d", "-s", "brief", "cat");
    const viewer = user(world, "attach-session", "-t", "=brief");
    await until(async () => (await clientsOf(world, "user")).includes("brief"), "the viewer");
    await world.tmux("set-option", "-t", "=brief:", "destroy-unattached", "on");
    await world.json(["adopt", "brief", "--name", "eve"]);
    const { tag } = await delivered("eve", "before you go");
    expect(await world.tmux("capture-pane", "-p", "-t", "=brief:")).toContain(tag);
    // The end of such a session is not played: tmux 3.3a itself crashes at it now and then, with and without us.
    await until(async () => !(await clientsOf(world, "control")).includes("brief"), "us to leave");
    expect(await clientsOf(world, "control")).toEqual(["main"]);
    expect(await world.screen(pane)).not.toContain(tag);
    viewer.kill();
  });

  test("attach -d by the user throws our client out; the next message arrives all the same", async () => {
    const ana = await world.json<AgentView>(["spawn", "ana"]);
    await delivered("ana", "one");
    const viewer = user(world, "attach-session", "-d", "-t", "=web");
    await until(async () => (await clientsOf(world, "user")).includes("web"), "the user");
    await world.tmux("select-window", "-t", "=web:shell");
    const { tag } = await delivered("ana", "two");
    expect(await screenOf(ana)).toContain(tag);
    await world.tmux("detach-client", "-s", "=web");
    await viewer.exited;
  });

  test("two homes on one server: same names, same session, and each its own mail", async () => {
    const other = { env: { TIELINE_HOME: join(world.dir, "other") } };
    await world.tieline(["trust", "--yes"], other);
    const [mine, theirs] = [
      await world.json<AgentView>(["spawn", "ana"]),
      await world.json<AgentView>(["spawn", "ana"], other),
    ];
    expect(mine.pane).not.toBe(theirs.pane);
    const [{ tag: first }, { tag: second }] = [
      await delivered("ana", "mine"),
      await world.json<ReceiptView>(["send", "ana", "--wait", "delivered", "theirs"], other),
    ];
    expect(await screenOf(mine)).toContain(first);
    expect(await screenOf(mine)).not.toContain(second);
    expect(await screenOf(theirs)).toContain(second);
    expect(await screenOf(theirs)).not.toContain(first);
    await world.json(["down"]);
    expect((await world.json<AgentView[]>(["ls"], other)).map(({ state }) => state)).toEqual(["idle"]);
    await world.tieline(["daemon", "stop"], other);
  });

  test("two homes that know the same pane: neither writes into what the other has typed", async () => {
    const other = { env: { TIELINE_HOME: join(world.dir, "other") } };
    const log = join(world.dir, "shared");
    const pane = await world.pane([process.execPath, promptAgentPath, log]);
    await until(() => existsSync(pastesOf(log)), "the program");
    await world.json(["adopt", pane, "--name", "shared"]);
    await world.json(["adopt", pane, "--name", "shared"], other);
    const sending = Array.from({ length: 10 }, (_, at) => [
      world.json<ReceiptView>(["send", "shared", `mine ${at}`]),
      world.json<ReceiptView>(["send", "shared", `theirs ${at}`], other),
    ]);
    const tags = (await Promise.all(sending.flat())).map(({ tag }) => tag);
    await until(() => submissions(log).length >= tags.length, "all of them", 60_000);
    const whose = (text: string) =>
      tags.find(
        (tag) =>
          text.startsWith(`[${tag} from user]`) &&
          text.endsWith(`tieline reply ${tag}]`) &&
          text.includes(`[end ${tag} · reply: `),
      );
    expect(submissions(log).map(whose).toSorted()).toEqual(tags.toSorted());
    await world.tieline(["daemon", "stop"], other);
  }, 90_000);

  test("a program that died leaves a shell behind, and nothing is typed there", async () => {
    const pane = await world.pane(["bash", "--norc"]);
    await world.tmux("send-keys", "-t", pane, "cat", "Enter");
    await until(
      async () => (await world.tmux("display-message", "-p", "-t", pane, "#{pane_current_command}")) === "cat",
      "cat",
    );
    await world.json(["adopt", pane, "--name", "eve"]);
    await delivered("eve", "while you live");
    await world.tmux("send-keys", "-t", pane, "C-c");
    await until(
      async () => (await world.tmux("display-message", "-p", "-t", pane, "#{pane_current_command}")) === "bash",
      "the shell",
    );
    const { tag } = await world.json<ReceiptView>(["send", "eve", "touch /tmp/never"]);
    await until(async () => (await world.status(tag)).deliveries[0]!.reason !== null, "a reason");
    expect((await world.status(tag)).deliveries[0]).toMatchObject({ state: "queued", attempts: 0 });
    expect(["done", "gone"]).toContain((await world.ls()).find(({ name }) => name === "eve")!.state);
    expect(await world.screen(pane)).not.toContain(tag);
  });
});

function link(from: string, to: string): void {
  try {
    symlinkSync(from, to);
  } catch (error) {
    // /bin is often /usr/bin itself.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** The switch in this process, so that the server can be killed at a certain command. */
describe("a server that is killed", () => {
  let stage: Stage;
  let onCommand: (line: string) => void;

  beforeEach(async () => {
    onCommand = () => undefined;
    stage = await openStage({ debug: (line) => onCommand(line) });
    await adoptCat();
  });
  afterEach(() => stage[Symbol.asyncDispose]());

  const adoptCat = () =>
    adopt(
      stage.tieline.servers.at(stage.tmux.socketPath),
      { target: "%0", name: "ana", team: "default" },
      stage.tieline,
    );
  const killServer = (): void =>
    void Bun.spawnSync(["tmux", "-S", stage.tmux.socketPath, "kill-server"], { env: stage.tmux.env });
  const screen = (): Promise<string> => stage.tmux.tmux("capture-pane", "-p", "-t", "%0");
  const isWrite = (line: string): boolean => line.includes("@tieline_expect");

  async function restart(): Promise<void> {
    await stage.tmux.kill();
    await stage.tmux.tmux("new-session", "-d", "-s", "main", "-x", "100", "-y", "30", "env", "cat");
    await adoptCat();
    stage.tieline.courier.wake(stage.tieline.directory.roster.named("default", "ana")!.id);
  }

  test("after the paste: uncertain, reported, and never sent again automatically", async () => {
    onCommand = (line) => {
      if (!isWrite(line)) return;
      onCommand = () => undefined;
      killServer();
    };
    const lost = await stage.send("ana", "pasted, then lost");
    expect((await stage.delivered(lost, ({ state }) => state === "uncertain")).detail).toContain("tmux");
    await restart();
    const next = await stage.send("ana", "the next one");
    await stage.delivered(next, ({ state }) => state === "delivered");
    expect(await screen()).toContain(next.message.tag);
    expect(await screen()).not.toContain(lost.message.tag);
    expect(stage.deliveries(lost)).toMatchObject([{ state: "uncertain" }]);
  });

  test("before the paste: it waits, and arrives once when the agent is back", async () => {
    const writes: string[] = [];
    onCommand = (line) => void (isWrite(line) && writes.push(line));
    killServer();
    const waiting = await stage.send("ana", "not lost");
    expect(await stage.delivered(waiting, ({ state, reason }) => state === "queued" && reason !== null)).toMatchObject({
      attempts: 0,
    });
    expect(writes).toEqual([]);
    await restart();
    await stage.delivered(waiting, ({ state }) => state === "delivered");
    // Once as it was typed, and once as cat repeats it.
    const timesShown = async (): Promise<number> => (await screen()).split(waiting.message.tag).length - 1;
    await until(async () => (await timesShown()) >= 2, "what cat repeats");
    expect(await timesShown()).toBe(2);
  });
});
