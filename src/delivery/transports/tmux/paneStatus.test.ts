import { expect, test } from "bun:test";
import { UserScreens } from "../../../providers/userScreens.ts";
import { attachUser, privateTmux } from "../../../testing/tmux.ts";
import { until } from "../../../testing/until.ts";
import { ControlClient } from "../../../tmux/control.ts";
import { readPane } from "../../../tmux/pane.ts";
import { systemProcesses, type Processes } from "../../../os/processes.ts";
import { TmuxServer } from "../../../tmux/server.ts";
import { newWindow } from "../../../tmux/session.ts";
import { Ages } from "../../../os/ages.ts";
import type { PaneLocator } from "../paneEndpoint.ts";
import { mayType, quietBySecond, readPaneStatus, type Quiet, type LivePane } from "./paneStatus.ts";
import { providers } from "../../../compose/providers.ts";

const provider = "claude-code";
const traits = providers.terminal(provider, {});
/** What is seen at that moment. */
const at = (now: number): Ages => new Ages(() => now);
const quiet: Quiet = { waitMs: () => 0 };

test("waits out the second in which a client attached: a key within it would not refuse a write", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const alone = await idle(server, tmux.socketPath);
  await using _user = await attachUser(tmux, "main");
  await until(async () => Date.now() - (await readPane(server, "%0")).keysAt >= 2_000, "a second without a key");
  await using _client = await ControlClient.attach({ ...tmux, session: "main" });
  const beside = await idle(server, tmux.socketPath);
  const cameAt = beside.snapshot.pane.keysAt;
  expect(mayType(beside, traits, quiet, at(cameAt + 1_000))).toMatchObject({
    kind: "held",
    hold: { reason: "typing" },
    againInMs: 500,
  });
  expect(mayType(beside, traits, quiet, at(cameAt + 1_500))).toMatchObject({ kind: "ready" });
  expect(mayType(alone, traits, quiet, at(alone.snapshot.pane.keysAt))).toMatchObject({ kind: "ready" });
});

test("what another home has pasted is waited for, although it does not show yet", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const status = await idle(server, tmux.socketPath);
  const marked = (pasted: string, entered: string): LivePane => ({
    ...status,
    snapshot: { ...status.snapshot, pane: { ...status.snapshot.pane, pasted, entered } },
  });
  const pastedAt = Date.now();
  const verdict = (pasted: string, entered: string, now: number) =>
    mayType(marked(pasted, entered), traits, quiet, at(now));
  expect(verdict(`other:2:${pastedAt}`, `other:1:${pastedAt - 900}`, pastedAt + 100)).toMatchObject({
    kind: "held",
    hold: { reason: "busy" },
    againInMs: 4_900,
  });
  expect(verdict(`other:2:${pastedAt}`, `other:2:${pastedAt}`, pastedAt + 100)).toMatchObject({ kind: "ready" });
  expect(verdict(`other:2:${pastedAt}`, `other:1:${pastedAt - 900}`, pastedAt + 5_000)).toMatchObject({
    kind: "ready",
  });
});

test("where the composer is not known, nothing is pasted behind a message that may stand there unsent", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const { pane } = await newWindow(server, {
    session: "main",
    name: "line",
    command: ["sh", "-c", 'printf "> "; while read line; do printf "> "; done'],
  });
  const locator = await locatorOf(server, tmux.socketPath, pane);
  const traits = providers.terminal("generic", { restingLine: ">" });
  const verdict = async () => {
    const status = await readPaneStatus(server, systemProcesses(), {
      providers,
      locator,
      manifest: new UserScreens(null, providers).manifest("generic"),
      traits,
    });
    if (status.kind === "gone") throw new Error(status.detail);
    const pasted = {
      ...status,
      snapshot: { ...status.snapshot, pane: { ...status.snapshot.pane, pasted: "d:1:1000", entered: "" } },
    };
    return mayType(pasted, traits, quiet, new Ages());
  };
  await until(async () => (await verdict()).kind === "ready", "the prompt");
  await server.run([
    ["send-keys", "-t", pane, "-l", `[MSG_USER_7f3a91c2 from user] ${"words that fill more than a line ".repeat(8)}`],
  ]);
  await until(
    async () => Bun.deepMatch({ kind: "held", hold: { reason: "draft" } }, await verdict()),
    "the text is seen",
  );
  expect(await verdict()).toMatchObject({
    hold: { detail: expect.stringContaining("an earlier message may still be unsent") },
  });
  await server.run([["send-keys", "-t", pane, "Enter"]]);
  await until(async () => (await verdict()).kind === "ready", "the prompt is free again");
});

