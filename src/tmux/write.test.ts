import { expect, test } from "bun:test";
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeUnless, lackOfLinux } from "../testing/needing.ts";
import { rawSinkPath, sinkBytes } from "../testing/rawSink.ts";
import { attachUser, type PrivateTmux, privateTmux } from "../testing/tmux.ts";
import { until } from "../testing/until.ts";
import { type PaneFacts, readPane } from "./pane.ts";
import { TmuxServer } from "./server.ts";
import { clearMarks, enterGuarded, type GuardedWrite, leaveMode, pasteGuarded, readMarks } from "./write.ts";

const open = "\x1b[200~";
const close = "\x1b[201~";

interface Sink {
  pane: string;
  file: string;
}

async function startSink(tmux: PrivateTmux, name: string, ...flags: string[]): Promise<Sink> {
  const file = join(tmux.dir, name);
  const argv = [process.execPath, rawSinkPath, file, ...flags];
  const pane = await tmux.tmux("new-window", "-d", "-P", "-F", "#{pane_id}", ...argv);
  await sinkBytes(file, () => true);
  return { pane, file };
}

function asSeen({ id, pid, title, cursor, currentCommand }: PaneFacts): GuardedWrite {
  return { pane: id, panePid: pid, guards: { title, cursor, command: currentCommand } };
}

const nasty = [
  "x",
  "two\nlines\n",
  "\n\n\n",
  "tab\tdouble  space   ",
  "\"double\" 'single' `ticks` $(id) ${HOME} $HOME",
  "back\\slash \\n \\\\ \\",
  "ends with ;",
  ";",
  "-b -t --",
  "C-c",
  "Escape Enter C-m",
  "#{pane_id} #[fg=red] #(date) ##",
  "~/x { } %1 @all !ls /exit",
  "emoji 👩‍👩‍👧‍👦 🇩🇪 CJK 漢字かな 한글",
];

test("bodies of every kind and size arrive byte for byte, in one bracketed paste", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const sink = await startSink(tmux, "sink");
  const { pid } = await readPane(server, sink.pane);
  let arrived = 0;
  for (const text of [...nasty, "k".repeat(1 << 16), '漢\n"$\\;'.repeat((1 << 20) / 8)]) {
    expect(await pasteGuarded(server, { pane: sink.pane, panePid: pid, text, mark: "m" })).toEqual({ done: true });
    const wanted = Buffer.from(open + text + close);
    const bytes = await sinkBytes(sink.file, (read) => read.length >= arrived + wanted.length);
    expect(bytes.subarray(arrived).equals(wanted)).toBe(true);
    arrived += wanted.length;
  }
}, 60_000);

test("without bracketed paste newlines still are newlines", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const sink = await startSink(tmux, "sink", "--no-bracketed-paste");
  const { pid } = await readPane(server, sink.pane);
  await pasteGuarded(server, { pane: sink.pane, panePid: pid, text: "a\nb", mark: "m" });
  expect((await sinkBytes(sink.file, (read) => read.length >= 3)).toString()).toBe("a\nb");
});

test("a program that has not asked for them yet is given the brackets where that is wished", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const sink = await startSink(tmux, "sink", "--no-bracketed-paste");
  const { pid } = await readPane(server, sink.pane);
  await pasteGuarded(server, { pane: sink.pane, panePid: pid, text: "a\n!b", mark: "m", bracketed: true });
  const wanted = `${open}a\n!b${close}`;
  expect((await sinkBytes(sink.file, (read) => read.length >= wanted.length)).toString()).toBe(wanted);
});

test("paste, then Enter, with the marks telling how far it came", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const sink = await startSink(tmux, "sink");
  const seen = asSeen(await readPane(server, sink.pane));
  expect(await readMarks(server, sink.pane)).toEqual({ pasted: "", entered: "" });
  await pasteGuarded(server, { ...seen, text: "hello", mark: "delivery 1" });
  expect(await readMarks(server, sink.pane)).toEqual({ pasted: "delivery 1", entered: "" });
  expect(await enterGuarded(server, { ...seen, mark: "delivery 1" })).toEqual({ done: true });
  expect(await readMarks(server, sink.pane)).toEqual({ pasted: "delivery 1", entered: "delivery 1" });
  const bytes = await sinkBytes(sink.file, (read) => read.includes("\r"));
  expect(bytes.toString()).toBe(`${open}hello${close}\r`);
  await clearMarks(server, sink.pane);
  expect(await readMarks(server, sink.pane)).toEqual({ pasted: "", entered: "" });
  expect(await tmux.tmux("show-options", "-p", "-t", sink.pane)).toBe("");
});

