import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { linkIn } from "../../client/pageProtocol.ts";
import { createClient, type Client } from "../../client/client.ts";
import type { Input, OperationName } from "../../api/schema.ts";
import { streamEvents } from "../../client/stream.ts";
import { startTestDaemon, type TestDaemon } from "../../testing/daemon.ts";
import { openLink, pageAt, type TestPage } from "../../testing/pageSession.ts";
import { selfContained } from "../paneStream.ts";

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon[Symbol.asyncDispose]());

const clientOf = ({ origin, session }: TestPage): Client => createClient({ url: origin, fetch: session.fetch }, {});
const linkOf = (url: string) => linkIn(new URL(url).hash)!;
const expired = { code: "SESSION_EXPIRED" };

describe("the shell", () => {
  test("is served to everyone, without data, with a strict policy", async () => {
    const response = await fetch(daemon.url);
    expect(response.status).toBe(200);
    const policy = response.headers.get("content-security-policy")!;
    expect(policy).toContain("default-src 'none'; script-src 'self'; connect-src 'self'");
    for (const rule of [
      "worker-src 'none'",
      "frame-ancestors 'none'",
      "form-action 'none'",
      "style-src 'self' 'nonce-",
    ])
      expect(policy).toContain(rule);
    expect(policy).not.toContain("unsafe");
    expect(response.headers.get("set-cookie")).toBeNull();
    const html = await response.text();
    expect(html).not.toMatch(/<script>|<style|\son\w+=/);
    expect(html).not.toContain(daemon.userToken);
  });

  test("names the digest of every script, also of those that are used later", async () => {
    const html = await (await fetch(daemon.url)).text();
    const scripts = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+\.(?:js|css))" integrity="(sha256-[^"]+)"/g)];
    expect(scripts.length).toBeGreaterThanOrEqual(3);
    for (const [, path, integrity] of scripts) {
      const bytes = await (await fetch(`${daemon.url}${path}`)).arrayBuffer();
      expect(`sha256-${new Bun.CryptoHasher("sha256").update(bytes).digest("base64")}`).toBe(integrity!);
    }
    expect((await fetch(`${daemon.url}/assets/elsewhere.js`)).status).toBe(400);
  });

  test("is at names below localhost, and at no other name", async () => {
    const statusFor = (host: string): Promise<number> =>
      fetch(daemon.url, { headers: { host } }).then(({ status }) => status);
    const port = new URL(daemon.url).port;
    expect(await statusFor(`tieline-1.localhost:${port}`)).toBe(200);
    expect(await statusFor(`evil.example:${port}`)).toBe(403);
    expect(await statusFor(`localhost.evil.example:${port}`)).toBe(403);
  });
});

describe("signing in", () => {
  test("a link signs one browser in, once", async () => {
    const { url } = await daemon.user.call("dash", {});
    const page = pageAt(new URL(url).origin);
    await page.session.signIn(linkOf(url));
    expect(await clientOf(page).call("whoami", {})).toMatchObject({ name: "user", kind: "user" });
    await expect(pageAt(page.origin).session.signIn(linkOf(url))).rejects.toMatchObject({
      ...expired,
      operands: { reason: "code" },
    });
  });

  test("the code is never sent", async () => {
    const { url } = await daemon.user.call("dash", {});
    const page = pageAt(new URL(url).origin);
    const { secret, fingerprint } = linkOf(url);
    await page.session.signIn(linkOf(url));
    const sent = page.sent
      .map(
        ({ url: target, request }) =>
          `${target} ${JSON.stringify([...new Headers(request.headers)])} ${String(request.body)}`,
      )
      .join("\n");
    expect(sent).not.toContain(secret);
    expect(sent).not.toContain(fingerprint);
  });

  test("a wrong code is refused, and after three tries the right one too", async () => {
    const { url } = await daemon.user.call("dash", {});
    const link = linkOf(url);
    const guess = { ...link, secret: link.secret.replace(/^./, (first) => (first === "A" ? "B" : "A")) };
    for (let tries = 0; tries < 3; tries++)
      await expect(pageAt(new URL(url).origin).session.signIn(guess)).rejects.toMatchObject(expired);
    await expect(pageAt(new URL(url).origin).session.signIn(link)).rejects.toMatchObject(expired);
  });

  test("a link works only at the origin that it names", async () => {
    const { url } = await daemon.user.call("dash", {});
    await expect(pageAt(daemon.url).session.signIn(linkOf(url))).rejects.toMatchObject(expired);
    const { url: plain } = await daemon.user.call("dash", { byAddress: true });
    expect(new URL(plain).origin).toBe(daemon.url);
    await pageAt(daemon.url).session.signIn(linkOf(plain));
  });

  test("a page that was given another daemon's fingerprint sends nothing but a random number", async () => {
    const { url } = await daemon.user.call("dash", {});
    const page = pageAt(new URL(url).origin);
    await expect(page.session.signIn({ ...linkOf(url), fingerprint: "A".repeat(43) })).rejects.toMatchObject({
      code: "DAEMON_UNAVAILABLE",
      operands: { stranger: true },
    });
    expect(page.sent.map(({ url: target }) => new URL(target).pathname)).toEqual(["/page/hello"]);
  });

  test("a reload continues with the stored key, without a link", async () => {
    const page = await openLink(daemon.user);
    const reloaded = pageAt(page.origin, { store: page.store });
    expect(await clientOf(reloaded).call("whoami", {})).toMatchObject({ name: "user" });
    await expect(clientOf(pageAt(page.origin)).call("whoami", {})).rejects.toMatchObject(expired);
  });

  test("only the user gets a link", async () => {
    const { client } = await daemon.agent("nosy");
    for (const name of ["dash", "devices", "preferences"] as const)
      await expect(client.call(name, {})).rejects.toMatchObject({ code: "NOT_PERMITTED" });
    await expect(client.call("devicesRevoke", { all: true })).rejects.toMatchObject({ code: "NOT_PERMITTED" });
    await expect(client.call("preferencesSet", { values: {} })).rejects.toMatchObject({ code: "NOT_PERMITTED" });
  });

  test("keys and devices are private files", async () => {
    expect(statSync(daemon.home.page).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(daemon.home.page))
      expect({ name, mode: statSync(join(daemon.home.page, name)).mode & 0o777 }).toEqual({ name, mode: 0o600 });
    expect(readFileSync(join(daemon.home.page, "daemon.key"), "utf8")).toStartWith("-----BEGIN PRIVATE KEY-----");
  });
});

