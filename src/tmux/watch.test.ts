import { expect, test } from "bun:test";
import { join } from "node:path";
import { rawSinkPath } from "../testing/rawSink.ts";
import { privateTmux } from "../testing/tmux.ts";
import { BracketedPasteScanner } from "./bracketedPaste.ts";
import { TmuxServer } from "./server.ts";
import { newWindow } from "./session.ts";
import { type SessionChange, type WatchedFacts, watchSession } from "./watch.ts";

/** Collects changes and hands out the first that fits, past or to come. */
function changes() {
  const seen: SessionChange[] = [];
  let wake = () => {};
  async function first<C extends SessionChange>(fits: (change: SessionChange) => change is C): Promise<C> {
    for (;;) {
      const found = seen.find(fits);
      if (found) return found;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  return {
    seen,
    first,
    onChange(change: SessionChange) {
      seen.push(change);
      wake();
    },
  };
}

type Of<T extends SessionChange["type"]> = Extract<SessionChange, { type: T }>;

test("output and bracketed paste of every pane of the session, and of no other", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  await tmux.tmux("new-session", "-d", "-s", "other", "cat");
  const log = changes();
  await using watch = await watchSession(server, "main", log.onChange);
  const command = [process.execPath, rawSinkPath, join(tmux.dir, "sink")];
  const { pane } = await newWindow(server, { session: "main", name: "w", command });
  await tmux.tmux("send-keys", "-t", "=other:", "elsewhere", "Enter");
  const paste = await log.first((change): change is Of<"bracketedPaste"> => change.type === "bracketedPaste");
  expect(paste).toEqual({ type: "bracketedPaste", pane, on: true });
  expect(watch.bracketedPaste(pane)).toBe(true);
  expect(watch.bracketedPaste("%0")).toBeUndefined();
  const output = log.seen.filter((change): change is Of<"output"> => change.type === "output");
  expect(Buffer.concat(output.map(({ bytes }) => bytes)).toString()).toContain("ready");
  expect(new Set(output.map((change) => change.pane))).toEqual(new Set([pane]));
  expect(log.seen.some(({ type }) => type === "layout")).toBe(true);
});

test("neither a watcher nor our client for commands changes the size of a window", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  await server.run([["display-message", "-p", "x"]]);
  const log = changes();
  await using _watch = await watchSession(server, "main", log.onChange);
  await log.first((change): change is Of<"facts"> => change.type === "facts");
  expect(await tmux.tmux("list-clients", "-F", "#{client_control_mode}")).toBe("1\n1");
  expect(await tmux.tmux("display-message", "-p", "-t", "%0", "#{window_width} × #{window_height}")).toBe("100 × 30");
}, 20_000);

test("mode, command and the exit of a program are reported when they change, also in later windows", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  await tmux.tmux("set-option", "-g", "remain-on-exit", "on");
  const log = changes();
  await using _watch = await watchSession(server, "main", log.onChange);
  const about = (pane: string, wanted: Partial<WatchedFacts>) =>
    log.first(
      (c): c is Of<"facts"> =>
        c.type === "facts" &&
        c.pane === pane &&
        Object.entries(wanted).every(([fact, value]) => c.facts[fact as keyof WatchedFacts] === value),
    );
  await about("%0", { dead: false, currentCommand: "cat" });
  await tmux.tmux("copy-mode", "-t", "%0");
  expect(await log.first((c): c is Of<"mode"> => c.type === "mode")).toEqual({ type: "mode", pane: "%0" });
  const later = await newWindow(server, {
    session: "main",
    name: "later",
    command: ["sh", "-c", "read line; exec tail -f /dev/null"],
  });
  await about(later.pane, { currentCommand: "sh" });
  await tmux.tmux("send-keys", "-t", later.pane, "Enter");
  await about(later.pane, { currentCommand: "tail" });
  await tmux.tmux("send-keys", "-t", later.pane, "C-c");
  await about(later.pane, { dead: true });
  expect(log.seen.filter((c) => c.type === "facts" && c.pane === "%0")).toHaveLength(1);
}, 20_000);

