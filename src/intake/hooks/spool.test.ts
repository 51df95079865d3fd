import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plantBunSettings } from "../../testing/bunSettings.ts";
import { until } from "../../testing/until.ts";
import { flagEvents } from "../../delivery/transports/hook/flags.ts";
import { hookPlaceIn, layHookPlace } from "./place.ts";
import { Spool, type SpooledCall } from "./spool.ts";
import { resultOf } from "../../testing/childResult.ts";

const payload = { session_id: "s-1", hook_event_name: "PostToolUse", text: "x".repeat(300_000) };
const answer = { answer: "of the daemon" };

/** A home with its hook programs, and a daemon that answers every question and notes what it was asked. */
function aHome({ daemon = true, answers = true } = {}) {
  const home = mkdtempSync(join(tmpdir(), "tl-it's "));
  const place = hookPlaceIn(home);
  const socket = join(home, "daemon.sock");
  layHookPlace(place, { socket, bun: process.execPath });
  const asked: { path: string; body: unknown; token: string | null }[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    asked.push({
      path: new URL(request.url).pathname,
      body: await request.json(),
      token: request.headers.get("authorization"),
    });
    return answers ? Response.json({ answer, receipt: "r-1", known: true }) : new Response("no", { status: 500 });
  };
  const server = daemon ? Bun.serve({ unix: socket, fetch }) : null;
  return {
    home,
    place,
    asked,
    spool: () => readdirSync(place.spool).toSorted(),
    async hook(event: string, stdin: string, env: Record<string, string> = {}, provider = "claude-code") {
      const child = Bun.spawn([place.hook, provider, event], {
        env: { PATH: process.env["PATH"]!, TMUX: "/tmp/tmux.sock,1,2", TMUX_PANE: "%3", CLAUDE_PID: "77", ...env },
        stdin: new Blob([stdin]),
        stdout: "pipe",
        stderr: "pipe",
      });
      return resultOf(child);
    },
    [Symbol.dispose]() {
      void server?.stop(true);
      rmSync(home, { recursive: true, force: true });
    },
  };
}

const silent = { code: 0, stdout: "", stderr: "" };
const answered = { ...silent, stdout: `${JSON.stringify(answer)}\n` };
const inEnvironment = { CLAUDE_CODE_SESSION_ID: "s-1" };
const text = (change: object = {}): string => JSON.stringify({ ...payload, ...change });

const ends = new Set<AbortController>();
afterEach(() => ends.forEach((end) => end.abort()));

/** Takes calls until so many have come. */
async function taken(folder: string, count: number): Promise<SpooledCall[]> {
  const calls: SpooledCall[] = [];
  const end = new AbortController();
  ends.add(end);
  const take = async (call: SpooledCall): Promise<void> => {
    if (calls.push(call) === count) end.abort();
  };
  await new Spool({ folder, take, report: (context, fault) => expect([context, fault]).toEqual([]) }).watch(end.signal);
  return calls;
}

describe("without mail", () => {
  test.each([
    ["the session in the environment", "claude-code", inEnvironment],
    ["the session in the payload", "claude-code", {}],
    ["another program", "codex", {}],
  ])("a hook leaves its call in the spool and says nothing: %s", async (_, provider, env) => {
    using home = aHome();
    for (const event of ["PreToolUse", "PostToolUse"]) {
      const spooled = taken(home.place.spool, 1);
      expect(await home.hook(event, text(), env, provider)).toEqual(silent);
      const pid = provider === "codex" ? process.pid : 77;
      expect(await spooled).toEqual([
        { provider, payload, takesAll: false, caller: { tmuxSocket: "/tmp/tmux.sock", pane: "%3", pid } },
      ]);
    }
    expect(home.spool()).toEqual([]);
    expect(home.asked).toEqual([]);
  });

  test("takes a payload with any legal spacing, or without a usable session", async () => {
    using home = aHome();
    const odd = [
      JSON.stringify(payload, null, 2),
      `{ "session_id" : "s-1" }`,
      `{"session_id": "s-1"}`,
      `{"session_id"\n:\n\t"s-1"\n}`,
      `{"session_id":7}`,
      `{"session_id":"../../etc"}`,
      "{}",
    ];
    for (const one of odd) expect(await home.hook("PostToolUse", one)).toEqual(silent);
    expect((await taken(home.place.spool, odd.length)).map((call) => JSON.stringify(call.payload)).toSorted()).toEqual(
      odd.map((one) => JSON.stringify(JSON.parse(one))).toSorted(),
    );
    expect(home.spool()).toEqual([]);
  });

  test("without a daemon, spools only the start of a session", async () => {
    using home = aHome({ daemon: false });
    expect(await home.hook("PostToolUse", text())).toEqual(silent);
    expect(home.spool()).toEqual([]);
    expect(await home.hook("SessionStart", text())).toEqual(silent);
    expect(home.spool()).toHaveLength(2);
  });

  test("a home that is gone does not stop the agent", async () => {
    using home = aHome();
    rmSync(home.place.spool, { recursive: true });
    for (const event of ["PreToolUse", "PostToolUse"])
      expect(await home.hook(event, text(), inEnvironment)).toEqual(silent);
  });
});

