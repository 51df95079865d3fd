import { expect, test } from "bun:test";
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { daemonCommand } from "../../os/install.ts";
import { commandLine } from "../../testing/commandLine.ts";
import { untilGone } from "../../testing/until.ts";

test("the first commands share one daemon, the next one after a kill -9 brings another, and stop ends it", async () => {
  using tieline = commandLine();
  const env = { TIELINE_TMUX_SOCKET: `tl-cli-${process.pid}` };
  const status = async () => JSON.parse((await tieline.run(["daemon", "status", "--json"], { env })).stdout);
  try {
    const first = await Promise.all(Array.from({ length: 5 }, () => tieline.run(["ls", "--json"], { env })));
    expect(first.map(({ code, stdout }) => [code, stdout])).toEqual(first.map(() => [0, "[]\n"]));
    const before = await status();
    expect(before).toMatchObject({ running: true, socket: tieline.home.socket });

    process.kill(before.pid, "SIGKILL");
    expect(await tieline.run(["ls", "--json"], { env })).toMatchObject({ code: 0, stdout: "[]\n" });
    expect((await status()).pid).not.toBe(before.pid);
  } finally {
    expect(await tieline.run(["daemon", "stop"], { env })).toMatchObject({ code: 0, stdout: "✓ the daemon stopped\n" });
  }
  expect(await status()).toMatchObject({ running: false });
}, 60_000);

test("a daemon whose parent never notices its end has stopped nevertheless", async () => {
  using tieline = commandLine();
  const env = { ...tieline.env, TIELINE_TMUX_SOCKET: `tl-cli-${process.pid}` };
  const inattentive = Bun.spawn(["sh", "-c", '"$@" & exec sleep 600', "sh", ...daemonCommand], {
    env,
    stdin: "ignore",
    stdout: "pipe",
  });
  try {
    const { value: said } = await inattentive.stdout.getReader().read();
    expect(new TextDecoder().decode(said)).toBe("ready\n");
    expect(await tieline.run(["daemon", "stop"], { env })).toMatchObject({ code: 0, stdout: "✓ the daemon stopped\n" });
  } finally {
    inattentive.kill("SIGKILL");
  }
}, 60_000);

test("a daemon whose socket is taken away ends; commands find another, whose socket it leaves alone", async () => {
  using tieline = commandLine();
  const env = { TIELINE_TMUX_SOCKET: `tl-cli-${process.pid}` };
  const away = `${tieline.home.root}.away`;
  const pid = async (): Promise<number> =>
    JSON.parse((await tieline.run(["daemon", "status", "--json"], { env })).stdout).pid;
  try {
    await tieline.run(["ls"], { env });
    const first = await pid();
    rmSync(tieline.home.socket);
    expect(await tieline.run(["ls", "--json"], { env })).toMatchObject({ code: 0, stdout: "[]\n" });
    const second = await pid();
    expect(second).not.toBe(first);
    await untilGone(first);

    renameSync(tieline.home.root, away);
    mkdirSync(tieline.home.root);
    expect(await tieline.run(["ls", "--json"], { env })).toMatchObject({ code: 0, stdout: "[]\n" });
    const third = await pid();
    await untilGone(second);
    expect(await pid()).toBe(third);
  } finally {
    await tieline.run(["daemon", "stop"], { env });
    rmSync(away, { recursive: true, force: true });
  }
}, 60_000);
