import { expect } from "bun:test";
import { createServer, type AddressInfo } from "node:net";
import { lackOfLinux, testUnless } from "../testing/needing.ts";
import { listenersAt } from "./listeners.ts";

testUnless(lackOfLinux)("a port that is listened at is known with its owner, and without a connection", async () => {
  let connections = 0;
  const server = createServer(() => void connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  expect(listenersAt(port)).toEqual([{ uid: process.getuid!() }]);
  await new Promise((resolve) => server.close(resolve));
  expect([listenersAt(port), connections]).toEqual([[], 0]);
});
