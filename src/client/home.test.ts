import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { homeOf } from "./home.ts";

const short = "/home/ana/.tieline";
const socketLimit = 104;
const id = "01a1df29-8d47-76c1-a7af-65a9f05cf4ff";

let folder: string;
let long: string;
beforeEach(() => {
  folder = mkdtempSync("/tmp/tl-home-");
  long = join(folder, "a-path-that-is-much-too-long-for-a-socket".repeat(3));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("sockets are in the home where their paths fit", () => {
  expect(homeOf({ TIELINE_HOME: short })).toMatchObject({
    socket: `${short}/daemon.sock`,
    sockets: `${short}/sockets`,
  });
});

test(
  "of a home with a long path, each socket still has a path that the kernel takes, and no other home has the " + "same",
  () => {
    for (let length = 20; length < 300; length += 1) {
      const { socket, sockets } = homeOf({ TIELINE_HOME: "/".padEnd(length, "h") });
      expect(Buffer.byteLength(socket)).toBeLessThan(socketLimit);
      expect(Buffer.byteLength(join(sockets, `${id}.sock`))).toBeLessThan(socketLimit);
    }
    expect(homeOf({ TIELINE_HOME: long }).socket).not.toBe(homeOf({ TIELINE_HOME: `${long}2` }).socket);
  },
);

test("a directory in /tmp that others made or can enter is refused", () => {
  const outside = dirname(homeOf({ TIELINE_HOME: long }).socket);
  try {
    mkdirSync(outside, { mode: 0o700 });
    expect(dirname(homeOf({ TIELINE_HOME: long }).socket)).toBe(outside);
    chmodSync(outside, 0o755);
    expect(() => homeOf({ TIELINE_HOME: long })).toThrow("is not a private directory of yours");
    rmSync(outside, { recursive: true });
    symlinkSync(folder, outside);
    expect(() => homeOf({ TIELINE_HOME: long })).toThrow("is not a private directory of yours");
  } finally {
    rmSync(outside, { recursive: true, force: true });
  }
});
