import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Event } from "../../model/event.ts";
import { Conditions } from "../../testing/conditions.ts";
import { scriptedStates } from "../../testing/scriptedAgent.ts";
import { openStage, type Cast, type ScriptedCast, type Stage } from "../../testing/stage.ts";
import { until } from "../../testing/until.ts";
import type { StatusReader } from "./port.ts";
import { StatusMonitor } from "./statusMonitor.ts";
import { tmuxEndpoint } from "../../delivery/transports/paneEndpoint.ts";

let stage: Stage;
let ana: ScriptedCast;
beforeEach(async () => {
  stage = await openStage();
  ana = await stage.scripted("ana");
});
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
});

const known = () => stage.tieline.directory.agent(ana.agent.id)!;
const all = () => stage.tieline.directory.agents();
const clients = async () =>
  (await stage.tmux.tmux("list-clients", "-F", "#{client_pid}")).split("\n").filter(Boolean).length;

/** The next event that tells of this state. */
function changeTo(state: string, draft = false): Promise<Event> {
  const { promise, resolve } = Promise.withResolvers<Event>();
  const stop = stage.tieline.events.onEvent((event) => {
    if (event.type === "agent.changed" && event.state === state && known().draft === draft) resolve(event);
  });
  return promise.finally(stop);
}

/** Every command that is given to tmux from now on. */
function commandsFromNow(): string[] {
  const commands: string[] = [];
  const server = stage.tieline.servers.at(stage.tmux.socketPath);
  const run = server.run.bind(server);
  server.run = (list) => {
    commands.push(JSON.stringify(list));
    return run(list);
  };
  return commands;
}

describe("with an observer", () => {
  test("every state and a draft are known by events, without a request", async () => {
    using _ = stage.tieline.statusMonitor.follow(all);
    await until(async () => (await clients()) === 2, "the watcher");
    for (const state of [...scriptedStates.filter((one) => one !== "idle"), "idle" as const]) {
      const change = changeTo(state);
      await ana.direct({ state });
      expect(await change).toMatchObject({ name: "ana", state });
    }
    const draft = changeTo("idle", true);
    await ana.direct({ draft: "half a thou" });
    await draft;
    expect(known()).toMatchObject({ state: "idle", draft: true });
  });

  test("an agent that comes later is attended too, and one that ends is done or gone", async () => {
    using _ = stage.tieline.statusMonitor.follow(all);
    const bob = await stage.scripted("bob");
    const change = changeTo("permission");
    await bob.direct({ state: "permission" });
    expect(await change).toMatchObject({ name: "bob" });
    const gone = changeTo("gone");
    await stage.tmux.tmux("kill-pane", "-t", bob.pane);
    expect(await gone).toMatchObject({ name: "bob" });
  });
});

test("a watcher that falls silent leaves no stale state", async () => {
  await using left = attended();
  await using kept = attended();
  await left.rounds(3);
  left.leave();
  const before = left.surveyed.length;
  await kept.rounds(3);
  expect(left.surveyed).toEqual(Array.from({ length: before }, () => ["ana"]));
});

/** Observes all agents, and polls every few milliseconds for what no event announces. */
function attended() {
  const surveyed: string[][] = [];
  const { changed, until: holds } = new Conditions();
  const reader: StatusReader = {
    refreshAll: async (agents) => {
      surveyed.push(agents.map(({ name }) => name));
      changed();
      return { unread: new Set(), unanswered: new Set() };
    },
    refresh: async () => undefined,
    explain: () => Promise.reject(new Error("not asked")),
    watch: () => ({ [Symbol.dispose]: () => undefined }),
    close: async () => undefined,
  };
  const { directory, events } = stage.tieline;
  const report = (context: string, cause: unknown): never => {
    throw new Error(context, { cause });
  };
  const statusMonitor = new StatusMonitor({
    reader,
    directory,
    onEvent: events.onEvent.bind(events),
    report,
    sweepMs: 5,
  });
  const attending = statusMonitor.follow(all);
  return {
    surveyed,
    rounds(more: number) {
      const wanted = surveyed.length + more;
      return holds(() => surveyed.length >= wanted);
    },
    leave: () => attending[Symbol.dispose](),
    [Symbol.asyncDispose]: () => statusMonitor[Symbol.asyncDispose](),
  };
}

