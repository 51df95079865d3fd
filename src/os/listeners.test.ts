import { expect, test } from "bun:test";
import { createServer, type AddressInfo } from "node:net";
import { lackOfLinux, testUnless } from "../testing/needing.ts";
import { listenersAt, ownerAtLoopback } from "./listeners.ts";

testUnless(lackOfLinux)("a port that is listened at is known with its owner, and without a connection", async () => {
  let connections = 0;
  const server = createServer(() => void connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  expect(listenersAt(port)).toEqual([{ uid: process.getuid!() }]);
  await new Promise((resolve) => server.close(resolve));
  expect([listenersAt(port), connections]).toEqual([[], 0]);
});

test("of a port, only the listeners that a connection to 127.0.0.1 reaches decide whose it is", () => {
  const row = (address: string, uid: number, state = "0A"): string =>
    `   0: ${address}:1F90 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000 ${uid} 0 1`;
  const owner = (tcp: string[], tcp6: string[] = []) =>
    ownerAtLoopback(8080, 1000, (file) => ["header", ...(file.endsWith("6") ? tcp6 : tcp)].join("\n"));
  const v6 = "0".repeat(32);
  expect(owner([row("0100007F", 1000)])).toBe("own");
  expect(owner([row("0100007F", 1001)])).toBe("foreign");
  expect(owner([row("0100007F", 1000)], [row(v6, 1001)])).toBe("foreign");
  expect(owner([row("00000000", 1001)])).toBe("foreign");
  expect(owner([], [row("0000000000000000FFFF00000100007F", 1001)])).toBe("foreign");
  expect(owner([row("0100007F", 1000), row("0200007F", 1001)])).toBe("own");
  expect(owner([row("0100007F", 1000, "01")])).toBe("none");
});
