/**
 * What Tieline relies on in tmux: facts, guarded writes, marks, paused keys, and who a pane belongs to after a restart.
 * The real tmux and the one of the simulation run the same cases.
 */
import { describe, expect, test } from "bun:test";
import { listClients, readPane, snapshotPane, type PaneFacts } from "../tmux/pane.ts";
import { endPause, keyWaits, preparePause } from "../tmux/pauseKeys.ts";
import type { TmuxServer } from "../tmux/server.ts";
import {
  clearMarks,
  enterGuarded,
  leaveMode,
  pasteGuarded,
  pressGuarded,
  readMarks,
  typeGuarded,
  type GuardedWrite,
} from "../tmux/write.ts";
import { until } from "./until.ts";

export interface TmuxUnderTest extends AsyncDisposable {
  readonly server: TmuxServer;
  /** The pane of a program that asked for bracketed paste and keeps every byte that it reads. */
  readonly pane: string;
  /** What that program has read, as soon as it satisfies. */
  received(enough: (bytes: string) => boolean): Promise<string>;
  /** A tmux command of the user. */
  command(...argv: string[]): Promise<unknown>;
  /** A user opens the session at a terminal. */
  attach(): Promise<{ press(key: string): Promise<void> }>;
  /** Ends the server and starts another one on the same socket, with a session of the same name. */
  restart(): Promise<void>;
  kill(): Promise<void>;
}

const open = "\x1b[200~";
const close = "\x1b[201~";

const nasty = [
  "x",
  "two\nlines\n",
  "tab\tdouble  space   ",
  "\"double\" 'single' `ticks` $(id) ${HOME} $HOME",
  "back\\slash \\n \\\\ \\",
  "ends with ;",
  ";",
  "-b -t --",
  "Escape Enter C-m",
  "#{pane_id} #[fg=red] #(date) ##",
  "~/x { } %1 @all !ls /exit",
  "emoji 👩‍👩‍👧‍👦 漢字",
];

function asSeen({ id, pid, title, cursor, currentCommand }: PaneFacts): GuardedWrite {
  return { pane: id, panePid: pid, guards: { title, cursor, command: currentCommand } };
}

