import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../testing/until.ts";
import { hookPlaceIn, layHookPlace, raiseFlag } from "./place.ts";
import { watchSpool, type SpooledCall } from "./spool.ts";

/** A home with its hook programs, and a client that writes down what it was called with. */
async function aHome({ daemon = true } = {}) {
  const home = mkdtempSync(join(tmpdir(), "tl-it's "));
  const place = hookPlaceIn(home);
  const tieline = join(home, "tieline");
  writeFileSync(tieline, `#!/bin/sh\necho '{"answer":"of the client"}'\necho "$@" >'${home.replaceAll("'", `'\\''`)}/called'\n`, { mode: 0o700 });
  const socket = join(home, "daemon.sock");
  layHookPlace(place, { socket, tieline });
  const server = createServer();
  if (daemon) await new Promise<void>((listening) => server.listen(socket, listening));
  return {
    home,
    place,
    async hook(event: string, payload: object, env: Record<string, string> = {}) {
      const child = Bun.spawn([place.hook, "claude-code", event], {
        env: { PATH: process.env["PATH"]!, TMUX: "/tmp/tmux.sock,1,2", TMUX_PANE: "%3", CLAUDE_PID: "77", ...env },
        stdin: new Blob([JSON.stringify(payload)]),
        stdout: "pipe",
      });
      return { code: await child.exited, stdout: await new Response(child.stdout).text() };
    },
    [Symbol.dispose]() {
      server.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

const payload = { session_id: "s-1", hook_event_name: "PostToolUse", text: "x".repeat(300_000) };

async function firstOf(folder: string): Promise<SpooledCall> {
  const stop = new AbortController();
  const found = Promise.withResolvers<SpooledCall>();
  const watching = watchSpool({ folder, take: async (call) => found.resolve(call), report: (_, fault) => found.reject(fault), signal: stop.signal });
  const call = await found.promise;
  stop.abort();
  await watching;
  return call;
}

test("without mail a hook leaves its call in the spool and says nothing", async () => {
  using home = await aHome();
  const spooled = firstOf(home.place.spool);
  expect(await home.hook("PostToolUse", payload, { CLAUDE_CODE_SESSION_ID: "s-1" })).toEqual({ code: 0, stdout: "" });
  expect(await spooled).toEqual({ provider: "claude-code", payload, caller: { tmuxSocket: "/tmp/tmux.sock", pane: "%3", pid: 77 } });
  expect(readdirSync(home.place.spool)).toEqual([]);
});

test("calls are taken in the order in which they ended, whatever the files are called", async () => {
  using home = await aHome();
  const { spool } = home.place;
  const names = Array.from({ length: 40 }, (_, i) => String((i * 7_919) % 10_007));
  names.forEach((name, i) => {
    writeFileSync(join(spool, `${name}.call`), `codex\t\t\t\n{"number":${i}}`);
    writeFileSync(join(spool, `${name}.done`), "");
    utimesSync(join(spool, `${name}.done`), 1_000, 1_000 + i / 1_000);
  });
  const taken: unknown[] = [];
  const stop = new AbortController();
  const take = async ({ payload: call }: SpooledCall): Promise<void> => {
    if (taken.push((call as { number: number }).number) === names.length) stop.abort();
  };
  await watchSpool({ folder: spool, take, report: (_, fault) => expect(fault).toBe(null), signal: stop.signal });
  expect(taken).toEqual(names.map((_, i) => i));
});

test("with mail the client answers, whether the session is in the environment or only in the payload", async () => {
  using home = await aHome();
  raiseFlag(home.place, "s-1", true);
  for (const env of [{ CLAUDE_CODE_SESSION_ID: "s-1" }, {}]) {
    expect(await home.hook("PostToolUse", payload, env)).toEqual({ code: 0, stdout: '{"answer":"of the client"}\n' });
    expect(readFileSync(join(home.home, "called"), "utf8")).toStartWith(`hook ${home.place.spool}/`);
  }
  raiseFlag(home.place, "s-1", false);
  expect((await home.hook("PostToolUse", payload)).stdout).toBe("");
});

test("without a daemon only the start of a session is written down", async () => {
  using home = await aHome({ daemon: false });
  expect((await home.hook("PostToolUse", payload)).code).toBe(0);
  expect(readdirSync(home.place.spool)).toEqual([]);
  expect((await home.hook("SessionStart", payload)).code).toBe(0);
  expect(readdirSync(home.place.spool)).toHaveLength(2);
});

test("a home that is gone, or a session id that is no file name, does not stop the agent", async () => {
  using home = await aHome();
  expect(await home.hook("PostToolUse", { ...payload, session_id: "../../etc" })).toEqual({ code: 0, stdout: "" });
  rmSync(home.place.spool, { recursive: true });
  expect((await home.hook("PostToolUse", payload)).code).toBe(0);
});

test("a waiter ends with 2 and the text of the mail; one that is not alone leaves it to the other", async () => {
  using home = await aHome();
  const bell = join(home.place.bells, "s-1");
  const wait = () => Bun.spawn([home.place.wait], { env: { PATH: process.env["PATH"]!, CLAUDE_CODE_SESSION_ID: "s-1" }, stdin: "ignore", stderr: "pipe" });
  const first = wait();
  await until(() => existsSync(`${bell}.pid`), "the waiter to listen");
  expect(await wait().exited).toBe(0);
  const ring = (...words: string[]) => Bun.spawn(["sh", "-c", 'printf "%s\\n" "$@" >"$0"', bell, ...words]).exited;
  await ring("no-such-mail");
  writeFileSync(join(home.place.bells, "s-1.mail.7"), "two\nlines 'quoted'");
  // One behind the other, before the waiter has looked for the first.
  await ring("no-such-mail", "neither", "s-1.mail.7");
  expect(await first.exited).toBe(2);
  expect(await new Response(first.stderr).text()).toBe("two\nlines 'quoted'");
  expect(readdirSync(home.place.bells)).toEqual(["s-1"]);
});