describe("without an observer", () => {
  test("no client watches, and nothing is known until it is asked for", async () => {
    stage.tieline.statusMonitor.follow(all)[Symbol.dispose]();
    await until(async () => (await clients()) === 1, "the watcher to leave");
    await ana.direct({ state: "permission" });
    await until(
      async () => (await stage.tmux.tmux("capture-pane", "-p", "-t", ana.pane)).includes("Do you want"),
      "the dialog",
    );
    expect(known().state).toBe("idle");
    await stage.tieline.statusMonitor.refresh(all());
    expect(known().state).toBe("permission");
  });

  test("nothing is asked of tmux, whatever the panes print; after mail has arrived, nothing any more", async () => {
    const commands = commandsFromNow();
    const everyState = async () => {
      for (const state of [...scriptedStates, "idle" as const]) await ana.direct({ state });
    };
    await everyState();
    expect(commands).toEqual([]);

    const receipt = await stage.send("ana", "hello");
    expect(await stage.delivered(receipt)).toMatchObject({ state: "delivered" });
    expect(commands).not.toEqual([]);
    await until(async () => (await clients()) === 1, "the watcher to leave");
    commands.length = 0;
    await everyState();
    expect(commands).toEqual([]);
  });

  test("a question reads a pane again only when it may have changed", async () => {
    const { tieline } = stage;
    const commands = commandsFromNow();
    const captured = () => commands.filter((line) => line.includes("capture-pane")).length;
    await until(async () => {
      commands.length = 0;
      await tieline.statusMonitor.refresh(all());
      return captured() === 0;
    }, "nothing left to read");
    await ana.direct({ state: "working" });
    await until(async () => {
      await tieline.statusMonitor.refresh(all());
      return known().state === "working";
    }, "ana to work");
    expect(captured()).toBeGreaterThan(0);
  });

  test("a closed pane and a tmux server that is gone are reported as such", async () => {
    const bob = await stage.scripted("bob");
    await stage.tmux.tmux("kill-pane", "-t", bob.pane);
    await stage.tieline.statusMonitor.refresh(all());
    expect(stage.tieline.directory.agent(bob.agent.id)).toMatchObject({
      state: "gone",
      stateReason: `pane ${bob.pane} is closed`,
    });
    await stage.tmux.kill();
    await stage.tieline.statusMonitor.refresh(all());
    expect(known()).toMatchObject({ state: "gone", stateReason: expect.stringContaining("tmux") });
  });

  test("of a crowd, who is there is known at once; the screens are read behind it", async () => {
    const crowd = [];
    for (let n = 0; n < 26; n++) crowd.push(await stage.cast(`cat_${n}`, ["cat"], { provider: "generic" }));
    const [closed, ...others] = crowd;
    await stage.tmux.tmux("kill-pane", "-t", closed!.pane);
    const stateOf = ({ agent }: Cast) => stage.tieline.directory.agent(agent.id)!.state;

    const { unread } = await stage.tieline.statusMonitor.refresh(crowd.map(({ agent }) => agent));
    expect(stateOf(closed!)).toBe("gone");
    expect(unread).toEqual(new Set(others.map(({ agent }) => agent.id)));
    expect(new Set(others.map(stateOf))).toEqual(new Set(["unknown"]));
    await until(() => others.every((cast) => stateOf(cast) === "idle"), "every screen to be read");
    expect(stage.faults).toEqual([]);

    await stage.tmux.kill();
    expect((await stage.tieline.statusMonitor.refresh(all())).unread.size).toBe(0);
    expect(new Set(crowd.map(stateOf))).toEqual(new Set(["gone"]));
  });

  test("a program that ended in a pane that stays is done", async () => {
    await stage.tmux.tmux("set-option", "-g", "remain-on-exit", "on");
    const bob = await stage.scripted("bob");
    process.kill(tmuxEndpoint.of(bob.agent)!.locator.agentPid, "SIGKILL");
    await until(async () => {
      await stage.tieline.statusMonitor.refresh(all());
      return stage.tieline.directory.agent(bob.agent.id)?.state === "done";
    }, "bob to be done");
    expect(stage.tieline.directory.agent(bob.agent.id)!.stateReason).toContain("has exited");
  });
});

test("the user's wrong rules make a screen unknown: mail waits, and the reason names the file", async () => {
  const file = join(stage.root, "screens", "claude-code.json");
  mkdirSync(join(stage.root, "screens"));
  writeFileSync(file, "{}");
  const receipt = await stage.send("ana", "hello");
  const held = await stage.delivered(receipt, ({ reason }) => reason !== null);
  expect(held).toMatchObject({ state: "queued", reason: "unreadable", detail: expect.stringContaining(file) });
  rmSync(file);
  stage.tieline.courier.wake(ana.agent.id);
  expect(await stage.delivered(receipt)).toMatchObject({ state: "delivered" });
});