export function tmuxContract(name: string, start: () => Promise<TmuxUnderTest>): void {
  describe(`tmux contract: ${name}`, () => {
    test("a pane is known by its ids, and one that does not exist is PANE_UNKNOWN", async () => {
      await using tmux = await start();
      const { server, pane } = tmux;
      const { pid, startedAt } = await server.identity();
      const facts = await readPane(server, pane);
      expect(facts).toMatchObject({
        ...{ id: pane, sessionName: "main", serverPid: pid, serverStartedAt: startedAt, title: facts.title },
        ...{ inMode: false, dead: false, synchronized: false, alternateOn: false, pasted: "", entered: "", paused: "" },
      });
      expect(facts.pid).toBeGreaterThan(1);
      await expect(readPane(server, "%99")).rejects.toMatchObject({ code: "PANE_UNKNOWN" });
      await expect(snapshotPane(server, "%99")).rejects.toMatchObject({ code: "PANE_UNKNOWN" });
    });

    test("a snapshot shows the rows as they are, with and without styles", async () => {
      await using tmux = await start();
      const { plain, styled, pane } = await snapshotPane(tmux.server, tmux.pane);
      expect(plain[0]?.trimEnd()).toBe("ready");
      expect(plain).toHaveLength(pane.height);
      expect(styled).toHaveLength(pane.height);
    });

    test("any text arrives byte for byte, as one bracketed paste", async () => {
      await using tmux = await start();
      const { pid } = await readPane(tmux.server, tmux.pane);
      let wanted = "";
      for (const text of nasty) {
        const write = { pane: tmux.pane, panePid: pid, text, mark: "m" };
        expect(await pasteGuarded(tmux.server, write)).toEqual({ done: true });
        wanted += open + text + close;
        expect(await tmux.received((bytes) => bytes.length >= wanted.length)).toBe(wanted);
      }
    });

    test("the marks tell how far a write came, and are cleared without a trace", async () => {
      await using tmux = await start();
      const { server, pane } = tmux;
      const seen = asSeen(await readPane(server, pane));
      expect(await readMarks(server, pane)).toEqual({ pasted: "", entered: "" });
      await pasteGuarded(server, { ...seen, text: "hello", mark: "box:1:17" });
      expect(await readMarks(server, pane)).toEqual({ pasted: "box:1:17", entered: "" });
      expect(await enterGuarded(server, { ...seen, mark: "box:1:17" })).toEqual({ done: true });
      expect(await readMarks(server, pane)).toEqual({ pasted: "box:1:17", entered: "box:1:17" });
      expect(await tmux.received((bytes) => bytes.includes("\r"))).toBe(`${open}hello${close}\r`);
      await clearMarks(server, pane);
      expect(await readPane(server, pane)).toMatchObject({ pasted: "", entered: "" });
    });

    test("each guard refuses by its name, and nothing is typed", async () => {
      await using tmux = await start();
      const { server, pane } = tmux;
      const facts = await readPane(server, pane);
      const seen = asSeen(facts);
      async function refused(write: Partial<GuardedWrite>): Promise<unknown> {
        const paste = await pasteGuarded(server, { ...seen, ...write, text: "never", mark: "m" });
        expect(await enterGuarded(server, { ...seen, ...write, mark: "m" })).toEqual(paste);
        expect(await typeGuarded(server, { ...seen, ...write, words: "never" })).toEqual(paste);
        return paste.done ? [] : paste.failed;
      }
      expect(await refused({ pane: "%99" })).toEqual(["pane"]);
      expect(await refused({ panePid: facts.pid + 1 })).toEqual(["panePid"]);
      expect(await refused({ guards: { serverPid: 1 } })).toEqual(["serverPid"]);
      expect(await refused({ guards: { title: "other", command: "vim" } })).toEqual(["title", "command"]);
      expect(await refused({ guards: { pasted: "another" } })).toEqual(["pasted"]);
      expect(await refused({ guards: { paused: "a pause" } })).toEqual(["paused"]);
      expect(await refused({ guards: { cursor: { x: 50, y: 7 } } })).toEqual(["cursor"]);
      await tmux.command("copy-mode", "-t", pane);
      expect(await refused({ guards: {} })).toEqual(["inMode"]);
      expect(await leaveMode(server, { ...seen, panePid: 1 })).toEqual({ done: false, failed: ["panePid"] });
      expect(await leaveMode(server, seen)).toEqual({ done: true });
      expect(await readMarks(server, pane)).toEqual({ pasted: "", entered: "" });
      expect(await typeGuarded(server, { ...seen, guards: {}, words: "only this" })).toEqual({ done: true });
      expect(await pressGuarded(server, { ...seen, guards: {}, keys: ["Enter"] })).toEqual({ done: true });
      expect(await tmux.received((bytes) => bytes.includes("\r"))).toBe("only this\r");
    });

    test("another program in the pane has another process, and the old one gets nothing", async () => {
      await using tmux = await start();
      const { server, pane } = tmux;
      const before = asSeen(await readPane(server, pane));
      await pasteGuarded(server, { ...before, text: "x", mark: "box:1:17" });
      await tmux.command("respawn-pane", "-k", "-t", pane, "cat");
      expect(await enterGuarded(server, { ...before, guards: {}, mark: "box:1:17" })).toEqual({
        done: false,
        failed: ["panePid"],
      });
      // A pane keeps its marks; whose they are, its process tells.
      expect(await readMarks(server, pane)).toEqual({ pasted: "box:1:17", entered: "" });
    });

    test("a restarted server has another identity, and the same pane id gets nothing", async () => {
      await using tmux = await start();
      const { server, pane } = tmux;
      const [before, identity] = [await readPane(server, pane), await server.identity()];
      await tmux.restart();
      expect((await server.identity()).pid).not.toBe(identity.pid);
      const write = { pane, panePid: before.pid, text: "touch harm", mark: "m" };
      expect(await pasteGuarded(server, write)).toMatchObject({ done: false });
      expect(await readMarks(server, "%0")).toEqual({ pasted: "", entered: "" });
    });

    test("without a server there is an error and no answer", async () => {
      await using tmux = await start();
      await tmux.kill();
      await expect(snapshotPane(tmux.server, tmux.pane)).rejects.toMatchObject({ code: "TMUX_UNAVAILABLE" });
      expect(await tmux.server.alive()).toBe(false);
    });

    test("keys that are pressed between the paste and Enter arrive after Enter", async () => {
      await using tmux = await start();
      const { server, pane: id } = tmux;
      const user = await tmux.attach();
      const { pane, clients } = await snapshotPane(server, id);
      const pause = (await preparePause(server, pane, clients))!;
      const write = { pane: id, panePid: pane.pid, mark: "m" };
      expect(await pasteGuarded(server, { ...write, text: "ours", pause })).toEqual({ done: true });
      for (const key of ["k", "e", "y"]) await user.press(key);
      const paused = keyWaits(pause);
      await until(async () => (await readPane(server, id)).paused === paused, "the key to wait");
      expect(await tmux.received((bytes) => bytes.includes(close))).toBe(`${open}ours${close}`);
      expect(await enterGuarded(server, { ...write, guards: { paused } })).toEqual({ done: true });
      await endPause(server, pause);
      expect(await tmux.received((bytes) => bytes.endsWith("key"))).toBe(`${open}ours${close}\rkey`);
      expect((await readPane(server, id)).paused).toBe("");
      expect((await listClients(server)).find(({ control }) => !control)?.keyTable).toBe("root");
    });

    test("where no client types into the pane, nothing waits", async () => {
      await using tmux = await start();
      const { pane, clients } = await snapshotPane(tmux.server, tmux.pane);
      expect(await preparePause(tmux.server, pane, clients)).toBeNull();
    });
  });
}
