import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { logOf, submittedTo } from "../../../testing/scriptedAgent.ts";
import { openStage, type ScriptedCast, type Stage } from "../../../testing/stage.ts";
import { attachUser, type User } from "../../../testing/tmux.ts";
import { until } from "../../../testing/until.ts";

let stage: Stage;
let ana: ScriptedCast;
beforeEach(async () => {
  stage = await openStage();
  ana = await stage.scripted("ana");
});
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
});

/** A user at a terminal of their own, looking at ana. */
async function visitor(): Promise<User> {
  await stage.tmux.tmux("select-window", "-t", ana.pane);
  return attachUser(stage.tmux, "main");
}

const heldFor = (reason: string) => (delivery: { reason: string | null }) => delivery.reason === reason;

describe("a user types", () => {
  test("nothing is typed at the same time, and their draft stays theirs until they are done with it", async () => {
    await using user = await visitor();
    await user.press("h", "i");
    const receipt = await stage.send("ana", "from elsewhere");
    const held = await stage.delivered(receipt, ({ reason }) => reason !== null);
    expect(["typing", "draft"]).toContain(held.reason!);
    await stage.delivered(receipt, heldFor("draft"));
    expect(logOf(ana.dir)).toEqual([]);
    await user.press("BSpace", "BSpace");
    expect(await stage.delivered(receipt)).toMatchObject({ state: "delivered" });
    expect(submittedTo(ana.dir)).toHaveLength(1);
    expect(submittedTo(ana.dir)[0]).toStartWith("[MSG_");
  });

  test("between our paste and our Enter: the keys wait, and arrive in an empty composer", async () => {
    await using user = await visitor();
    // The echo comes late enough for a key to come before our Enter.
    await ana.direct({ echoDelayMs: 400 });
    const receipt = await stage.send("ana", "from elsewhere");
    await pasted(stage, ana.pane);
    await user.press("-l", "my own text");
    expect(await stage.delivered(receipt)).toMatchObject({ state: "delivered" });
    await until(
      async () => (await composer()) === "my own text",
      async () => `the user's words; the composer has ${await composer()}`,
    );
    await user.press("Enter");
    await until(() => submittedTo(ana.dir).length === 2, "the user's own prompt");
    expect(submittedTo(ana.dir)[0]).toEndWith("]");
    expect(submittedTo(ana.dir)[1]).toBe("my own text");
  });

  test("a program types between our paste and our Enter: Enter waits until its text is gone again", async () => {
    await ana.direct({ echoDelayMs: 400 });
    const receipt = await stage.send("ana", "from elsewhere");
    await pasted(stage, ana.pane);
    await stage.tmux.tmux("send-keys", "-t", ana.pane, "x");
    await until(async () => (await composer())?.endsWith("]x") ?? false, "x behind our text");
    expect(logOf(ana.dir)).toEqual([]);
    await stage.tmux.tmux("send-keys", "-t", ana.pane, "BSpace");
    expect(await stage.delivered(receipt)).toMatchObject({ state: "delivered" });
    expect(submittedTo(ana.dir)).toHaveLength(1);
    expect(submittedTo(ana.dir)[0]).toEndWith("]");
  });

  const composer = async (): Promise<string | null | undefined> =>
    (await stage.tieline.statusMonitor.explain(ana.agent))?.known?.composer;
});

/** The text of a message is in the pane, without its Enter. */
async function pasted({ tmux }: Stage, pane: string): Promise<void> {
  const mark = (): Promise<string> => tmux.tmux("show-options", "-p", "-q", "-v", "-t", pane, "@tieline_pasted");
  await until(async () => (await mark()) !== "", "the paste");
}

test("an attempt that typing outlasted is finished first, once its text is alone in the composer", async () => {
  await using impatient = await openStage({ config: { delivery: { timeoutMs: 500, readyTimeoutMs: 800 } } });
  const bob = await impatient.scripted("bob");
  await bob.direct({ echoDelayMs: 300 });
  const first = await impatient.send("bob", "first");
  await pasted(impatient, bob.pane);
  await impatient.tmux.tmux("send-keys", "-t", bob.pane, "x");
  expect(await impatient.delivered(first)).toMatchObject({ state: "uncertain" });
  const second = await impatient.send("bob", "second");
  await impatient.delivered(second, heldFor("draft"));
  expect(logOf(bob.dir)).toEqual([]);
  await impatient.tmux.tmux("send-keys", "-t", bob.pane, "BSpace");
  expect(await impatient.delivered(first, ({ state }) => state !== "uncertain")).toMatchObject({ state: "delivered" });
  expect(await impatient.delivered(second)).toMatchObject({ state: "delivered" });
  expect(submittedTo(bob.dir).map((text) => text.split("\n")[1])).toEqual(["first", "second"]);
});

describe("copy mode", () => {
  test("waits while a client shows the pane, and ends copy mode once none does", async () => {
    const user = await visitor();
    await stage.tmux.tmux("copy-mode", "-t", ana.pane);
    const receipt = await stage.send("ana", "hello");
    await stage.delivered(receipt, heldFor("copy-mode"));
    expect(await inMode()).toBe(true);
    expect(logOf(ana.dir)).toEqual([]);
    await watcherIsThere();
    await user.detach();
    await user[Symbol.asyncDispose]();
    expect(await stage.delivered(receipt)).toMatchObject({ state: "delivered" });
    expect(await inMode()).toBe(false);
    expect(submittedTo(ana.dir)).toHaveLength(1);
  });

  test("without a client copy mode ends at once", async () => {
    await stage.tmux.tmux("copy-mode", "-t", ana.pane);
    expect(await stage.delivered(await stage.send("ana", "hello"))).toMatchObject({ state: "delivered" });
    expect(submittedTo(ana.dir)).toHaveLength(1);
  });

  const inMode = async (): Promise<boolean> =>
    (await stage.tmux.tmux("display-message", "-p", "-t", ana.pane, "#{pane_in_mode}")) === "1";
});

test("`attach -d` throws our watcher out: it comes back, and the held message still moves on a signal", async () => {
  await ana.direct({ state: "working" });
  await until(async () => (await stage.tieline.statusMonitor.explain(ana.agent))?.state === "working", "ana to work");
  const receipt = await stage.send("ana", "hello");
  await stage.delivered(receipt, heldFor("busy"));
  await watcherIsThere();
  await stage.tmux.tmux("detach-client", "-s", "=main");
  await ana.direct({ state: "idle" });
  expect(await stage.delivered(receipt)).toMatchObject({ state: "delivered" });
});

/** tmux 3.3a ends with a fault when a client leaves at the moment at which a control client is about to come. */
async function watcherIsThere(): Promise<void> {
  const ours = async (): Promise<string[]> =>
    (await stage.tmux.tmux("list-clients", "-F", "#{client_control_mode}")).split("\n").filter((line) => line === "1");
  await until(async () => (await ours()).length >= 2, "the watcher");
}