describe("a link file", () => {
  test("is private, leads to the link, and is gone once the link was used", async () => {
    const { url, file } = await daemon.user.call("dash", { fileIn: daemon.home.page });
    expect(statSync(file!).mode & 0o777).toBe(0o600);
    expect(readFileSync(file!, "utf8")).toContain(`content="0;url=${url}"`);
    await pageAt(new URL(url).origin).session.signIn(linkOf(url));
    expect(readdirSync(daemon.home.page).filter((name) => name.endsWith(".html"))).toEqual([]);
  });
});

describe("a request", () => {
  const asSent = ({ sent }: TestPage, path: string) => sent.findLast(({ url }) => new URL(url).pathname === path)!;

  test("works once", async () => {
    const page = await openLink(daemon.user);
    await daemon.agent("once");
    await clientOf(page).call("send", { to: "once", body: "one of a kind" });
    const { url, request } = asSent(page, "/v1/send");
    const replayed = await fetch(url, request);
    expect([replayed.status, await replayed.json()]).toEqual([
      401,
      expect.objectContaining({ ...expired, operands: { reason: "replay" } }),
    ]);
    expect(await daemon.user.call("inbox", { agent: "once", peek: true })).toHaveLength(1);
  });

  /** A request that is signed and not sent. */
  async function unsent<Name extends OperationName>(
    name: Name,
    input: Input<Name>,
  ): Promise<TestPage["sent"][number] & { readonly origin: string }> {
    const { origin, store } = await openLink(daemon.user);
    const page = pageAt(origin, {
      store,
      send: async (url, request) => (url.includes("/v1/") ? Response.json({}) : fetch(url, request)),
    });
    await clientOf(page).call(name, input);
    return { ...asSent(page, `/v1/${name}`), origin };
  }

  const field = (at: number, to: string) => (value: string) => value.split(" ").with(at, to).join(" ");
  test.each([
    [
      "another body",
      (request: RequestInit) => ({ ...request, body: JSON.stringify({ to: "once", body: "forged" }) }),
      "body",
    ],
    [
      "another team",
      (request: RequestInit) => changed(request, "x-tieline-caller", () => encodeURIComponent('{"team":"other"}')),
      "signature",
    ],
    ["another tab", (request: RequestInit) => changed(request, "authorization", field(1, "AAAA")), "tab"],
    ["another boot", (request: RequestInit) => changed(request, "authorization", field(2, "AAAA")), "boot"],
    ["another number", (request: RequestInit) => changed(request, "authorization", field(3, "99")), "signature"],
    ["another clock", (request: RequestInit) => changed(request, "authorization", field(4, "999999999")), "clock"],
    [
      "another digest",
      (request: RequestInit) => changed(request, "authorization", field(5, "A".repeat(43))),
      "signature",
    ],
    [
      "another signature",
      (request: RequestInit) => changed(request, "authorization", field(6, "A".repeat(86))),
      "signature",
    ],
    ["an empty signature", (request: RequestInit) => changed(request, "authorization", field(6, "")), "tab"],
  ])("with %s is refused", async (_, change, reason) => {
    const { url, request } = await unsent("send", { to: "once", body: "as signed" });
    const response = await fetch(url, change(request));
    expect([response.status, await response.json()]).toEqual([
      401,
      expect.objectContaining({ ...expired, operands: { reason } }),
    ]);
  });

  test("for another path or query is refused", async () => {
    const { url, request } = await unsent("ls", { all: true });
    for (const other of [url.replace("/v1/ls", "/v1/teams"), url.replace("all=true", "all=false")])
      expect((await fetch(other, request)).status).toBe(401);
    expect((await fetch(url, request)).status).toBe(200);
  });

  test("of another origin is refused, also with a good signature", async () => {
    const { url, request, origin: own } = await unsent("collect", {});
    const from = (origin: string): Promise<number> => {
      const headers = new Headers(request.headers);
      headers.set("origin", origin);
      if (origin === "") headers.delete("origin");
      if (origin !== own) headers.delete("sec-fetch-site");
      return fetch(url, { ...request, headers }).then(({ status }) => status);
    };
    for (const origin of ["http://evil.example", "null", daemon.url, ""])
      expect({ origin, status: await from(origin) }).toEqual({ origin, status: 403 });
    expect(await from(own)).toBe(200);
  });

  test("is not sent while a service worker listens", async () => {
    const page = await openLink(daemon.user);
    let isIntercepted = false;
    const watched = pageAt(page.origin, { store: page.store, isIntercepted: () => isIntercepted });
    await clientOf(watched).call("whoami", {});
    const before = watched.sent.length;
    isIntercepted = true;
    await expect(clientOf(watched).call("send", { to: "user", body: "secret" })).rejects.toMatchObject(expired);
    expect(watched.sent.length).toBe(before);
  });

  test("of many at once each works", async () => {
    const page = await openLink(daemon.user);
    const answers = await Promise.all(Array.from({ length: 50 }, () => clientOf(page).call("whoami", {})));
    expect(answers).toHaveLength(50);
  });
});

