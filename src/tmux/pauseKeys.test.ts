import { afterEach, beforeEach, expect, test } from "bun:test";
import { rawSinkPath, sinkBytes } from "../testing/rawSink.ts";
import { attachUser, privateTmux, type User, type PrivateTmux } from "../testing/tmux.ts";
import { until } from "../testing/until.ts";
import { listClients, snapshotPane, readPane } from "./pane.ts";
import { endPause, preparePause, type KeyPause } from "./pauseKeys.ts";
import { TmuxServer } from "./server.ts";
import { enterGuarded, pasteGuarded } from "./write.ts";

let tmux: PrivateTmux;
let server: TmuxServer;
let user: User;
let typed: string;

beforeEach(async () => {
  tmux = await privateTmux();
  typed = `${tmux.dir}/typed`;
  await tmux.tmux("respawn-pane", "-k", "-t", "%0", process.execPath, rawSinkPath, typed, "--no-bracketed-paste");
  await sinkBytes(typed, () => true);
  user = await attachUser(tmux, "main");
  server = new TmuxServer(tmux);
});

afterEach(async () => {
  await server.close();
  await user[Symbol.asyncDispose]();
  await tmux[Symbol.asyncDispose]();
});

/** Pastes, and has the user's keys wait. */
async function paste(): Promise<{ pause: KeyPause; panePid: number }> {
  const { pane, clients } = await snapshotPane(server, "%0");
  const pause = (await preparePause(server, pane, clients))!;
  const write = { pane: "%0", panePid: pane.pid, text: "ours", mark: "m", pause };
  expect(await pasteGuarded(server, write)).toEqual({ done: true });
  return { pause, panePid: pane.pid };
}

const received = async (): Promise<string> => (await sinkBytes(typed, () => true)).toString();
const shows = (text: string): Promise<void> =>
  until(
    async () => (await received()) === text,
    async () => `${JSON.stringify(text)}; it is ${JSON.stringify(await received())}`,
  );
const pausedIs = (value: string): Promise<void> =>
  until(async () => (await readPane(server, "%0")).paused === value, `@tieline_paused to be ${JSON.stringify(value)}`);
const keyTable = async (): Promise<string> => (await listClients(server)).find(({ control }) => !control)!.keyTable;

test("keys that are pressed between the paste and Enter arrive after Enter, whole and in their order", async () => {
  const { pause, panePid } = await paste();
  await user.press("-l", "grüße, 世界!");
  await pausedIs(`${pause.id}!`);
  await shows("ours");
  expect(await enterGuarded(server, { pane: "%0", panePid, mark: "m", guards: { paused: `${pause.id}!` } })).toEqual({
    done: true,
  });
  await endPause(server, pause);
  await shows("ours\rgrüße, 世界!");
  await user.press("-l", "more");
  await shows("ours\rgrüße, 世界!more");
  expect(await keyTable()).toBe("root");
});

test("without a key nothing waits, and nothing is left behind", async () => {
  const { pause } = await paste();
  await endPause(server, pause);
  expect((await readPane(server, "%0")).paused).toBe("");
  expect(await keyTable()).toBe("root");
  await expect(tmux.tmux("list-keys", "-T", pause.id)).rejects.toThrow("doesn't exist");
  await user.press("x");
  await shows("oursx");
  await endPause(server, pause);
});

test("a pause whose owner is gone ends by itself, and shows nothing in the pane", async () => {
  const { pause, panePid } = await paste();
  await user.press("-l", "typed");
  await pausedIs(`${pause.id}!`);
  await shows("ourstyped");
  expect(
    await enterGuarded(server, { pane: "%0", panePid, mark: "m", guards: { paused: `${pause.id}!` } }),
  ).toMatchObject({ failed: ["paused"] });
  expect((await readPane(server, "%0")).inMode).toBe(false);
  expect(await keyTable()).toBe("root");
  await endPause(server, pause);
});

test("a user who leaves while a key waits harms nothing, and the next pause works", async () => {
  const { pause } = await paste();
  await user.press("x");
  await pausedIs(`${pause.id}!`);
  await user[Symbol.asyncDispose]();
  await until(async () => (await listClients(server)).every(({ control }) => control), "the user to be gone");
  await endPause(server, pause);
  user = await attachUser(tmux, "main");
  const next = await paste();
  await user.press("y");
  await pausedIs(`${next.pause.id}!`);
  await endPause(server, next.pause);
  await shows("oursoursy");
});

test("a pane that closes meanwhile leaves the user's keys free", async () => {
  await tmux.tmux("new-window", "-d", "cat");
  const { pause } = await paste();
  await tmux.tmux("kill-pane", "-t", "%0");
  await endPause(server, pause);
  expect(await keyTable()).toBe("root");
  await user.press("-l", "free");
  await until(
    async () => (await tmux.tmux("capture-pane", "-p", "-t", "%1")).startsWith("free"),
    "the keys in the other pane",
  );
});

test("a pane that closes while a key waits blocks no typing, also when our process is gone", async () => {
  await tmux.tmux("new-window", "-d", "cat");
  const { pause } = await paste();
  await user.press("-l", "xfree");
  await pausedIs(`${pause.id}!`);
  await tmux.tmux("kill-pane", "-t", "%0");
  await until(
    async () => (await tmux.tmux("capture-pane", "-p", "-t", "%1")).includes("free"),
    "the keys in the other pane",
  );
});

test("the prefix and the user's own keys work meanwhile", async () => {
  await tmux.tmux("bind-key", "-n", "M-w", "set-option -g @own pressed");
  await tmux.tmux("bind-key", "-r", "-N", 'a "note"', "-T", "root", "M-v", "set-option -ag @own ' again; and'");
  await paste();
  await user.press("M-w");
  await until(async () => (await tmux.tmux("show-options", "-gqv", "@own")) === "pressed", "the user's own key");
  const { pause } = await paste();
  await user.press("M-v");
  await until(async () => (await tmux.tmux("show-options", "-gqv", "@own")) === "pressed again; and", "the other one");
  await endPause(server, pause);
  await paste();
  await user.press("C-b", "c");
  await until(async () => (await tmux.tmux("list-windows", "-F", "x")).split("\n").length === 2, "a new window");
});

test("where no client types into the pane, nothing waits", async () => {
  await tmux.tmux("new-window", "-d", "cat");
  const { pane, clients } = await snapshotPane(server, "%1");
  expect(await preparePause(server, pane, clients)).toBeNull();
});
