import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bunExec } from "../src/os/exec.ts";
import { startWorld } from "../src/testing/world.ts";
import { type ChildResult } from "../src/testing/childResult.ts";

/** One clear line with the code, one with the remedy, the right exit code, and nothing lost. */
function expectError(result: ChildResult, code: number, error: string, text: string): void {
  const [first = "", second = ""] = result.stderr.split("\n");
  expect(first).toStartWith(`error ${error}: `);
  expect(first + second).toContain(text);
  expect(second.trim()).not.toBe("");
  expect(result.code).toBe(code);
}

describe("a home that cannot be used", () => {
  test("a damaged database is named, with what to do, and left as it is", async () => {
    await using world = await startWorld();
    const path = join(world.env["TIELINE_HOME"]!, "mailbox.db");
    writeFileSync(path, "not a database ".repeat(1_000));
    expectError(await world.tieline(["ls"]), 5, "STORE_CORRUPT", "tieline doctor --repair");
    expect(readFileSync(path, "utf8")).toStartWith("not a database not");
  });

  test("an unknown setting names the nearest one", async () => {
    await using world = await startWorld({ config: { delivery: { timeoutMS: 1 } } });
    expectError(await world.tieline(["ls"]), 2, "CONFIG_INVALID", "timeoutMs");
  });

  test("a broken tieline.yaml is named with line and column", async () => {
    await using world = await startWorld({
      files: { "tieline.yaml": "team: web\nagents:\n  coder:\n    comand: cat\n" },
    });
    expectError(await world.tieline(["ls"]), 2, "CONFIG_INVALID", "tieline.yaml:4");
  });

  test("a full disk refuses the send and keeps what it had", async () => {
    await using world = await startWorld();
    const home = world.env["TIELINE_HOME"]!;
    const mounted = await bunExec(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", home]);
    if (mounted.code !== 0) return console.warn("skipped: only root can mount a small disk");
    try {
      await world.pane(["cat"]);
      await world.json(["adopt", "%0", "--name", "ana"]);
      await world.json(["send", "ana", "--wait", "delivered", "before"]);
      world.file("big.txt", "x".repeat(1_000_000));
      const results = [];
      for (let at = 0; at < 4; at++) results.push(await world.tieline(["send", "ana", "-f", "big.txt"]));
      expectError(results.at(-1)!, 5, "STORE_UNAVAILABLE", "disk");
      const log = await world.json<{ summary: string }[]>(["log"]);
      expect(log.map((one) => one.summary)).toContain("before");
      expect(log).toHaveLength(1 + results.filter((result) => result.code === 0).length);
    } finally {
      await world.tieline(["daemon", "stop"]);
      await bunExec(["umount", "-l", home]);
    }
  });

  test("a read-only disk is named", async () => {
    await using world = await startWorld();
    const home = world.env["TIELINE_HOME"]!;
    const mounted = await bunExec(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", home]);
    if (mounted.code !== 0) return console.warn("skipped: only root can mount a read-only disk");
    try {
      expectError(await world.tieline(["send", "ana", "x"]), 5, "STORE_UNAVAILABLE", "writ");
    } finally {
      await bunExec(["umount", home]);
    }
  });

  test("bytes that are not text are refused", async () => {
    await using world = await startWorld();
    writeFileSync(join(world.project, "binary"), new Uint8Array([0xff, 0xfe, 0x00, 0x41]));
    expectError(await world.tieline(["send", "ana", "-f", "binary"]), 2, "BODY_NOT_TEXT", "UTF-8");
  });
});

describe("a tmux that cannot be used", () => {
  const withTmux = async (script: string | null, words = ["adopt", "%0", "--name", "ana"]): Promise<ChildResult> => {
    await using world = await startWorld();
    writeFileSync(join(world.project, "tieline.yaml"), "agents:\n  bot: { command: [sh, -c, read line] }\n");
    const bin = join(world.dir, "bin");
    mkdirSync(bin);
    for (const program of ["sh", "readlink", "stty"])
      await bunExec(["ln", "-s", `/bin/${program}`, join(bin, program)]);
    if (script !== null) {
      writeFileSync(join(bin, "tmux"), script);
      chmodSync(join(bin, "tmux"), 0o755);
    }
    await world.tieline(["trust", "--yes"], { env: { PATH: bin } });
    return await world.tieline(words, { env: { PATH: bin } });
  };

  test("missing", async () => expectError(await withTmux(null), 5, "TMUX_UNAVAILABLE", "install"));

  test("too old", async () =>
    expectError(await withTmux('#!/bin/sh\necho "tmux 3.1c"\n'), 5, "TMUX_UNAVAILABLE", "3.2"));

  test("too old to start an agent in", async () => {
    expectError(await withTmux('#!/bin/sh\necho "tmux 3.1c"\n', ["spawn", "bot"]), 5, "TMUX_UNAVAILABLE", "3.2");
  });

  test("dead, with its socket left behind", async () => {
    await using world = await startWorld();
    await world.pane(["cat"]);
    await world.json(["adopt", "%0", "--name", "ana"]);
    const pid = Number(await world.tmux("display-message", "-p", "#{pid}"));
    process.kill(pid, "SIGKILL");
    expectError(await world.tieline(["adopt", "%0", "--name", "bob"]), 5, "TMUX_UNAVAILABLE", "no tmux server");
    const sent = await world.json<{ tag: string }>(["send", "ana", "waits"]);
    expect((await world.ls())[0]).toMatchObject({ name: "ana", state: "gone" });
    expect((await world.status(sent.tag)).deliveries[0]!.state).toBe("queued");
  });
});