test("titles that look like formats are compared as they are", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const titles = [
    "a,b",
    "}",
    "#",
    "##",
    "#{pane_id}",
    "#[fg=red]",
    "a}b,c#,d#}e",
    "$HOME ~ \\ \" ' ;",
    "漢 ✳",
    " ",
    "#(id)",
  ];
  for (const title of titles) {
    const file = join(tmux.dir, "title");
    await Bun.write(file, `\x1b]2;${title}\x07`);
    const script = 'cat "$0"; tmux -S "$1" wait-for -S titled; exec cat';
    const argv = ["new-window", "-d", "-P", "-F", "#{pane_id}", "sh", "-c", script, file, tmux.socketPath];
    const pane = await tmux.tmux(...argv);
    await tmux.tmux("wait-for", "titled");
    const { pid, title: read } = await readPane(server, pane);
    expect(read).toBe(title);
    const write = { pane, panePid: pid, text: "x", mark: "m" };
    expect(await pasteGuarded(server, { ...write, guards: { title } })).toEqual({ done: true });
    expect(await pasteGuarded(server, { ...write, guards: { title: `${title}!` } })).toEqual({
      done: false,
      failed: ["title"],
    });
  }
});

test("each guard refuses by its name, and nothing is typed or left behind", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  await tmux.tmux("set-buffer", "the user's own");
  const sink = await startSink(tmux, "sink");
  const facts = await readPane(server, sink.pane);
  const seen = asSeen(facts);

  async function refused(write: Partial<GuardedWrite>): Promise<unknown> {
    const paste = await pasteGuarded(server, { ...seen, ...write, text: "never", mark: "m" });
    expect(await enterGuarded(server, { ...seen, ...write, mark: "m" })).toEqual(paste);
    return paste.done ? [] : paste.failed;
  }

  expect(await refused({ pane: "%99" })).toEqual(["pane"]);
  expect(await refused({ panePid: facts.pid + 1 })).toEqual(["panePid"]);
  expect(await refused({ guards: { serverPid: 1 } })).toEqual(["serverPid"]);
  expect(await refused({ guards: { title: "other", command: "vim" } })).toEqual(["title", "command"]);
  expect(await refused({ guards: { pasted: "another" } })).toEqual(["pasted"]);
  expect(await refused({ guards: { cursor: { x: 50, y: 7 } } })).toEqual(["cursor"]);
  await tmux.tmux("copy-mode", "-t", sink.pane);
  expect(await refused({ guards: {} })).toEqual(["inMode"]);
  expect(await leaveMode(server, { ...seen, panePid: 1 })).toEqual({ done: false, failed: ["panePid"] });
  expect(await leaveMode(server, seen)).toEqual({ done: true });
  await tmux.tmux("set-option", "-p", "-t", sink.pane, "synchronize-panes", "on");
  expect(await refused({ guards: {} })).toEqual(["synchronized"]);
  await tmux.tmux(
    "set-option",
    "-p",
    "-t",
    sink.pane,
    "synchronize-panes",
    "off",
    ";",
    "select-pane",
    "-d",
    "-t",
    sink.pane,
  );
  expect(await refused({ guards: {} })).toEqual(["inputOff"]);
  await tmux.tmux("select-pane", "-e", "-t", sink.pane);

  expect(await readMarks(server, sink.pane)).toEqual({ pasted: "", entered: "" });
  expect(await tmux.tmux("list-buffers", "-F", "#{buffer_sample}")).toBe("the user's own");
  await pasteGuarded(server, { ...seen, guards: {}, text: "only this", mark: "m" });
  expect(await tmux.tmux("list-buffers", "-F", "#{buffer_sample}")).toBe("the user's own");
  const bytes = await sinkBytes(sink.file, (read) => read.includes(close));
  expect(bytes.toString()).toBe(`${open}only this${close}`);
});

test("a dead pane is refused", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  await tmux.tmux("set-option", "-g", "remain-on-exit", "on");
  const pane = await tmux.tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "true");
  await until(async () => (await readPane(server, pane)).dead, "the pane to be dead");
  const { pid } = await readPane(server, pane);
  expect(await pasteGuarded(server, { pane, panePid: pid, text: "x", mark: "m" })).toEqual({
    done: false,
    failed: ["dead"],
  });
});

test("the same pane id in a restarted server gets nothing", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const before = await readPane(server, "%0");
  await tmux.kill();
  const shell = ["new-session", "-d", "-s", "main", "sh"];
  await tmux.tmux(...shell);
  const paste = pasteGuarded(server, { pane: before.id, panePid: before.pid, text: "touch harm", mark: "m" });
  expect(await paste).toEqual({ done: false, failed: ["panePid"] });
});

test("a server that dies under a paste leaves the caller in no false belief", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const { pid } = await readPane(server, "%0");
  const { pid: serverPid } = await server.identity();
  const text = "long\n".repeat(200_000);
  const paste = pasteGuarded(server, { pane: "%0", panePid: pid, text, mark: "m" }).catch((error: unknown) => error);
  process.kill(serverPid, "SIGKILL");
  expect(await paste).toMatchObject({ code: "TMUX_UNAVAILABLE" });
});

test("forty pastes at once never mix", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const sink = await startSink(tmux, "sink");
  const { pid } = await readPane(server, sink.pane);
  const texts = Array.from({ length: 40 }, (_, n) => `${n}:`.padEnd(2000, `${n % 10}`));
  await Promise.all(texts.map((text) => pasteGuarded(server, { pane: sink.pane, panePid: pid, text, mark: "m" })));
  const wanted = texts.map((text) => open + text + close).join("");
  expect((await sinkBytes(sink.file, (read) => read.length >= wanted.length)).toString()).toBe(wanted);
});