test("a session that ends takes nothing with it, however long its watcher takes to leave", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  await tmux.tmux("new-session", "-d", "-s", "short", "cat");
  const { pid } = await server.identity();
  const log = changes();
  await using _watch = await watchSession(server, "short", log.onChange);
  const facts = () => log.seen.filter(({ type }) => type === "facts").length;
  await log.first((c): c is Of<"facts"> => c.type === "facts");
  const watcher = Number(await tmux.tmux("list-clients", "-t", "=short", "-F", "#{client_pid}"));
  process.kill(watcher, "SIGSTOP");
  try {
    await tmux.tmux("kill-session", "-t", "=short");
    // tmux looks at subscriptions once a second; a second watcher tells when it has done so.
    const other = changes();
    await using _other = await watchSession(server, "main", other.onChange);
    await other.first((c): c is Of<"facts"> => c.type === "facts");
    await newWindow(server, { session: "main", name: "more", command: ["cat"] });
    await other.first((c): c is Of<"facts"> => c.type === "facts" && c.pane !== "%0");
  } finally {
    process.kill(watcher, "SIGCONT");
  }
  await log.first((c): c is Of<"ended"> => c.type === "ended");
  expect((await server.identity()).pid).toBe(pid);
  expect(facts()).toBe(1);
}, 20_000);

test("the end of the session is reported once, a close of ours is not", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  await tmux.tmux("new-session", "-d", "-s", "short", "cat");
  const [ended, closed] = [changes(), changes()];
  const first = await watchSession(server, "short", ended.onChange);
  const second = await watchSession(server, "main", closed.onChange);
  await tmux.tmux("kill-session", "-t", "=short");
  await ended.first((c): c is Of<"ended"> => c.type === "ended");
  await first.close();
  await second.close();
  await second.close();
  expect(ended.seen.filter(({ type }) => type === "ended")).toHaveLength(1);
  expect(closed.seen.some(({ type }) => type === "ended")).toBe(false);
});

test("a watch does not follow its client to another session", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  await tmux.tmux("set-option", "-g", "detach-on-destroy", "off");
  await tmux.tmux("new-session", "-d", "-s", "short", "cat");
  const log = changes();
  await using _watch = await watchSession(server, "short", log.onChange);
  await tmux.tmux("kill-session", "-t", "=short");
  await log.first((c): c is Of<"ended"> => c.type === "ended");
});

test("requests for bracketed paste are found wherever the chunks are cut", () => {
  const output = Buffer.from("text\x1b[?1049;2004hmore\x1b[?25l");
  for (let at = 0; at <= output.length; at++) {
    const scanner = new BracketedPasteScanner();
    scanner.scan(output.subarray(0, at));
    scanner.scan(output.subarray(at));
    expect(scanner.on).toBe(true);
    expect(scanner.scan(Buffer.from("\x1b[?2004l"))).toBe(true);
    expect(scanner.on).toBe(false);
  }
  const reset = new BracketedPasteScanner();
  reset.scan(Buffer.from("\x1b[?2004h\x1bc"));
  expect(reset.on).toBe(false);
  expect(new BracketedPasteScanner().scan(Buffer.from("[?2004h \x1b[?20041h"))).toBe(false);
});

test("watchers that leave while panes print take nothing with them", async () => {
  const printing = ["sh", "-c", "while :; do head -c 5000 /dev/zero | tr '\\0' x; done"];
  await using owned = await privateTmux({ command: printing });
  await using server = new TmuxServer({ socketPath: owned.socketPath, env: owned.env });
  const { pid } = await server.identity();
  for (let more = 0; more < 5; more++) await newWindow(server, { session: "main", name: "more", command: printing });
  for (let round = 0; round < 60; round++) {
    const printed = Promise.withResolvers<void>();
    const watch = await watchSession(server, "main", ({ type }) => type === "output" && printed.resolve());
    await printed.promise;
    await watch.close();
  }
  expect((await server.identity()).pid).toBe(pid);
}, 60_000);

test("a pane that prints without end is read now and then, and its end is reported", async () => {
  const megabytes = 40;
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  let heard = 0;
  let told = Promise.withResolvers<void>();
  await using _watch = await watchSession(server, "main", (change) => {
    if (change.type !== "output") return;
    heard += change.bytes.length;
    told.resolve();
  });
  const script = `head -c ${megabytes}000000 /dev/zero | tr '\\0' x; echo; echo the end; exec cat`;
  const { pane } = await newWindow(server, { session: "main", name: "loud", command: ["sh", "-c", script] });
  for (let screen = ""; !screen.includes("the end"); screen = await tmux.tmux("capture-pane", "-p", "-t", pane)) {
    await told.promise;
    told = Promise.withResolvers();
  }
  expect(heard).toBeGreaterThan(0);
  expect(heard).toBeLessThan((megabytes * 1e6) / 2);
}, 90_000);
