import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeToInbox } from "./inboxSocket.ts";

/** A listener that collects one connection's bytes; `mute` never reads them. */
async function listener({ mute = false } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "tl-inbox-"));
  const path = join(folder, "s.sock");
  const received = Promise.withResolvers<string>();
  const server = createServer((socket) => {
    if (mute) return void socket.pause();
    let text = "";
    socket.setEncoding("utf8").on("data", (part: string) => (text += part));
    socket.on("end", () => received.resolve(text));
  });
  await new Promise<void>((listening) => server.listen(path, listening));
  return {
    path,
    received: received.promise,
    async [Symbol.asyncDispose]() {
      server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

test("one frame with the text, the id and the way back, on one line", async () => {
  await using session = await listener();
  const text = `two\nlines ${"ü".repeat(450_000)}`;
  await writeToInbox(session.path, { text, messageId: "m-1", replyPath: "/run/back.sock", priority: "now" });
  const lines = (await session.received).split("\n");
  expect(lines).toHaveLength(2);
  expect(JSON.parse(lines[0]!)).toMatchObject({
    type: "user",
    message: { role: "user", content: text },
    msg_id: "m-1",
    from: "uds:/run/back.sock",
    priority: "now",
  });
});

test("reports a session that does not exist", async () => {
  const refusal = await writeToInbox("/nonexistent/s.sock", { text: "x", messageId: "m" }).catch((thrown) => thrown);
  expect(refusal).toMatchObject({ code: "DELIVERY_FAILED", operands: { absent: true } });
});

test("an abort stops the wait for a session that never reads", async () => {
  await using session = await listener({ mute: true });
  const abort = new AbortController();
  const writing = writeToInbox(session.path, { text: "x".repeat(4_000_000), messageId: "m" }, abort.signal);
  abort.abort();
  await expect(writing).rejects.toMatchObject({ code: "DELIVERY_FAILED" });
});