describe("with mail", () => {
  test("the daemon's answer is printed, and confirmed", async () => {
    using home = aHome();
    flagEvents(home.place, "s-1", ["PostToolUse", "PreToolUse"]);
    for (const [stdin, env] of [
      [text(), inEnvironment],
      [text(), {}],
      [JSON.stringify(payload, null, 2), {}],
      [`{"session_id"\n:\n\t"s-1", "hook_event_name": "Stop"}`, {}],
    ] as const) {
      for (const event of ["PostToolUse", "PreToolUse"]) {
        home.asked.length = 0;
        expect(await home.hook(event, stdin, { ...env, TIELINE_TOKEN: "secret" })).toEqual(answered);
        const [question, word] = home.asked;
        expect(question).toMatchObject({ path: "/v1/hook", token: "Bearer secret" });
        expect(home.spool()).toContain(`${(question!.body as { call: string }).call}.call`);
        expect(word).toMatchObject({ path: "/v1/hookWritten", body: { receipt: "r-1" } });
      }
    }
  });

  test("asks only for the named events", async () => {
    using home = aHome();
    flagEvents(home.place, "s-1", ["Stop", "UserPromptSubmit"]);
    expect(await home.hook("PreToolUse", text(), inEnvironment)).toEqual(silent);
    expect(await home.hook("Stop", text(), inEnvironment)).toEqual(answered);
    expect(await home.hook("Stop", text({ session_id: "s-2" }))).toEqual(silent);
    flagEvents(home.place, "s-1", []);
    expect(await home.hook("Stop", text(), inEnvironment)).toEqual(silent);
  });

  test("asks for Claude Code's SendMessage without mail", async () => {
    using home = aHome();
    const sending = text({ tool_name: "SendMessage", tool_input: { to: "bob" } });
    expect(await home.hook("PreToolUse", sending, inEnvironment)).toEqual(answered);
    expect(await home.hook("PreToolUse", sending, {}, "codex")).toEqual(silent);
  });

  test("a daemon that refuses or is gone leaves the call to the next one", async () => {
    using home = aHome({ answers: false });
    flagEvents(home.place, "s-1", ["PreToolUse"]);
    expect(await home.hook("PreToolUse", text(), inEnvironment)).toEqual(silent);
    expect(await taken(home.place.spool, 1)).toMatchObject([{ payload }]);
  });

  test("the settings for Bun in the agent's directory are not obeyed", async () => {
    using home = aHome();
    flagEvents(home.place, "s-1", ["PreToolUse"]);
    const project = join(home.home, "project");
    plantBunSettings(project);
    const child = Bun.spawn([home.place.hook, "claude-code", "PreToolUse"], {
      cwd: project,
      env: { PATH: process.env["PATH"]!, ...inEnvironment },
      stdin: new Blob([text()]),
      stdout: "pipe",
    });
    expect(await new Response(child.stdout).text()).toBe(answered.stdout);
  });
});

describe("the spool", () => {
  test("is taken in the order in which the hooks ended, whatever the files are called", async () => {
    using home = aHome();
    const { spool } = home.place;
    const names = Array.from({ length: 40 }, (_, i) => String((i * 7_919) % 10_007));
    names.forEach((name, i) => {
      writeFileSync(join(spool, `${name}.call`), `codex\t\t\t\n{"number":${i}}`);
      writeFileSync(join(spool, `${name}.done`), "");
      utimesSync(join(spool, `${name}.done`), 1_000, 1_000 + i / 1_000);
    });
    expect((await taken(spool, names.length)).map((call) => (call.payload as { number: number }).number)).toEqual(
      names.map((_, i) => i),
    );
  });

  test("a call is handled once, by the process that claims it first", async () => {
    using home = aHome();
    writeFileSync(join(home.place.spool, "7.call"), "codex\t\t\t\n{}");
    writeFileSync(join(home.place.spool, "7.done"), "");
    const calls: SpooledCall[] = [];
    const spool = new Spool({
      folder: home.place.spool,
      take: async (call) => void calls.push(call),
      report: (_, fault) => expect(fault).toBe(null),
    });
    expect(spool.claim("7")).toMatchObject({ provider: "codex", payload: {} });
    await spool.drain();
    expect(spool.claim("7")).toBeNull();
    expect(calls).toEqual([]);
  });

  test("continues after a missing folder, a payload that is not JSON, and abandoned calls", async () => {
    using home = aHome();
    const { spool: folder } = home.place;
    const end = new AbortController();
    ends.add(end);
    const calls: SpooledCall[] = [];
    const faults: string[] = [];
    rmSync(folder, { recursive: true });
    const watching = new Spool({
      folder,
      take: async (call) => void calls.push(call),
      report: (context) => void faults.push(context),
      sweepMs: 20,
    }).watch(end.signal);
    await until(() => existsSync(folder), "the missing folder to be made again");
    writeFileSync(join(folder, "1.call"), "codex\t\t\t\n{");
    writeFileSync(join(folder, "1.done"), "");
    writeFileSync(join(folder, "2.call"), "codex\t\t\t\n{}");
    utimesSync(join(folder, "2.call"), 1_000, 1_000);
    writeFileSync(join(folder, "3.call"), "codex\t\t\t\n{}");
    writeFileSync(join(folder, "3.done"), "");
    await until(() => home.spool().length === 0, "the spool to be empty");
    expect(calls).toHaveLength(1);
    expect(faults).toContain("a spooled hook call");
    end.abort();
    await watching;
  });
});

test("a waiter ends with 2 and the text of the mail; one that is not alone leaves it to the other", async () => {
  using home = aHome();
  const bell = join(home.place.bells, "s-1");
  const wait = () =>
    Bun.spawn([home.place.wait], {
      env: { PATH: process.env["PATH"]!, CLAUDE_CODE_SESSION_ID: "s-1" },
      stdin: "ignore",
      stderr: "pipe",
    });
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
