import { describe, expect, test } from "bun:test";
import { pageRoute } from "./route.ts";
import type { PageBundle } from "./bundle.ts";
import { PageSessions } from "./sessions.ts";
import { selfContained } from "../paneStream.ts";

const bundle: PageBundle = { assets: new Map([["main-1.js", { body: new Blob(["1"]), type: "text/javascript" }]]), scripts: ["main-1.js"], styles: [] };

function aPage(clock = () => 1_000_000) {
  const sessions = new PageSessions({ personToken: "secret", clock });
  const route = pageRoute(sessions, async () => bundle);
  const ask = (path: string, cookie = ""): Promise<Response> => {
    const url = `http://127.0.0.1:4000${path}`;
    return route(new Request(url, { headers: { host: "127.0.0.1:4000", cookie } }), new URL(url))!;
  };
  const open = async (): Promise<string> => (await ask(`/open?code=${sessions.newCode()}`)).headers.get("set-cookie")!.split(";")[0]!;
  return { sessions, ask, open };
}

describe("the page", () => {
  test("a link is worth a cookie once", async () => {
    const { sessions, ask } = aPage();
    const code = sessions.newCode();
    expect((await ask(`/open?code=${code}`)).headers.get("set-cookie")).toMatch(/^tieline_4000=\d+\.[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/);
    expect((await ask(`/open?code=${code}`)).status).toBe(401);
    expect((await ask("/open?code=guessed")).status).toBe(401);
  });

  test("a link is old after a minute, and a cookie after a week", async () => {
    let now = 1_000_000;
    const { sessions, ask, open } = aPage(() => now);
    const code = sessions.newCode();
    const cookie = await open();
    now += 61_000;
    expect((await ask(`/open?code=${code}`)).status).toBe(401);
    expect((await ask("/", cookie)).status).toBe(200);
    now += 7 * 24 * 3_600_000;
    expect((await ask("/", cookie)).status).toBe(401);
  });

  test("without the cookie there is nothing, and a forged one is none", async () => {
    const { ask, open } = aPage();
    const cookie = await open();
    const [name, value] = cookie.split("=");
    const forged = ["", `${name}=`, `${name}=9999999999999.${value!.split(".")[1]}`, `tieline_4001=${value}`, `${cookie}0`];
    for (const one of forged) for (const path of ["/", "/assets/main-1.js"]) expect((await ask(path, one)).status).toBe(401);
    expect((await ask("/assets/main-1.js", cookie)).headers.get("cache-control")).toContain("immutable");
    expect((await ask("/assets/elsewhere.js", cookie)).status).toBe(400);
  });

  test("another daemon of the same home knows the cookie", async () => {
    const cookie = await aPage().open();
    expect((await aPage().ask("/", cookie)).status).toBe(200);
  });

  test("nothing inline, nobody's frame", async () => {
    const { ask, open } = aPage();
    const policy = (await ask("/", await open())).headers.get("content-security-policy")!;
    expect(policy).toStartWith("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
  });
});

test("a row of a pane says its own style", () => {
  expect(selfContained(["\x1b[1m\x1b[31mred", "still", "\x1b[0mplain \x1b[32mgreen\x1b[m", "none"])).toEqual(["\x1b[1m\x1b[31mred", "\x1b[1m\x1b[31mstill", "\x1b[1m\x1b[31m\x1b[0mplain \x1b[32mgreen\x1b[m", "none"]);
});
