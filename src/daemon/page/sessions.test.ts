import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, type Client } from "../../client/client.ts";
import { linkIn } from "../../client/pageProtocol.ts";
import { problem } from "../http.ts";
import { asTielineError } from "../../model/errors.ts";
import { pageAt, type TestPage } from "../../testing/pageSession.ts";
import { LoginCodes } from "./codes.ts";
import { deviceName } from "./deviceName.ts";
import { ReplayWindow } from "./replayWindow.ts";
import { pageRoute } from "./route.ts";
import { PageSessions } from "./sessions.ts";

const port = 4000;
const dayMs = 24 * 3_600_000;

/** A daemon's part of the sessions, with clocks that the test sets. */
function aBoot(directory: string, faults: string[] = []) {
  const times = { clock: 1_800_000_000_000, now: 0 };
  const sessions = new PageSessions({
    directory,
    userToken: "secret",
    ports: () => new Set([port]),
    clock: () => times.clock,
    now: () => times.now,
    told: () => undefined,
    report: (context, fault) => void faults.push(`${context}: ${asTielineError(fault).message}`),
  });
  const route = pageRoute(sessions, { report: (context, fault) => void faults.push(`${context}: ${String(fault)}`) });
  const send = async (url: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers);
    headers.set("host", new URL(url).host);
    const request = new Request(url, { ...init, headers });
    const entered = route(request, new URL(url), { admit: () => undefined });
    if (entered) return entered;
    return sessions.admit(request, new URL(url)).then(
      ({ request: admitted }) => Response.json({ as: admitted.headers.get("authorization") }),
      (thrown: unknown) => problem(asTielineError(thrown)),
    );
  };
  const link = () => sessions.link({ port, byAddress: false, fileIn: null }).url;
  return { sessions, times, send, link };
}

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tl-sessions-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** The line to whichever daemon runs now. */
interface Line {
  send: (url: string, init: RequestInit) => Promise<Response>;
}

async function signIn(boot: ReturnType<typeof aBoot>, line: Line = boot): Promise<TestPage> {
  const url = boot.link();
  const page = pageAt(new URL(url).origin, { send: (target, init) => line.send(target, init) });
  await page.session.signIn(linkIn(new URL(url).hash)!);
  return page;
}

const clientOf = ({ origin, session }: TestPage): Client => createClient({ url: origin, fetch: session.fetch }, {});
const works = async (page: TestPage): Promise<boolean> =>
  clientOf(page)
    .call("whoami", {})
    .then(
      () => true,
      () => false,
    );

describe("a restart of the daemon", () => {
  test("an open tab keeps working; a page that is loaded after it does not", async () => {
    const first = aBoot(directory);
    const line: Line = { send: first.send };
    const tab = await signIn(first, line);
    expect(await works(tab)).toBe(true);
    line.send = aBoot(directory).send;
    expect(await works(tab)).toBe(true);
    const reloaded = pageAt(tab.origin, { store: tab.store, send: (url, init) => line.send(url, init) });
    await expect(clientOf(reloaded).call("whoami", {})).rejects.toMatchObject({
      code: "SESSION_EXPIRED",
      message: "the daemon was restarted after this browser signed in",
    });
  });

  test("what was sent before it is worth nothing after it", async () => {
    const first = aBoot(directory);
    const tab = await signIn(first);
    await works(tab);
    const { url, request } = tab.sent.at(-1)!;
    const second = aBoot(directory);
    expect((await second.send(url, request)).status).toBe(401);
    expect(((await (await second.send(url, request)).json()) as { operands: object }).operands).toEqual({
      reason: "boot",
    });
  });

  test("the page is at another name, and links of before are void", async () => {
    const first = aBoot(directory);
    const before = first.link();
    const second = aBoot(directory);
    expect(new URL(second.link()).host).not.toBe(new URL(before).host);
    await expect(
      pageAt(new URL(before).origin, { send: second.send }).session.signIn(linkIn(new URL(before).hash)!),
    ).rejects.toMatchObject({ code: "SESSION_EXPIRED" });
  });

  test("the device is listed as dormant until its open tab is used", async () => {
    const first = aBoot(directory);
    const line: Line = { send: first.send };
    const tab = await signIn(first, line);
    expect(first.sessions.devices.list()).toMatchObject([{ state: "active" }]);
    const second = aBoot(directory);
    line.send = second.send;
    expect(second.sessions.devices.list()).toMatchObject([{ state: "dormant" }]);
    expect(await works(tab)).toBe(true);
    expect(second.sessions.devices.list()).toMatchObject([{ state: "active" }]);
  });

  test("a daemon with another key is a stranger to an open tab", async () => {
    const first = aBoot(directory);
    const line: Line = { send: first.send };
    const tab = await signIn(first, line);
    writeFileSync(join(directory, "daemon.key"), "");
    line.send = aBoot(directory).send;
    const before = tab.sent.length;
    tab.session.distrust();
    await expect(clientOf(tab).call("whoami", {})).rejects.toMatchObject({
      code: "DAEMON_UNAVAILABLE",
      operands: { stranger: true },
    });
    expect(tab.sent.slice(before).map(({ url }) => new URL(url).pathname)).toEqual(["/page/hello"]);
  });

  test("damaged devices do not sign in, and say so", async () => {
    await signIn(aBoot(directory));
    writeFileSync(join(directory, "devices.json"), readFileSync(join(directory, "devices.json"), "utf8").slice(0, 40));
    const faults: string[] = [];
    const second = aBoot(directory, faults);
    expect(second.sessions.devices.list()).toEqual([]);
    expect(faults).toHaveLength(1);
  });
});