describe("devices", () => {
  test("are listed with what the browser calls itself, and revoked at once, with their streams", async () => {
    await daemon.user.call("devicesRevoke", { all: true });
    const page = await openLink(daemon.user);
    const other = await openLink(daemon.user);
    const [listed] = (await daemon.user.call("devices", {})).filter(({ state }) => state === "active");
    expect(listed).toMatchObject({ name: "Chrome on Linux", scope: "full", state: "active" });
    const following = streamEvents({ url: page.origin, fetch: page.session.fetch }, {}, {});
    const next = following.next().then(
      () => "an event",
      (thrown: { code: string }) => thrown.code,
    );
    await clientOf(page).call("whoami", {});
    const id = (await page.store.load())!.id;
    await expect(daemon.user.call("devicesRevoke", { devices: ["nothing"] })).rejects.toMatchObject({
      code: "TARGET_NOT_FOUND",
    });
    expect((await daemon.user.call("devicesRevoke", { devices: [id] })).revoked.map((one) => one.id)).toEqual([id]);
    expect(await next).toBe("SESSION_EXPIRED");
    await expect(clientOf(page).call("whoami", {})).rejects.toMatchObject(expired);
    expect(await clientOf(other).call("whoami", {})).toMatchObject({ name: "user" });
    expect((await daemon.user.call("devices", {})).map((one) => one.id)).toEqual([(await other.store.load())!.id]);
  });
});

describe("preferences", () => {
  test("are merged, removed by null, and limited", async () => {
    await daemon.user.call("preferencesSet", { values: { theme: "dark", draft: { body: "half" } } });
    await daemon.user.call("preferencesSet", { values: { draft: null } });
    expect(await daemon.user.call("preferences", {})).toEqual({ theme: "dark" });
    await expect(
      daemon.user.call("preferencesSet", { values: { draft: "x".repeat(3_000_000) } }),
    ).rejects.toMatchObject({ code: "BODY_TOO_LONG" });
    expect(await daemon.user.call("preferences", {})).toEqual({ theme: "dark" });
  });
});

function changed(request: RequestInit, name: string, to: (value: string) => string): RequestInit {
  const headers = new Headers(request.headers);
  headers.set(name, to(headers.get(name)!));
  return { ...request, headers };
}

test("a row of a pane says its own style", () => {
  expect(selfContained(["\x1b[1m\x1b[31mred", "still", "\x1b[0mplain \x1b[32mgreen\x1b[m", "none"])).toEqual([
    "\x1b[1m\x1b[31mred",
    "\x1b[1m\x1b[31mstill",
    "\x1b[1m\x1b[31m\x1b[0mplain \x1b[32mgreen\x1b[m",
    "none",
  ]);
});
