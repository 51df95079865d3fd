import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectAppServer } from "./appServer.ts";

type Frame = Record<string, unknown>;

/** A server that answers `initialize` and hands every other frame to the test. */
async function fakeServer(take: (frame: Frame, send: (frame: Frame) => void, hangUp: () => void) => void) {
  const folder = await mkdtemp(join(tmpdir(), "tl-codex-"));
  const path = join(folder, "s.sock");
  const frames: Frame[] = [];
  const server = Bun.serve({
    unix: path,
    fetch: (request, self) => (self.upgrade(request) ? undefined : new Response("", { status: 400 })),
    websocket: {
      message(socket, data) {
        const frame = JSON.parse(String(data)) as Frame;
        frames.push(frame);
        const send = (answer: Frame) => void socket.send(JSON.stringify(answer));
        if (frame["method"] === "initialize") send({ id: frame["id"], result: {} });
        else take(frame, send, () => socket.close());
      },
    },
  });
  return {
    path,
    frames,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

test("introduces itself, matches answers in any order, and receives notifications", async () => {
  const held: Frame[] = [];
  await using fake = await fakeServer((frame, send) => {
    if (frame["id"] === undefined) return;
    held.push(frame);
    if (held.length < 2) return;
    send({ method: "thread/status/changed", params: { threadId: "t" } });
    for (const one of held.reverse()) send({ id: one["id"], result: { echo: one["method"] } });
  });
  await using app = await connectAppServer(fake.path);
  const heard: unknown[] = [];
  app.listen((notification) => heard.push(notification));
  expect(await Promise.all([app.request("a", {}), app.request("b", {})])).toEqual([{ echo: "a" }, { echo: "b" }]);
  expect(heard).toEqual([{ method: "thread/status/changed", params: { threadId: "t" } }]);
  expect(fake.frames.slice(0, 2).map((frame) => frame["method"])).toEqual(["initialize", "initialized"]);
});

test("an approval that the server asks for is never answered", async () => {
  await using fake = await fakeServer((frame, send) => {
    if (frame["id"] === undefined) return;
    send({ id: "approval-1", method: "item/commandExecution/requestApproval", params: {} });
    send({ id: frame["id"], result: {} });
  });
  await using app = await connectAppServer(fake.path);
  await app.request("first", {});
  await app.request("second", {});
  expect(fake.frames.map((frame) => frame["method"])).toEqual(["initialize", "initialized", "first", "second"]);
});

test("a lost connection rejects what was asked, and an abort only its own request", async () => {
  await using fake = await fakeServer((frame, _send, hangUp) => {
    if (frame["method"] === "last") hangUp();
  });
  await using app = await connectAppServer(fake.path);
  const abort = new AbortController();
  const aborted = app.request("never answered", {}, abort.signal);
  abort.abort(new Error("too late"));
  await expect(aborted).rejects.toThrow("too late");
  await expect(app.request("last", {})).rejects.toMatchObject({ operands: { method: "last", refused: false } });
  await app.closed;
});

test("fails at once without a server", async () => {
  await expect(connectAppServer("/nonexistent/s.sock")).rejects.toMatchObject({ code: "DELIVERY_FAILED" });
});
