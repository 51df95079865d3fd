import { expect, test } from "bun:test";
import { join } from "node:path";
import { attachUser, type PrivateTmux, privateTmux } from "../testing/tmux.ts";
import { capture, isViewed, isVisible, lastKeyAt, listClients, listPanes, snapshotPane, readPane } from "./pane.ts";
import { TmuxServer } from "./server.ts";

/** A pane that shows exactly this text and then stays. */
async function showing(tmux: PrivateTmux, text: string): Promise<string> {
  const file = join(tmux.dir, "screen");
  await Bun.write(file, text);
  const script = 'cat "$0"; tmux -S "$1" wait-for -S shown; exec cat';
  const pane = await tmux.tmux("new-window", "-P", "-F", "#{pane_id}", "sh", "-c", script, file, tmux.socketPath);
  await tmux.tmux("wait-for", "shown");
  return pane;
}

test("a pane's facts are read as they are, whatever its texts hold", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const title = "a,b}c#d #{pane_id} 12:x 漢 ; \"q\" 'q' $HOME ~";
  const pane = await showing(tmux, `\x1b]2;${title}\x07one\ntwo`);
  await server.run([
    ["set-option", "-p", "-t", pane, "@tieline_agent", "agent 1\nline two\t7:x"],
    ["rename-window", "-t", pane, "a 3:b"],
  ]);
  const facts = await readPane(server, pane);
  expect(facts).toMatchObject({
    id: pane,
    title,
    windowName: "a 3:b",
    sessionName: "main",
    agent: "agent 1\nline two\t7:x",
    pasted: "",
    entered: "",
    paused: "",
    cursor: { x: 3, y: 1 },
    inMode: false,
    dead: false,
    synchronized: false,
    alternateOn: false,
    width: 100,
  });
  expect(facts.pid).toBeGreaterThan(1);
  expect(facts.tty).toStartWith("/dev/");
  expect(await listPanes(server)).toEqual([await readPane(server, "%0"), await readPane(server, pane)]);
  await server.run([["copy-mode", "-t", pane]]);
  expect((await readPane(server, pane)).inMode).toBe(true);
});

test("a pane that is gone is PANE_UNKNOWN, never another pane", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  await expect(readPane(server, "%99")).rejects.toMatchObject({ code: "PANE_UNKNOWN" });
  await expect(snapshotPane(server, "%99")).rejects.toMatchObject({ code: "PANE_UNKNOWN" });
  await expect(capture(server, "%99")).rejects.toMatchObject({ code: "PANE_UNKNOWN" });
});

test("bracketed paste is known where tmux has a format for it, and unknown elsewhere", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  /** The same server as if it knew the format of later versions. */
  function knowing(flag: string): TmuxServer {
    const read: TmuxServer["read"] = (list) =>
      server.read((list as string[][]).map((argv) => argv.map((word) => word.replace("#{bracket_paste_flag}", flag))));
    return Object.assign(Object.create(server) as TmuxServer, { read });
  }
  expect((await readPane(knowing(""), "%0")).bracketedPaste).toBeUndefined();
  expect((await readPane(knowing("1"), "%0")).bracketedPaste).toBe(true);
  expect((await readPane(knowing("0"), "%0")).bracketedPaste).toBe(false);
});

test("one snapshot gives facts, styled rows and plain rows", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const pane = await showing(tmux, "\x1b[2mghost\x1b[0m %end 1 2 1\n\n> 漢");
  const { pane: facts, styled, plain } = await snapshotPane(server, pane);
  expect(facts.id).toBe(pane);
  expect(plain.slice(0, 4)).toEqual(["ghost %end 1 2 1", "", "> 漢", ""]);
  expect(plain).toHaveLength(facts.height);
  expect(styled[0]).toStartWith("\x1b[2mghost\x1b[0m");
  expect(await capture(server, pane)).toEqual(plain);
  expect(await capture(server, pane, { ansi: true })).toEqual(styled);
});

test("plain rows match tmux without styles: colours, lines, wide letters, a coloured blank", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const colours = "\x1b[38;2;1;2;3;48;5;17mdeep\x1b[0m \x1b[4:3;58:5:9mcurly\x1b[0m";
  const pane = await showing(tmux, `${colours}\n\x1b(0lqk\x1b(B box\n漢字 👩 e\u0301\n\x1b[44mbar   \x1b[0m\nend`);
  const { plain } = await snapshotPane(server, pane);
  expect(plain.map((row) => row.trimEnd())).toEqual((await capture(server, pane)).map((row) => row.trimEnd()));
  expect(plain[4]).toBe("end");
});

test("history comes above the screen when asked for", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const rows = Array.from({ length: 60 }, (_, n) => `row ${n}`);
  const pane = await showing(tmux, rows.join("\n"));
  const { height } = await readPane(server, pane);
  expect(await capture(server, pane)).toEqual(rows.slice(-height));
  expect(await capture(server, pane, { history: 1000 })).toEqual(rows);
});

test("the user's clients are distinguished from our own", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const beside = await tmux.tmux("split-window", "-d", "-t", "%0", "-P", "-F", "#{pane_id}", "cat");
  expect(isVisible((await snapshotPane(server, "%0")).pane, (await snapshotPane(server, "%0")).clients)).toBe(false);

  await using _user = await attachUser(tmux, "main");
  const clients = await listClients(server);
  const [active, other] = [await readPane(server, "%0"), await readPane(server, beside)];
  expect(isViewed(active, clients)).toBe(true);
  expect(isViewed(other, clients)).toBe(false);
  expect(isVisible(other, clients)).toBe(true);
  expect(lastKeyAt(active, clients)).toBeGreaterThan(Date.now() - 60_000);
  expect(lastKeyAt(other, clients)).toBeUndefined();
});
