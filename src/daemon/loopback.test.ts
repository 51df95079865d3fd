import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLoopback, type LoopbackOptions } from "./loopback.ts";

const routes = [
  (_request: Request, url: URL) => (url.pathname === "/here" ? Promise.resolve(new Response("found")) : null),
];

function aHome() {
  const path = mkdtempSync(join(tmpdir(), "tl-loopback-"));
  const file = join(path, "port");
  return {
    file,
    open: (options: Partial<LoopbackOptions> = {}) =>
      openLoopback({
        configured: null,
        file,
        routes,
        report: (context, fault) => expect([context, fault]).toEqual([]),
        patienceMs: 50,
        ...options,
      }),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

const statusAt = (port: number, path = "/here", host = `127.0.0.1:${port}`): Promise<number> =>
  fetch(`http://127.0.0.1:${port}${path}`, { headers: { host } }).then(({ status }) => status);

test("draws a port once and keeps it in a private file of its own", async () => {
  using home = aHome();
  const first = await home.open();
  expect(readFileSync(home.file, "utf8")).toBe(`${first.port}\n`);
  expect(statSync(home.file).mode & 0o777).toBe(0o600);
  await first.stop();
  const second = await home.open();
  expect([second.port, second.moved]).toEqual([first.port, null]);
  await second.stop();
});

test("draws another port if the file does not hold one", async () => {
  using home = aHome();
  writeFileSync(home.file, "0x10 or so");
  const { port, moved, stop } = await home.open();
  expect(moved).toBeNull();
  expect(readFileSync(home.file, "utf8")).toBe(`${port}\n`);
  await stop();
});

test("moves to another port if its own is taken, and stays there", async () => {
  using home = aHome();
  const stranger = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("stranger") });
  writeFileSync(home.file, `${stranger.port}\n`);
  const moved = await home.open();
  expect(moved.moved).toEqual({ from: stranger.port!, why: `port ${stranger.port} is taken by another program` });
  expect(await statusAt(moved.port)).toBe(200);
  await moved.stop();
  await stranger.stop(true);
  const later = await home.open();
  expect([later.port, later.moved]).toEqual([moved.port, null]);
  await later.stop();
});

test("a program at ::1 counts as one that has the port", async () => {
  using home = aHome();
  const stranger = Bun.serve({ hostname: "::1", port: 0, fetch: () => new Response("stranger") });
  writeFileSync(home.file, `${stranger.port}\n`);
  const { port, moved, stop } = await home.open();
  expect(moved?.from).toBe(stranger.port!);
  expect(await (await fetch(`http://[::1]:${port}/here`)).text()).toBe("found");
  await stop();
  await stranger.stop(true);
});

test("waits for the port of a daemon that is just ending", async () => {
  using home = aHome();
  const ending = await home.open();
  const opening = home.open({ patienceMs: 10_000 });
  await ending.stop();
  const { port, moved, stop } = await opening;
  expect([port, moved]).toEqual([ending.port, null]);
  await stop();
});

test("the port that the user configured wins", async () => {
  using home = aHome();
  const [first, free] = [await home.open(), await home.open({ file: `${home.file}.other` })];
  await Promise.all([first.stop(), free.stop()]);
  const { port, stop } = await home.open({ configured: free.port });
  expect(port).toBe(free.port);
  expect(readFileSync(home.file, "utf8")).toBe(`${free.port}\n`);
  await stop();
});

test("answers at further ports as well", async () => {
  using home = aHome();
  const [loopback, other] = [await home.open(), await home.open({ file: `${home.file}.other` })];
  await expect(loopback.alsoAt(other.port)).rejects.toThrow(`port ${other.port} is taken`);
  await other.stop();
  await loopback.alsoAt(other.port);
  await loopback.alsoAt(other.port);
  expect(await statusAt(other.port)).toBe(200);
  expect(loopback.ports).toEqual(new Set([loopback.port, other.port]));
  await loopback.stop();
});

test("only this machine's own names are answered", async () => {
  using home = aHome();
  const { port, stop } = await home.open();
  expect(await statusAt(port)).toBe(200);
  expect(await statusAt(port, "/here", `localhost:${port}`)).toBe(200);
  expect(await statusAt(port, "/elsewhere")).toBe(400);
  expect(await statusAt(port, "/here", "evil.example")).toBe(403);
  expect(await statusAt(port, "/here", `127.0.0.1.evil.example:${port}`)).toBe(403);
  await stop();
});
