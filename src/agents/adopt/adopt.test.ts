import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStage, type Stage } from "../../testing/stage.ts";
import { until } from "../../testing/until.ts";
import { readPane } from "../../tmux/pane.ts";
import { adopt } from "./adopt.ts";
import { systemTimers } from "../../os/timers.ts";

describe("a program that has just been started", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  test("is taken for what it becomes, not for the `env` that starts it", async () => {
    const directory = join(stage.root, "slow");
    mkdirSync(directory);
    const [env, go] = [join(directory, "env"), join(directory, "go")];
    writeFileSync(env, `#!/bin/sh\nuntil [ -e ${go} ]; do read -r line; done\nexec node\n`, { mode: 0o700 });
    const pane = await stage.tmux.tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "--", env);
    const command = (): Promise<string> =>
      stage.tmux.tmux("display-message", "-p", "-t", pane, "#{pane_current_command}");
    await until(async () => (await command()) === "sh", "the script in place of tmux and its shell");
    const pause = async (ms: number): Promise<void> => {
      writeFileSync(go, "");
      await stage.tmux.tmux("send-keys", "-t", pane, "Enter");
      await Bun.sleep(ms);
    };
    const { tieline, tmux } = stage;
    const agent = await adopt(
      tieline.servers.at(tmux.socketPath),
      { target: pane, name: "slow", team: "default", provider: "repl" },
      { ...tieline, timers: { ...systemTimers, elapsed: () => 0, pause } },
    );
    expect(agent.provider).toBe("repl");
  });
});

describe("a name that is taken", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  test("is free again when its program has exited, even before the next observation", async () => {
    const { tieline, tmux } = stage;
    const aProgram = () => tmux.tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "--", "cat");
    const take = (target: string) =>
      adopt(tieline.servers.at(tmux.socketPath), { target, name: "ana", team: "default" }, tieline);
    const [first, second] = [await aProgram(), await aProgram()];
    const known = await take(first);
    await expect(take(second)).rejects.toThrow("the agent default:ana is running elsewhere");
    const { pid } = await readPane(tieline.servers.at(tmux.socketPath), first);
    await tmux.tmux("kill-pane", "-t", first);
    await until(async () => (await tieline.processes.read(pid)) === undefined, "the end of the first program");
    await tieline.directory.update(known.id, { state: "idle" });
    expect(await take(second)).toMatchObject({ id: known.id, endpoints: [{ transport: "tmux" }] });
  });
});
