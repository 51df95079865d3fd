import { describe, expect, test } from "bun:test";
import { appendFileSync, copyFileSync, existsSync, renameSync, truncateSync, writeFileSync } from "node:fs";
import { commandLineWithDaemon } from "../../testing/commandLineWithDaemon.ts";
import { daemonStatus } from "./views.fixture.ts";

const tieline = commandLineWithDaemon();

describe("daemon", () => {
  test("status of one that runs", async () => {
    tieline.daemon.answers.daemonStatus = () => daemonStatus();
    expect(await tieline.json(["daemon", "status"])).toMatchObject({
      running: true,
      pid: 4242,
      version: "0.1.0",
      socket: "/x/daemon.sock",
    });
    expect((await tieline.run(["daemon", "start"])).stdout).toStartWith("✓ the daemon runs   pid 4242");
  });

  test("status and stop when none runs say so, succeed, and start none", async () => {
    await tieline.daemon[Symbol.asyncDispose]();
    expect(await tieline.json(["daemon", "status"])).toEqual({
      running: false,
      pid: null,
      version: null,
      socket: tieline.home.socket,
    });
    expect(await tieline.run(["daemon", "stop"])).toEqual({
      code: 0,
      stdout: "the daemon is not running\n",
      stderr: "",
    });
    expect(existsSync(tieline.home.log)).toBe(false);
  });

  test("stop waits until the process has ended", async () => {
    const process = Bun.spawn(["sleep", "600"]);
    tieline.daemon.answers = {
      daemonStatus: () => daemonStatus({ pid: process.pid }),
      daemonStop: () => {
        process.kill();
        return { stopping: true };
      },
    };
    expect((await tieline.run(["daemon", "stop"])).stdout).toBe("✓ the daemon stopped\n");
    expect(process.killed).toBe(true);
  });

  test("logs prints the last lines, and follows the log when it moves aside", async () => {
    writeFileSync(tieline.home.log, "one\ntwo\nthree\n");
    expect((await tieline.run(["daemon", "logs", "-n", "2"])).stdout).toBe("two\nthree\n");
    const following = tieline.start(["daemon", "logs", "-f"]);
    const reader = following.stdout.getReader();
    let text = "";
    const until = async (end: string) => {
      while (!text.endsWith(end)) text += new TextDecoder().decode((await reader.read()).value);
    };
    await until("three\n");
    appendFileSync(tieline.home.log, "four\n");
    await until("four\n");
    appendFileSync(tieline.home.log, "five\n");
    renameSync(tieline.home.log, `${tieline.home.log}.1`);
    writeFileSync(tieline.home.log, "six\n");
    await until("six\n");
    appendFileSync(tieline.home.log, "seven\n");
    copyFileSync(tieline.home.log, `${tieline.home.log}.1`);
    truncateSync(tieline.home.log);
    await until("seven\n");
    appendFileSync(tieline.home.log, "8\n");
    await until("8\n");
    following.kill("SIGINT");
    expect(await following.exited).toBe(0);
    expect(text).toBe("one\ntwo\nthree\nfour\nfive\nsix\nseven\n8\n");
  });

  test("doctor fails with 5 when a check failed, and names the remedy", async () => {
    tieline.daemon.answers.doctor = () => [
      { name: "tmux", status: "ok", detail: "3.4", remedy: null },
      { name: "disk", status: "failed", detail: "full", remedy: "free some space" },
    ];
    const { code, stdout } = await tieline.run(["doctor"]);
    expect(code).toBe(5);
    expect(stdout).toMatch(/^✓ tmux +3\.4\n✗ disk +full\n +free some space\n$/);
    tieline.daemon.answers.doctor = () => [{ name: "tmux", status: "warning", detail: "3.2", remedy: "update" }];
    expect((await tieline.run(["doctor", "--json"])).code).toBe(0);
  });
});
