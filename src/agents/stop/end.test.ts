import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openStage, type Stage } from "../../testing/stage.ts";
import { logOf, submittedTo } from "../../testing/scriptedAgent.ts";
import { until } from "../../testing/until.ts";
import { tmuxEndpoint } from "../../delivery/transports/paneEndpoint.ts";
import type { Agent } from "../../model/agent.ts";
import { kill, stop } from "./end.ts";

describe("the end of a program", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  const pidOf = (agent: Agent): number => tmuxEndpoint.locatorOf(agent.endpoints[0]!).agentPid;

  test("an idle one gets its exit command", async () => {
    const { agent, dir } = await stage.scripted("asked");
    const stopping = stop(agent, stage.tieline);
    await until(() => submittedTo(dir).includes("/exit"), "the words");
    process.kill(pidOf(agent), "SIGKILL");
    expect(await stopping).toMatchObject({ state: "gone", endpoints: [], stateReason: "its exit command was typed" });
  });

  test("a program that ignores the exit command gets the signal", async () => {
    const { agent, dir } = await stage.scripted("deaf");
    expect(await stop(agent, { ...stage.tieline, patienceMs: 1_000 })).toMatchObject({
      endpoints: [],
      stateReason: "it was interrupted",
    });
    expect(submittedTo(dir)).toEqual(["/exit"]);
  });

  test("nothing is typed at a dialog, or over a user's draft", async () => {
    for (const script of [{ state: "permission" }, { draft: "half a thought" }] as const) {
      const { agent, dir, direct } = await stage.scripted(`kept_${Object.keys(script)[0]}`);
      await direct(script);
      expect(await stop(agent, { ...stage.tieline, patienceMs: 500 })).toMatchObject({
        endpoints: [],
        stateReason: "it got a signal to exit",
      });
      expect(logOf(dir)).toEqual([]);
    }
  });

  test("a shell at its prompt ignores the signal and ends with its terminal", async () => {
    const { agent } = await stage.cast("prompt", ["bash", "--norc", "--noprofile", "-i"], { provider: "shell" });
    expect(await stop(agent, stage.tieline)).toMatchObject({ endpoints: [], stateReason: "it got a signal to exit" });
  });

  test("a program that ignores the signal too is left alone and reported", async () => {
    const { agent, pane } = await stage.cast("stubborn", ["sh", "-c", 'trap "" TERM; while :; do read line; done']);
    const outcome = await stop(agent, { ...stage.tieline, patienceMs: 300 }).catch((thrown: unknown) => thrown);
    expect(outcome).toMatchObject({ code: "NOT_IN_TIME" });
    expect(stage.tieline.directory.agent(agent.id)!.endpoints).toHaveLength(1);
    expect(await kill(agent, stage.tieline)).toMatchObject({ state: "gone", endpoints: [] });
    expect((await stage.tmux.tmux("list-panes", "-a", "-F", "#{pane_id}")).split("\n")).not.toContain(pane);
  });

  describe("behind a shell", () => {
    /** Takes its time over its last words, and writes down by which signal they were asked for. */
    const saving = (file: string, ready: string): string =>
      ["TERM", "HUP"]
        .map((signal) => `trap 'echo ${signal} >>${file}; sleep 0.3; echo saved >>${file}; exit' ${signal}; `)
        .join("") + `: >${ready}; while :; do read line; done`;

    const castSaving = async (name: string): Promise<{ agent: Agent; words: () => string }> => {
      const file = join(stage.root, `${name}.words`);
      const { agent } = await stage.cast(name, ["sh", "-c", 'sh -c "$1"; :', "sh", saving(file, `${file}.ready`)], {
        ready: () => existsSync(`${file}.ready`),
      });
      return { agent, words: () => readFileSync(file, "utf8") };
    };

    test("the program gets a signal, and has exited when `stop` says so", async () => {
      const { agent, words } = await castSaving("lined");
      expect(await stop(agent, stage.tieline)).toMatchObject({ endpoints: [], stateReason: "it got a signal to exit" });
      expect(words()).toBe("TERM\nsaved\n");
    });

    test("its pane is not gone before the program is", async () => {
      const { agent, words } = await castSaving("cut_off");
      await kill(agent, stage.tieline);
      expect(words()).toBe("HUP\nsaved\n");
    });
  });

  test("kills a program that outlives its terminal before it reports the end", async () => {
    const { agent } = await stage.cast("lingering", ["sh", "-c", 'trap "" HUP TERM; while :; do sleep 0.1; done']);
    expect(await kill(agent, { ...stage.tieline, hangUpMs: 200 })).toMatchObject({
      state: "gone",
      stateReason: "its pane was killed",
    });
    expect(await stage.tieline.processes.read(pidOf(agent))).toBeUndefined();
  });

  test("a pane of the same number on a later server is not killed", async () => {
    const { agent, pane } = await stage.cast("former", ["cat"]);
    const { locator } = agent.endpoints[0]!;
    const stale = { ...agent, endpoints: [{ transport: "tmux", locator: { ...locator, serverPid: 1 } }] };
    const outcome = await kill(stale, { ...stage.tieline, patienceMs: 0 }).catch((thrown: unknown) => thrown);
    expect(outcome).toMatchObject({
      code: "NOT_IN_TIME",
      message: expect.stringContaining(`still runs in process ${pidOf(agent)}`),
    });
    expect((await stage.tmux.tmux("list-panes", "-a", "-F", "#{pane_id}")).split("\n")).toContain(pane);
  });

  test("an earlier observation does not undo it", async () => {
    const { agent } = await stage.cast("late", ["cat"]);
    const [endpoint] = agent.endpoints;
    await kill(agent, stage.tieline);
    await stage.tieline.tmux.probe(agent, endpoint!);
    expect(stage.tieline.directory.agent(agent.id)).toMatchObject({ stateReason: "its pane was killed" });
  });
});