test.each([60_000, -60_000, 600_000, -600_000, 60 * 86_400_000, -60 * 86_400_000])(
  "a clock that is set by %d ms holds nothing for longer, and gives no false reason for longer",
  async (jump) => {
    await using tmux = await privateTmux();
    await using server = new TmuxServer(tmux);
    await using _user = await attachUser(tmux, "main");
    const status = await idle(server, tmux.socketPath);
    const now = Math.max(status.snapshot.pane.keysAt, status.snapshot.pane.windowActivityAt) + 100;
    const time = { wall: now, elapsed: 0 };
    const ages = new Ages(
      () => time.wall,
      () => time.elapsed,
    );
    const pasted: LivePane = {
      ...status,
      snapshot: { ...status.snapshot, pane: { ...status.snapshot.pane, pasted: `other:2:${now}`, entered: "" } },
    };
    const reasons = () =>
      [mayType(status, traits, quiet, ages), mayType(pasted, traits, quiet, ages)].map((verdict) =>
        verdict.kind === "held" ? verdict.hold.reason : verdict.kind,
      );
    const silence = quietBySecond(ages);
    expect(reasons()).toEqual(["typing", "busy"]);
    expect(silence.waitMs(status.snapshot.pane, 300)).toBeGreaterThan(0);
    time.wall += jump;
    expect(reasons()).toEqual(["typing", "busy"]);
    time.wall += 1_500;
    time.elapsed += 1_500;
    expect(reasons()).toEqual(["ready", "busy"]);
    expect(silence.waitMs(status.snapshot.pane, 300)).toBe(0);
    time.elapsed += 3_500;
    expect(reasons()).toEqual(["ready", "ready"]);
  },
);

test("the shell that an agent's own process became is not the agent", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const { pane } = await newWindow(server, {
    session: "main",
    name: "agent",
    command: ["sh", "-c", "cat; exec bash --norc -i"],
  });
  const processes = systemProcesses();
  const locator = await locatorOf(server, tmux.socketPath, pane);
  const manifest = new UserScreens(null, providers).manifest("generic");
  const kind = async () =>
    (await readPaneStatus(server, processes, { providers, locator, manifest, traits: providers.terminal("generic") }))
      .kind;
  await until(async () => (await kind()) === "live", "the agent in its pane");
  await server.run([["send-keys", "-t", pane, "C-d"]]);
  await until(async () => (await kind()) === "gone", "the shell found out");
  expect(
    await readPaneStatus(server, processes, { providers, locator, manifest, traits: providers.terminal("generic") }),
  ).toMatchObject({
    state: "done",
    detail: `only a bare shell (bash) is left in ${pane}`,
  });
  expect(await processes.read(locator.agentPid)).toMatchObject({ startMark: locator.agentStartMark, command: "bash" });
});

test("a shell that becomes another program between two looks at its process is not a bare shell", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const { pane } = await newWindow(server, {
    session: "main",
    name: "agent",
    command: ["sh", "-c", "read go; exec cat"],
  });
  const system = systemProcesses();
  const locator = await locatorOf(server, tmux.socketPath, pane);
  const becomesCat: Processes = {
    ...system,
    async argv(pid) {
      await server.run([["send-keys", "-t", pane, "Enter"]]);
      await until(async () => (await system.read(pid))?.command === "cat", "cat");
      return system.argv(pid);
    },
  };
  const seen = {
    providers,
    locator,
    manifest: new UserScreens(null, providers).manifest("generic"),
    traits: providers.terminal("generic"),
  };
  expect(await readPaneStatus(server, becomesCat, seen)).toMatchObject({ kind: "live" });
});

test.each(["Overwrite everything? [y/N] ", "Continue (yes/no)? ", "Stage this hunk [y/n/q/?]? ", "Password for ana: "])(
  "%p is a question, not a prompt",
  async (question) => {
    await using tmux = await privateTmux();
    await using server = new TmuxServer(tmux);
    const script = 'printf %s "$0"; read answer; printf "> "; read line';
    const { pane } = await newWindow(server, {
      session: "main",
      name: "asks",
      command: ["sh", "-c", script, question],
    });
    const locator = await locatorOf(server, tmux.socketPath, pane);
    const verdict = async () => {
      const status = await readPaneStatus(server, systemProcesses(), {
        providers,
        locator,
        manifest: new UserScreens(null, providers).manifest("generic"),
        traits: providers.terminal("generic"),
      });
      return status.kind === "live" ? mayType(status, providers.terminal("generic", {}), quiet, new Ages()) : status;
    };
    await until(
      async () => Bun.deepMatch({ kind: "held", hold: { reason: "question" } }, await verdict()),
      "the question is seen",
    );
    await server.run([["send-keys", "-t", pane, "n", "Enter"]]);
    await until(async () => (await verdict()).kind === "ready", "the prompt behind it is written to");
  },
);

/** The pane, as if an idle program showed in it. */
async function idle(server: TmuxServer, socket: string): Promise<LivePane> {
  const locator = await locatorOf(server, socket, "%0");
  const status = await readPaneStatus(server, systemProcesses(), {
    providers,
    locator,
    manifest: new UserScreens(null, providers).manifest(provider),
    traits: providers.terminal(provider),
  });
  if (status.kind === "gone") throw new Error(status.detail);
  return {
    ...status,
    computing: false,
    reading: { ...status.reading, state: "idle", draft: false, composer: { text: "", row: 0 } },
  };
}

async function locatorOf(server: TmuxServer, socket: string, pane: string): Promise<PaneLocator> {
  const { pid, serverPid, serverStartedAt } = await readPane(server, pane);
  const { startMark } = (await systemProcesses().read(pid))!;
  return {
    socket,
    serverPid,
    serverStartedAt,
    pane,
    panePid: pid,
    agentPid: pid,
    agentStartMark: startMark,
    terminal: {},
  };
}
