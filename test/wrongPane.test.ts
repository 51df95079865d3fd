import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ReceiptView } from "../src/api/schema.ts";
import { pastesOf, promptAgentPath, submissions } from "../src/testing/promptAgent.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";
import { bunExec } from "../src/os/exec.ts";

const commandIn = (world: World, pane: string): Promise<string> =>
  world.tmux("display-message", "-p", "-t", pane, "#{pane_current_command}");

/** The pane of `ana`: a cat that an interactive shell runs. */
async function catBelowShell(world: World): Promise<string> {
  const pane = await world.pane(["sh", "-i"]);
  await world.tmux("send-keys", "-t", pane, "cat", "Enter");
  await until(async () => (await commandIn(world, pane)) === "cat", "cat to run");
  await world.json(["adopt", pane, "--name", "ana"]);
  return pane;
}

/** A pane is an agent only as long as the very program that was registered runs in it. */
describe("a pane that is not the agent any more", () => {
  const held = async (world: World, body: string): Promise<ReceiptView["deliveries"][number]> => {
    const { tag } = await world.json<ReceiptView>(["send", "ana", body]);
    await until(async () => (await world.status(tag)).deliveries[0]!.reason !== null, "a reason");
    return (await world.status(tag)).deliveries[0]!;
  };

  test("after a restart of tmux, a shell with the same pane id gets nothing", async () => {
    await using world = await startWorld();
    expect(await world.pane(["cat"])).toBe("%0");
    await world.json(["adopt", "%0", "--name", "ana"]);
    await world.stopTmux();
    await until(async () => (await world.tmux("list-sessions").catch(() => "gone")) === "gone", "the server to end");
    expect(await world.pane(["sh"])).toBe("%0");
    await until(async () => (await world.screen("%0")).includes("#"), "a shell prompt");

    expect(await held(world, "touch should-not-exist")).toMatchObject({
      state: "queued",
      attempts: 0,
      reason: expect.stringContaining("restarted"),
    });
    expect(await world.screen("%0")).not.toContain("MSG_");
    expect((await world.ls())[0]).toMatchObject({ name: "ana", state: "gone", pending: 1 });
  });

  test("a program that ended and left its shell gets nothing, although the pane is the same", async () => {
    await using world = await startWorld();
    const pane = await catBelowShell(world);
    await world.json(["send", "ana", "--wait", "delivered", "while it runs"]);
    await world.tmux("send-keys", "-t", pane, "C-d");
    await until(async () => (await commandIn(world, pane)) !== "cat", "cat to end");

    expect(await held(world, "$(touch should-not-exist)")).toMatchObject({
      state: "queued",
      reason: expect.stringContaining("exited"),
    });
    expect(await world.screen(pane)).not.toContain("should-not-exist");
  });

  test("another program in the foreground gets nothing", async () => {
    await using world = await startWorld();
    const pane = await catBelowShell(world);
    await world.tmux("send-keys", "-t", pane, "C-z");
    await until(async () => (await commandIn(world, pane)) !== "cat", "cat to stop");

    expect((await held(world, "into a shell")).reason).toContain("in the foreground");
    await world.tmux("send-keys", "-t", pane, "fg", "Enter");
    await until(async () => (await world.screen(pane)).includes("into a shell"), "the message after fg");
  });

  test("a bare shell is an agent only when that is said", async () => {
    await using world = await startWorld();
    const pane = await world.pane(["sh", "-i"]);
    const refused = await world.tieline(["adopt", pane, "--name", "ana"]);
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining("bare shell")]);
    await until(async () => (await world.screen(pane)).includes("#"), "a shell prompt");
    await world.json(["adopt", pane, "--name", "ana", "--provider", "shell"]);
    await world.json(["send", "ana", "--wait", "delivered", "it's $(touch executed); `touch executed`"]);
    expect(await world.screen(pane)).toContain("touch executed");
    expect((await world.tieline(["ls"])).code).toBe(0);
    const files = await world
      .tmux("display-message", "-p", "-t", pane, "#{pane_current_path}")
      .then((path) => Array.from(new Bun.Glob("executed").scanSync(path)));
    expect(files).toEqual([]);
  });

  test("mail goes to the program of that name and never to its neighbour", async () => {
    await using world = await startWorld();
    const logs = ["one", "two"].map((name) => join(world.dir, name));
    const panes: string[] = [];
    for (const log of logs) panes.push(await world.pane([process.execPath, promptAgentPath, log]));
    await until(
      async () => (await Promise.all(panes.map((pane) => world.screen(pane)))).every((screen) => screen.includes(">")),
      "prompts",
    );
    await world.json(["adopt", panes[0]!, "--name", "ana"]);
    await world.json(["adopt", panes[1]!, "--name", "ana-2"]);
    await world.tmux("kill-pane", "-t", panes[0]!);
    expect((await held(world, "for ana only")).reason).toContain("closed");
    await world.json(["send", "ana-2", "--wait", "delivered", "for the second"]);
    expect(submissions(logs[1]!)).toEqual([expect.stringContaining("for the second")]);
  });

  test("the same number on another tmux server is another pane", async () => {
    await using world = await startWorld();
    const logs = ["here", "there"].map((name) => join(world.dir, name));
    const tmux = ["tmux", "-u", "-L", "second", "-f", "/dev/null"];
    const second = (...argv: string[]) => bunExec([...tmux, ...argv], { env: { ...world.env } });
    expect(await world.pane([process.execPath, promptAgentPath, logs[0]!])).toBe("%0");
    await second(
      "new-session",
      "-d",
      "-s",
      "main",
      "-x",
      "120",
      "-y",
      "40",
      "--",
      "env",
      process.execPath,
      promptAgentPath,
      logs[1]!,
    );
    try {
      await until(() => logs.every((log) => existsSync(pastesOf(log))), "both programs");
      // The daemon's own server is the first; the caller sits in the second.
      const { stdout: socket } = await second("display-message", "-p", "#{socket_path}");
      await world.json(["adopt", "%0", "--name", "ana"], { env: { TIELINE_TMUX_SOCKET: socket.trim() } });
      await world.json(["send", "ana", "--wait", "delivered", "over there"]);
      expect(submissions(logs[1]!)).toEqual([expect.stringContaining("over there")]);
      await second("kill-server");
      expect(await held(world, "still queued")).toMatchObject({ state: "queued", attempts: 0 });
      expect(readFileSync(pastesOf(logs[0]!), "utf8")).toBe("");
    } finally {
      await second("kill-server");
    }
  });

  test(
    "mail for an agent that is forgotten goes back to its sender, with the reason; its program gets nothing " +
      "any more",
    async () => {
      await using world = await startWorld();
      const [pane, sender] = [await world.pane(["cat"]), await world.pane(["cat"])];
      await world.json(["adopt", pane, "--name", "ana"]);
      await world.json(["adopt", sender, "--name", "bob"]);
      await world.tmux("send-keys", "-t", pane, "-l", "a draft");
      await until(async () => (await world.screen(pane)).includes("a draft"), "the draft");
      const socket = await world.tmux("display-message", "-p", "#{socket_path}");
      const { tag } = await world.json<ReceiptView>(["send", "ana", "are you there?"], {
        env: { TMUX: `${socket},1,0`, TMUX_PANE: sender },
      });
      expect((await world.tieline(["rm", "ana"])).code).not.toBe(0);
      await world.json(["rm", "ana", "--force"]);
      expect((await world.status(tag)).deliveries[0]).toMatchObject({
        state: "failed",
        reason: expect.stringContaining("removed"),
      });
      expect(await world.inbox("bob")).toEqual([
        expect.objectContaining({ kind: "bounce", answers: tag, body: expect.stringContaining(tag) }),
      ]);
      expect(await world.screen(pane)).not.toContain(tag);
    },
  );

  test("an agent that comes back under its name gets what waited", async () => {
    await using world = await startWorld();
    const pane = await world.pane(["cat"]);
    await world.json(["adopt", pane, "--name", "ana"]);
    await world.pane(["sleep", "1000"]);
    await world.tmux("kill-pane", "-t", pane);
    await held(world, "are you back?");
    const again = await world.pane(["cat"]);
    await world.json(["adopt", again, "--name", "ana"]);
    await until(async () => (await world.screen(again)).includes("are you back?"), "the waiting message");
  });
});
