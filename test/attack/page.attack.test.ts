import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { DeviceView } from "../../src/api/schemas/page.ts";
import { describeUnless, lackOfLinux, testUnless } from "../../src/testing/needing.ts";
import { createOtherUser, lackOfOtherUser } from "../../src/testing/otherUser.ts";
import { until } from "../../src/testing/until.ts";
import { chromiumPath, lackOfChromium } from "../dashboard/stage.ts";
import {
  compose,
  html,
  startAttackServer,
  startBrowserWorld,
  type AttackServer,
  type BrowserWorld,
} from "./browserWorld.ts";

/** The dashboard, its link and its key, against other servers on this machine and pages of other sites. */
describeUnless(lackOfChromium)("the dashboard in a browser that visits other pages", () => {
  let place: BrowserWorld;
  let dashboard: Page;
  let origin: string;
  /** Another user's web server on this machine. */
  let server: AttackServer;
  beforeAll(async () => {
    place = await startBrowserWorld();
    dashboard = await place.signIn();
    origin = new URL(dashboard.url()).origin;
    server = await startAttackServer(0, (request) => {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === "/redirect") return Response.redirect(searchParams.get("to")!, 302);
      return html("<body></body>");
    });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await place[Symbol.asyncDispose]();
  });

  const addresses = (): string[] => [origin, `http://127.0.0.1:${place.port}`, `http://localhost:${place.port}`];

  test("another port of this machine receives no credential", async () => {
    const at = (host: string): string => `http://${host}:${server.port}`;
    const foreign = await place.tab(
      `${at("evil.example")}/redirect?to=${encodeURIComponent(`${at("127.0.0.1")}/page`)}`,
    );
    for (const base of [at("127.0.0.1"), at("localhost"), at(new URL(origin).hostname)]) {
      await foreign.goto(`${base}/page`);
      await foreign.evaluate(async () => {
        await fetch("/fetch", { credentials: "include" });
        const frame = document.createElement("iframe");
        frame.src = "/frame";
        document.body.append(frame);
        await new Promise((resolve) => frame.addEventListener("load", resolve));
      });
    }
    // The dashboard itself is led there.
    await dashboard.evaluate(
      async (elsewhere) => {
        await fetch(elsewhere, { mode: "no-cors", credentials: "include" }).catch(() => undefined);
        history.pushState(null, "", "#/team");
      },
      `${at("127.0.0.1")}/from-dashboard`,
    );
    const leaving = await place.signIn();
    await leaving.goto(`${at("127.0.0.1")}/left`);
    await compose(dashboard, "ana", "still here");
    await until(async () => (await place.mailOf("ana")).includes("still here"), "the dashboard to work");
    expect(server.caught.map(({ url }) => new URL(url).pathname)).toEqual(
      expect.arrayContaining(["/page", "/fetch", "/frame", "/left"]),
    );
    for (const { headers } of server.caught)
      expect(
        Object.keys(headers).filter(
          (name) =>
            ["cookie", "authorization", "referer"].includes(name) && headers[name]!.includes(String(place.port)),
        ),
      ).toEqual([]);
    for (const { headers } of server.caught)
      expect([headers["cookie"], headers["authorization"]]).toEqual([undefined, undefined]);
    expect(server.said()).not.toMatch(/Tieline-Tab|sign-in\//);
  });

  test("pages of other sites and ports can do and read nothing", async () => {
    const before = (await place.user.call("log", {})).length;
    const sites = [
      `http://evil.example:${server.port}`,
      `http://127.0.0.1:${server.port}`,
      `http://localhost:${server.port}`,
    ];
    for (const site of sites) {
      const foreign = await place.tab(site);
      const blocked: string[] = [];
      foreign.on("console", (message) => blocked.push(message.text()));
      for (const address of addresses()) {
        expect({ site, address, read: await foreign.evaluate(attackFrom, address) }).toEqual({
          site,
          address,
          read: [],
        });
        await foreign.evaluate(framed, address);
        await until(
          () => blocked.some((text) => /frame-ancestors|Refused to frame|Framing/.test(text)),
          `the frame of ${address} to be refused`,
        );
      }
      await foreign.close();
      const posting = await place.tab(site);
      await posting.evaluate(submitForm, `http://127.0.0.1:${place.port}/v1/send`);
      await posting.waitForURL(/v1\/send/);
      expect(JSON.parse(await posting.innerText("body"))).toMatchObject({ code: "NOT_PERMITTED" });
      await posting.close();
    }
    expect((await place.user.call("log", {})).length).toBe(before);
  });

  test("a name that is made to lead to this machine opens nothing", async () => {
    const rebound = await place.tab(`http://rebound.example:${place.port}/`);
    expect(JSON.parse(await rebound.innerText("body"))).toMatchObject({ code: "NOT_PERMITTED" });
    const answers = await rebound.evaluate(async () => {
      const post = (path: string): Promise<number> =>
        fetch(path, { method: "POST", body: JSON.stringify({ nonce: "0123456789abcdef" }) }).then(
          ({ status }) => status,
        );
      return [
        await fetch("/v1/ls").then(({ status }) => status),
        await post("/page/hello"),
        await post("/v1/send"),
        await fetch("/assets/x.js").then(({ status }) => status),
      ];
    });
    expect(answers).toEqual([403, 403, 403, 403]);
  });

  describe("a link", () => {
    test("that was used, guessed or changed does not sign in", async () => {
      const link = await place.link();
      const guessed = link.replace(
        /(#sign-in\/[^/]+\/)./,
        (_, head: string) => `${head}${link.includes(`${head}A`) ? "B" : "A"}`,
      );
      const otherDaemon = link.replace(/[^/]{43}$/, "A".repeat(43));
      const own = await place.browser.newContext();
      const fresh = async (url: string): Promise<Page> => {
        const page = await own.newPage();
        await page.goto(url);
        return page;
      };
      await (await fresh(guessed)).getByText("This link was used already, or is older than a minute").waitFor();
      await (await fresh(otherDaemon)).locator(".connection.stranger").waitFor();
      const first = await fresh(link);
      await first.locator(".connection.live").waitFor();
      expect(first.url()).toBe(`${origin}/`);
      const another = await (await place.browser.newContext()).newPage();
      await another.goto(link);
      await another.getByText("This link was used already, or is older than a minute").waitFor();
      await Promise.all([own.close(), another.context().close()]);
    });

    testUnless(lackOfLinux)("is in the arguments of no process while `tieline dash` opens a browser", async () => {
      const { world } = place;
      const bin = join(world.dir, "desktop");
      const opened = join(world.dir, "opened");
      mkdirSync(bin);
      // What a desktop has: it gives a file to the user's browser, a real one.
      const browser = [
        chromiumPath,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        `--user-data-dir=${join(world.dir, "profile")}`,
      ].join(" ");
      writeFileSync(
        join(bin, "xdg-open"),
        `#!/bin/sh\necho $$ "$1" >"${opened}.new"\nmv "${opened}.new" "${opened}"\nexec ${browser} "$1"\n`,
        { mode: 0o755 },
      );
      const seen = new Set<string>();
      const watching = new AbortController();
      const watch = (async () => {
        while (!watching.signal.aborted) {
          for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
            for (const text of textsOf(pid)) seen.add(text);
          await new Promise((resolve) => setImmediate(resolve));
        }
      })();
      const before = (await world.json<DeviceView[]>(["devices", "ls"])).length;
      const { stdout } = await world.tieline(["dash"], { env: { DISPLAY: ":1", PATH: `${bin}:${world.env["PATH"]}` } });
      await until(() => existsSync(opened), "the browser to be opened");
      const [pid = "", file = ""] = readFileSync(opened, "utf8").trim().split(" ");
      await until(
        async () => (await world.json<DeviceView[]>(["devices", "ls"])).length > before,
        "the browser to sign in",
      );
      watching.abort();
      await watch;
      process.kill(Number(pid), "SIGTERM");
      const link = stdout.trim();
      const [, code, secret] = /#sign-in\/([^/]+)\/([^/]+)\//.exec(link)!;
      expect(file).toStartWith(join(world.env["TIELINE_HOME"]!, "page"));
      expect([...seen].filter((text) => text.includes(file)).length).toBeGreaterThan(0);
      expect([...seen].filter((text) => text.includes(code!) || text.includes(secret!))).toEqual([]);
      await until(() => !existsSync(file), "the file to be removed");
    });

    testUnless(lackOfOtherUser())("is in a file that other users cannot read", async () => {
      await using other = createOtherUser();
      const home = place.world.env["TIELINE_HOME"]!;
      // Only the home itself keeps others out.
      chmodSync(place.world.dir, 0o755);
      const { file } = await place.user.call("dash", { fileIn: join(home, "page") });
      expect(statSync(file!).mode & 0o777).toBe(0o600);
      for (const path of [file!, join(home, "page", "daemon.key"), join(home, "page", "devices.json")]) {
        expect(await other.run(["cat", path])).toMatchObject({ code: 1, stdout: "" });
      }
      // Behind an open directory the file still is its owner's.
      const open = join(place.world.dir, "open");
      mkdirSync(open, { mode: 0o777 });
      const { file: exposed } = await place.user.call("dash", { fileIn: open });
      expect(await other.run(["cat", exposed!])).toMatchObject({ code: 1, stdout: "" });
    });
  });
});

/** What other users see of a process, unless it has ended. */
function textsOf(pid: string): string[] {
  return ["cmdline", "comm"].flatMap((name) => {
    try {
      return [readFileSync(`/proc/${pid}/${name}`, "utf8")];
    } catch {
      return [];
    }
  });
}

/** Runs in a page of another site: all that it could read of the daemon. */
async function attackFrom(address: string): Promise<string[]> {
  const read: string[] = [];
  const paths = [
    "/",
    "/v1/ls",
    "/v1/events",
    "/v1/pane?agent=ana",
    "/metrics",
    "/page/hello",
    "/page/sign-in",
    "/page/tab",
    "/v1/send",
    "/mcp",
  ];
  const words = JSON.stringify({ to: "ana", body: "forged", nonce: "0123456789abcdef" });
  for (const path of paths) {
    for (const method of ["GET", "POST"]) {
      for (const mode of ["cors", "no-cors"] as const) {
        for (const type of ["text/plain", "application/json"]) {
          const request: RequestInit = {
            method,
            mode,
            credentials: "include",
            ...(method === "POST" && { body: words }),
            headers: { "content-type": type },
          };
          const text = await fetch(`${address}${path}`, request).then(
            (response) => response.text(),
            () => "",
          );
          if (text !== "") read.push(`${method} ${path}: ${text}`);
        }
      }
    }
    await fetch(`${address}${path}`, { headers: { authorization: "Tieline-Tab a b 1 1 c d" } }).then(
      async (response) => read.push(await response.text()),
      () => undefined,
    );
  }
  const source = new EventSource(`${address}/v1/events`, { withCredentials: true });
  await new Promise<void>((resolve) => {
    source.addEventListener("message", ({ data }) => resolve(void read.push(String(data))));
    source.addEventListener("error", () => resolve());
  });
  source.close();
  await new Promise<void>((resolve) => {
    const socket = new WebSocket(`${address.replace("http", "ws")}/v1/events`);
    socket.addEventListener("open", () => resolve(void read.push("a socket")));
    socket.addEventListener("error", () => resolve());
  });
  await new Promise<void>((resolve) => {
    const script = document.createElement("script");
    script.src = `${address}/v1/ls`;
    script.addEventListener("load", () => resolve(void read.push("a script")));
    script.addEventListener("error", () => resolve());
    document.body.append(script);
  });
  return read;
}

/** Runs in a page of another site. */
function framed(address: string): void {
  const frame = document.createElement("iframe");
  frame.src = address;
  document.body.append(frame);
}

/** Runs in a page of another site: a form whose fields make JSON. */
function submitForm(action: string): void {
  const form = document.createElement("form");
  Object.assign(form, { action, method: "post", enctype: "text/plain" });
  const field = document.createElement("input");
  Object.assign(field, { name: '{"to":"ana","body":"forged","x":"', value: '"}' });
  form.append(field);
  document.body.append(form);
  form.submit();
}
