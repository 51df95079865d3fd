import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { attachUser, privateTmux } from "../testing/tmux.ts";
import { until } from "../testing/until.ts";
import type { Exec } from "../os/exec.ts";
import { TmuxServer } from "./server.ts";

const display = (word: string) => [["display-message", "-p", word]];

test("commands go through one client on an existing session", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  expect(await server.run([...display("a;"), ...display("b ~")])).toEqual(["a;", "b ~"]);
  await Promise.all(Array.from({ length: 20 }, () => server.run(display("x"))));
  expect(await tmux.tmux("list-clients", "-F", "#{client_control_mode} #{client_flags}")).toMatch(
    /^1 .*ignore-size.*$/,
  );
  expect(await tmux.tmux("list-sessions", "-F", "#{session_name}")).toBe("main");
});

test("identity tells one server from the next on the same socket", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const { pid, startedAt, socketPath } = await server.identity();
  expect(socketPath).toBe(tmux.socketPath);
  expect(String(pid)).toBe(await tmux.tmux("display-message", "-p", "#{pid}"));
  expect(startedAt).toBeGreaterThan(1_500_000_000_000);
  await tmux.kill();
  await tmux.tmux("new-session", "-d", "-s", "again", "cat");
  expect((await server.identity()).pid).not.toBe(pid);
});

test("a session with destroy-unattached is never held open, and still served", async () => {
  await using tmux = await privateTmux();
  await using user = await attachUser(tmux, "main");
  await using server = new TmuxServer(tmux);
  await tmux.tmux("set-option", "-t", "=main:", "destroy-unattached", "on");
  await tmux.tmux("new-session", "-d", "-s", "plain", "cat");
  expect(await server.run(display("#{client_session}"))).toEqual(["plain"]);
  await tmux.tmux("kill-session", "-t", "=plain");
  expect(await server.read(display("x $HOME ;"))).toEqual(["x $HOME ;"]);
  expect(await tmux.tmux("list-clients", "-F", "#{client_control_mode}")).toBe("0");
  const body = "漢\n".repeat(300_000);
  await server.run([
    ["set-buffer", "-b", "big", "--", body],
    ["save-buffer", "-b", "big", join(tmux.dir, "big")],
  ]);
  expect(await Bun.file(join(tmux.dir, "big")).text()).toBe(body);
  await expect(server.run([["kill-pane", "-t", "%99"]])).rejects.toMatchObject({ code: "PANE_UNKNOWN" });
  await user.detach();
  await expect(tmux.tmux("has-session", "-t", "=main")).rejects.toThrow();
});

test("a server that is stopped is silent, not gone, and serves again when it continues", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer({ ...tmux, timeoutMs: 300 });
  const { pid } = await server.identity();
  const silent = {
    code: "TMUX_UNAVAILABLE",
    message: expect.stringContaining(`the tmux server at ${tmux.socketPath} did not answer`),
    operands: { silent: true },
  };
  process.kill(pid, "SIGSTOP");
  try {
    // By its client first, then, since that counts as lost, by processes.
    for (let time = 0; time < 2; time++) await expect(server.read(display("x"))).rejects.toMatchObject(silent);
  } finally {
    process.kill(pid, "SIGCONT");
  }
  await until(async () => (await server.read(display("x")).catch(() => [])).length === 1, "tmux to answer again");
  expect((await server.identity()).pid).toBe(pid);
});

test("the owner says which sessions may be used", async () => {
  await using tmux = await privateTmux();
  await tmux.tmux("new-session", "-d", "-s", "ours", "cat");
  await using server = new TmuxServer({ ...tmux, mayAttach: ({ name }) => name === "ours" });
  expect(await server.run(display("#{client_session}"))).toEqual(["ours"]);
});

test("a lost session is replaced by another and the owner is notified", async () => {
  await using tmux = await privateTmux();
  await tmux.tmux("new-session", "-d", "-s", "second", "cat");
  const told = Promise.withResolvers<boolean>();
  await using server = new TmuxServer({ ...tmux, onResync: told.resolve });
  expect(await server.run(display("#{client_session}"))).toEqual(["main"]);
  await tmux.tmux("kill-session", "-t", "=main");
  expect(await server.read(display("#{client_session}"))).toEqual(["second"]);
  expect(await told.promise).toBe(true);
});

test("a client that tmux moved to another session chooses again", async () => {
  await using tmux = await privateTmux();
  await tmux.tmux("set-option", "-g", "detach-on-destroy", "off");
  await tmux.tmux("new-session", "-d", "-s", "second", "cat");
  const told = Promise.withResolvers<boolean>();
  await using server = new TmuxServer({ ...tmux, mayAttach: ({ name }) => name === "main", onResync: told.resolve });
  await server.run(display("x"));
  await tmux.tmux("kill-session", "-t", "=main");
  expect(await told.promise).toBe(false);
  expect(await tmux.tmux("list-clients")).toBe("");
});

test("detached by `attach -d`, it comes back", async () => {
  await using tmux = await privateTmux();
  const told = Promise.withResolvers<boolean>();
  await using server = new TmuxServer({ ...tmux, onResync: told.resolve });
  await server.run(display("x"));
  await tmux.tmux("detach-client", "-s", "=main");
  expect(await told.promise).toBe(true);
});

test("a client that does not answer any more is replaced, and what was only read is asked again", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer({ ...tmux, timeoutMs: 5_000 });
  await server.run(display("x"));
  // Later commands of a client wait behind this one.
  const stuck = server.run("wait-for never").catch((error: unknown) => error);
  expect(await server.read(display("y"))).toEqual(["y"]);
  expect(await stuck).toMatchObject({ code: "TMUX_UNAVAILABLE", message: expect.stringContaining("in time") });
}, 60_000);

test("the end of the server is reported, and a socket left behind is no server", async () => {
  await using tmux = await privateTmux();
  const told = Promise.withResolvers<boolean>();
  await using server = new TmuxServer({ ...tmux, onResync: told.resolve });
  expect(await server.alive()).toBe(true);
  const { pid } = await server.identity();
  process.kill(pid, "SIGKILL");
  expect(await told.promise).toBe(false);
  expect(existsSync(tmux.socketPath)).toBe(true);
  expect(await server.alive()).toBe(false);
  await expect(server.run(display("x"))).rejects.toMatchObject({ code: "TMUX_UNAVAILABLE" });
});

test("no server, no tmux and an old tmux each say what to do", async () => {
  await using tmux = await privateTmux({ session: null });
  await using none = new TmuxServer(tmux);
  expect(await none.alive()).toBe(false);
  expect((await none.version()).major).toBeGreaterThanOrEqual(3);
  await expect(none.run(display("x"))).rejects.toMatchObject({ code: "TMUX_UNAVAILABLE" });

  await using missing = new TmuxServer({ ...tmux, program: "tmux-that-is-not-there" });
  await expect(missing.run(display("x"))).rejects.toMatchObject({
    code: "TMUX_UNAVAILABLE",
    remedy: expect.stringContaining("apt-get install tmux"),
  });

  const printing =
    (stdout: string): Exec =>
    async () => ({ code: 0, stdout, stderr: "" });
  await using old = new TmuxServer({ ...tmux, exec: printing("tmux 3.1c\n") });
  await expect(old.version()).rejects.toThrow("tmux 3.1c is too old: 3.2 or newer is needed");
  for (const text of ["3.2", "3.7b", "next-3.8", "master", "4.0"]) {
    await using server = new TmuxServer({ ...tmux, exec: printing(`tmux ${text}\n`) });
    expect((await server.version()).text).toBe(text);
  }
});
