import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStage, type Stage } from "../testing/stage.ts";
import { adopt } from "./adopt.ts";

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
    const pause = async (ms: number): Promise<void> => {
      writeFileSync(go, "");
      await stage.tmux.tmux("send-keys", "-t", pane, "Enter");
      await Bun.sleep(ms);
    };
    const { tieline, tmux } = stage;
    const agent = await adopt(tieline.servers.at(tmux.socketPath), { target: pane, name: "slow", team: "default" }, { ...tieline, pause, clock: () => 0 });
    expect(agent.provider).toBe("repl");
  });
});
