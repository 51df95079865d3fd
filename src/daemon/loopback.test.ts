import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLoopback } from "./loopback.ts";

function aHome() {
  const path = mkdtempSync(join(tmpdir(), "tl-loopback-"));
  return { config: join(path, "config.json"), [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

const routes = [(_request: Request, url: URL) => (url.pathname === "/here" ? Promise.resolve(new Response("found")) : null)];

test("the port is drawn once and kept, and taken by another it is no port at all", async () => {
  using home = aHome();
  const first = openLoopback({ config: home.config, routes, maxBodyBytes: 1024 });
  expect(JSON.parse(readFileSync(home.config, "utf8"))).toEqual({ http: { port: first.port } });
  const second = openLoopback({ config: home.config, routes, maxBodyBytes: 1024 });
  expect(second).toMatchObject({ port: null, problem: `port ${first.port} is taken by another program` });
  await first.stop();
  const third = openLoopback({ config: home.config, routes, maxBodyBytes: 1024 });
  expect(third.port).toBe(first.port);
  await third.stop();
});

test("only this machine's own names are answered", async () => {
  using home = aHome();
  const { port, stop } = openLoopback({ config: home.config, routes, maxBodyBytes: 1024 });
  const ask = (path: string, host = `127.0.0.1:${port}`) => fetch(`http://127.0.0.1:${port}${path}`, { headers: { host } }).then((response) => response.status);
  expect(await ask("/here")).toBe(200);
  expect(await ask("/here", `localhost:${port}`)).toBe(200);
  expect(await ask("/elsewhere")).toBe(400);
  expect(await ask("/here", "evil.example")).toBe(403);
  expect(await ask("/here", `127.0.0.1.evil.example:${port}`)).toBe(403);
  await stop();
});
