import { expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { rawSinkPath, sinkBytes } from "../testing/rawSink.ts";
import { privateTmux } from "../testing/tmux.ts";
import { until } from "../testing/until.ts";
import { bunExec, type Exec } from "../os/exec.ts";
import { readPane } from "./pane.ts";
import { TmuxServer } from "./server.ts";
import {
  currentSession,
  ensureSession,
  hasSession,
  killPane,
  newWindow,
  renameWindow,
  respawn,
  sessionName,
  setEnvironment,
} from "./session.ts";

test("one sanitizer names sessions", () => {
  expect(sessionName("feat/auth-fix")).toBe("feat-auth-fix");
  expect(sessionName("v1.2:rc 3")).toBe("v1-2-rc-3");
  expect(sessionName("=x")).toBe("x");
  expect(sessionName("größe_漢")).toBe("größe_漢");
  expect(() => sessionName("./:")).toThrow('"./:" has no characters');
});

/** Prints a variable, or the whole argument vector, into a file and stays. */
function dump(file: string, what: string): string[] {
  return ["sh", "-c", `${what} > "$0.part" && mv "$0.part" "$0" && exec cat`, file];
}

async function content(file: string): Promise<string> {
  return (await sinkBytes(file, () => true)).toString();
}

test("the first session starts the server, and no secret is ever an argument", async () => {
  await using tmux = await privateTmux({ session: null });
  const argvs: string[] = [];
  const exec: Exec = (argv, options) => {
    argvs.push(argv.join(" "));
    return bunExec(argv, options);
  };
  await using server = new TmuxServer({ ...tmux, exec });
  const file = join(tmux.dir, "first");
  const secret = 's3cret $HOME "q" ~ ; #{pid}\nline';
  const command = dump(file, 'printf %s "$TOKEN"');
  const made = await ensureSession(server, { name: "web", window: "shell", command, env: { TOKEN: secret } });
  expect(made.created).toBe(true);
  expect(await content(file)).toBe(secret);
  expect(await ensureSession(server, { name: "web", window: "shell" })).toEqual({ created: false });
  await setEnvironment(server, "web", { LATER: secret });
  const later = join(tmux.dir, "later");
  await newWindow(server, { session: "web", name: "w", command: dump(later, 'printf %s "$LATER"') });
  expect(await content(later)).toBe(secret);
  expect(argvs.join("\n")).not.toContain("s3cret");
});

test("a session on a running server has its place, directory and size", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const cwd = join(tmux.dir, "a #{pid} # dir");
  await mkdir(cwd);
  const made = await ensureSession(server, {
    name: "team",
    window: "shell",
    command: ["cat"],
    cwd,
    width: 90,
    height: 20,
  });
  if (!made.created) throw new Error("not made");
  await until(async () => (await readPane(server, made.place.pane)).currentCommand === "cat", "cat to run");
  const facts = await readPane(server, made.place.pane);
  expect(facts).toMatchObject({
    pid: made.place.panePid,
    sessionName: "team",
    windowName: "shell",
    width: 90,
    currentPath: cwd,
  });
  expect(await tmux.tmux("list-sessions", "-F", "#{session_name}")).toBe("main\nteam");
});

test("targets are exact: a prefix never reaches another session", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  await ensureSession(server, { name: "ana-2", window: "shell", command: ["cat"] });
  expect(await hasSession(server, "ana")).toBe(false);
  await expect(newWindow(server, { session: "ana", name: "w" })).rejects.toMatchObject({ code: "PANE_UNKNOWN" });
  await expect(setEnvironment(server, "ana", { A: "1" })).rejects.toMatchObject({ code: "PANE_UNKNOWN" });
  expect((await ensureSession(server, { name: "ana", window: "shell", command: ["cat"] })).created).toBe(true);
  const { pane } = await newWindow(server, { session: "ana", name: "w", command: ["cat"] });
  expect(await currentSession(server, pane)).toBe("ana");
});

test("a command is run without a shell, one word or many", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const file = join(tmux.dir, "$(touch harm); x");
  const many = await newWindow(server, {
    session: "main",
    name: "many",
    command: [process.execPath, rawSinkPath, file],
  });
  expect(await content(file)).toBe("");
  expect((await readPane(server, many.pane)).pid).toBe(many.panePid);
  const one = await newWindow(server, { session: "main", name: "one", command: ["cat"] });
  await server.run([["select-pane", "-t", one.pane, "-T", "still there"]]);
  expect((await readPane(server, one.pane)).title).toBe("still there");
});

test("respawn keeps the pane and changes the process; kill ends it", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const first = await newWindow(server, { session: "main", name: "w", command: ["cat"] });
  const file = join(tmux.dir, "again");
  const second = await respawn(server, first.pane, { command: dump(file, 'printf %s "$K"'), env: { K: "v;" } });
  expect(second).toEqual({ ...first, panePid: second.panePid });
  expect(second.panePid).not.toBe(first.panePid);
  expect(await content(file)).toBe("v;");
  await renameWindow(server, first.windowId, "wish-42");
  expect((await readPane(server, first.pane)).windowName).toBe("wish-42");
  await killPane(server, first.pane);
  await expect(readPane(server, first.pane)).rejects.toMatchObject({ code: "PANE_UNKNOWN" });
  await expect(currentSession(server, first.pane)).rejects.toMatchObject({ code: "PANE_UNKNOWN" });
});

test("sessions and windows come and go only while no client is about to come", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const windows = () => server.read([["list-windows", "-a", "-F", "#{session_name}:#{window_name}"]]);
  const before = await windows();
  const coming = Promise.withResolvers<void>();
  const turn = server.clientOptions.turn(() => coming.promise);
  const made = [
    ensureSession(server, { name: "second", window: "first" }),
    newWindow(server, { session: "main", name: "more", command: ["cat"] }),
    killPane(server, "%0"),
  ];
  for (let round = 0; round < 20; round++) expect(await windows()).toEqual(before);
  coming.resolve();
  await Promise.all([turn, ...made]);
  expect((await windows()).toSorted()).toEqual(["main:more", "second:first"]);
});