describe("a stranger at the port", () => {
  test.each([
    ["an error", () => Response.json({ code: "SESSION_EXPIRED" }, { status: 401 })],
    ["something else", () => new Response("<html>")],
    ["nothing", () => Response.json(null)],
    [
      "a text without an end",
      () =>
        new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1024).fill(32)) })),
    ],
  ])("that answers with %s is sent nothing but a random number", async (_, answer) => {
    const boot = aBoot(directory);
    const line: Line = { send: boot.send };
    const tab = await signIn(boot, line);
    tab.session.distrust();
    line.send = async () => answer();
    const before = tab.sent.length;
    await expect(clientOf(tab).call("send", { to: "ana", body: "secret" })).rejects.toMatchObject({
      code: "DAEMON_UNAVAILABLE",
      operands: { stranger: true },
    });
    expect(
      tab.sent.slice(before).map(({ request }) => Object.keys(JSON.parse(String(request.body)) as object)),
    ).toEqual([["nonce"]]);
    line.send = boot.send;
    expect(await works(tab)).toBe(true);
  });

  test("cannot pass on the proof of a daemon that is at another port", async () => {
    const boot = aBoot(directory);
    const url = boot.link().replace(`:${port}/`, ":4001/");
    const relayed = pageAt(new URL(url).origin, { send: boot.send });
    await expect(relayed.session.signIn(linkIn(new URL(url).hash)!)).rejects.toMatchObject({
      operands: { stranger: true },
    });
  });

  test("cannot answer with a hello that was given to another nonce", async () => {
    const boot = aBoot(directory);
    const line: Line = { send: boot.send };
    const tab = await signIn(boot, line);
    const old = await (await boot.send(`${tab.origin}/page/hello`, tab.sent[0]!.request)).json();
    tab.session.distrust();
    line.send = async () => Response.json(old);
    expect(await works(tab)).toBe(false);
  });
});

describe("time", () => {
  test("a request that comes half a minute late is refused", async () => {
    const boot = aBoot(directory);
    const tab = await signIn(boot);
    const held = pageAt(tab.origin, {
      store: tab.store,
      send: async (url, init) => (url.includes("/v1/") ? Response.json({}) : boot.send(url, init)),
    });
    await works(held);
    const { url, request } = held.sent.at(-1)!;
    boot.times.now += 31_000;
    expect((await boot.send(url, request)).status).toBe(401);
  });

  test("a device that was not used for a week is forgotten", async () => {
    const boot = aBoot(directory);
    const tab = await signIn(boot);
    boot.sessions[Symbol.dispose]();
    const later = aBoot(directory);
    expect(later.sessions.devices.list()).toHaveLength(1);
    boot.times.clock += 8 * dayMs;
    const link = boot.link();
    await pageAt(new URL(link).origin, { send: boot.send }).session.signIn(linkIn(new URL(link).hash)!);
    expect(boot.sessions.devices.list()).toHaveLength(1);
    expect(await works(tab)).toBe(false);
  });

  test("an open tab keeps working when the time of day jumps", async () => {
    const boot = aBoot(directory);
    const tab = await signIn(boot);
    boot.times.clock -= 3_600_000;
    expect(await works(tab)).toBe(true);
    boot.times.clock += 2 * 3_600_000;
    expect(await works(tab)).toBe(true);
  });

  test("a code is old after a minute, is dropped for newer ones, and says when it is over", () => {
    let now = 0;
    const over: string[] = [];
    const codes = new LoginCodes({ now: () => now });
    const { id } = codes.create("http://a", () => over.push("first"));
    now = 60_001;
    expect(codes.redeem(id, "http://a", "text", "proof")).toBe(false);
    for (let at = 0; at < 16; at++) codes.create("http://a");
    expect(over).toEqual(["first"]);
    codes.clear();
  });
});

test("numbers of requests are accepted once, in nearly any order", () => {
  const window = new ReplayWindow(4);
  expect([1, 3, 2, 2, 6, 3, 4, 2, 1, 5, 6, 7].map((number) => window.accept(number))).toEqual([
    true,
    true,
    true,
    false,
    true,
    false,
    true,
    false,
    false,
    true,
    false,
    true,
  ]);
});

test("a device is named by words of our own", () => {
  const blink = "AppleWebKit/537.36 (KHTML, like Gecko)";
  const webKit = "AppleWebKit/605.1.15 (KHTML, like Gecko)";
  const named = {
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36":
      "Chrome on Linux",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/156.0.0.0 Safari/537.36":
      "Chrome on Linux",
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${blink} Chrome/156.0.0.0 Safari/537.36 Edg/156.0.0.0`]:
      "Edge on Windows",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:150.0) Gecko/20100101 Firefox/150.0": "Firefox on macOS",
    [`Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${webKit} Version/18.0 Mobile/15E148 Safari/604.1`]:
      "Safari on iPhone",
    "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile Safari/537.36":
      "Chrome on Android",
    "\x1b]0;evil\x07": "A browser on an unknown system",
  };
  for (const [userAgent, name] of Object.entries(named)) expect(deviceName(userAgent)).toBe(name);
});