test("what a user types between the read and the write refuses the write", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  await using user = await attachUser(tmux, "main");
  const seen = asSeen(await readPane(server, "%0"));
  await user.press("d", "r", "a", "f", "t", "Enter");
  await until(async () => (await readPane(server, "%0")).cursor.y >= 2, "what the user typed");
  const paste = await pasteGuarded(server, { ...seen, text: "x", mark: "m" });
  expect(paste).toEqual({ done: false, failed: ["cursor"] });
});

test("a key that the program has not answered yet refuses the write as well", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const sink = await startSink(tmux, "sink");
  await tmux.tmux("new-session", "-d", "-s", "beside", "-t", "main");
  await tmux.tmux(
    "select-window",
    "-t",
    `=beside:${await tmux.tmux("display-message", "-p", "-t", sink.pane, "#{window_index}")}`,
  );
  await using user = await attachUser(tmux, "beside");
  // tmux knows the time of a key to the second.
  await until(async () => Date.now() - (await readPane(server, sink.pane)).keysAt >= 2_000, "a second without a key");
  const facts = await readPane(server, sink.pane);
  const { keysAt } = facts;
  expect(await pasteGuarded(server, { ...asSeen(facts), guards: { keysAt }, text: "x", mark: "m" })).toEqual({
    done: true,
  });
  await user.press("q");
  await sinkBytes(sink.file, (read) => read.includes("q"));
  const write = { ...asSeen(facts), guards: { ...asSeen(facts).guards, keysAt }, mark: "m" };
  expect(await pasteGuarded(server, { ...write, text: "y" })).toEqual({ done: false, failed: ["keys"] });
  expect(await enterGuarded(server, write)).toEqual({ done: false, failed: ["keys"] });
  expect((await sinkBytes(sink.file, () => true)).toString()).toBe(`${open}x${close}q`);
});

describeUnless(lackOfLinux)("the program's name, however it was started, compares equal to itself", () => {
  const named = (name: string): string => `exec -a "$(printf %b '${name}')" ./program`;
  const spellings: readonly (readonly [string, string, string])[] = [
    ["relative path", "exec ./program", "./program"],
    ["relative path through folders", "exec ./folder/../program", "./folder/../program"],
    ["symlink", "exec ./link", "./link"],
    ["absolute path", 'exec "$PWD/program"', "program"],
    ["path with spaces", 'exec "./with space/my program"', "./with"],
    ["script with a shebang", "exec ./script.sh", "sh"],
    ["script, running another program", "exec ./nested.sh", "sh"],
    [
      "name longer than the 15 characters the kernel keeps",
      "exec ./a-very-long-name-of-a-program",
      "./a-very-long-name-of-a-program",
    ],
    ["renamed", named("other name"), "other"],
    ["renamed, login shell", named("-login"), "login"],
    ["renamed, empty", named(""), "bash"],
    ["renamed, only a slash", named("/"), "/"],
    ["renamed, ends with a slash", named("a/b/"), "a/b/"],
    ["renamed, several lines", named("two\\nlines"), "two\nlines"],
    ["renamed, tab and escape", named("a\\tb\\033[31mc"), "a\tb\x1b[31mc"],
    ["renamed, format and braces", named("#{pid},}#[x]"), "#{pid},}#[x]"],
    ["renamed, letters of other scripts", named("grüße_世界_x"), "grüße_世界_x"],
    ["renamed, bytes that are no text", named("a\\0377\\0376b"), "a\ufffd\ufffdb"],
  ];

  test.each([...spellings])("%s", async (_, start, command) => {
    await using tmux = await privateTmux();
    await using server = new TmuxServer(tmux);
    const { dir } = tmux;
    for (const path of ["folder", "with space"]) mkdirSync(join(dir, path));
    for (const path of ["program", "link", "with space/my program", "a-very-long-name-of-a-program"])
      symlinkSync(Bun.which("cat")!, join(dir, path));
    writeFileSync(join(dir, "script.sh"), "#!/bin/sh\nread -r line\n", { mode: 0o755 });
    writeFileSync(join(dir, "nested.sh"), "#!/bin/sh\n./program\n", { mode: 0o755 });
    const pane = await tmux.tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "-c", dir, "bash", "-c", start);
    let facts = await readPane(server, pane);
    await until(
      async () => (facts = await readPane(server, pane)).currentCommand === command && facts.currentPath !== "",
      () => `${JSON.stringify(command)}; it is ${JSON.stringify(facts.currentCommand)}`,
    );
    expect(facts.currentPath).toBe(realpathSync(dir));
    const write = { pane, panePid: facts.pid, text: "x", mark: "m" };
    expect(await pasteGuarded(server, { ...write, guards: { command } })).toEqual({ done: true });
    expect(await pasteGuarded(server, { ...write, guards: { command: "another" } })).toMatchObject({ done: false });
  });
});
