import { describe, expect, test } from "bun:test";
import { accountsIn, userWords } from "./accounts.ts";
import { exposureOf } from "./exposure.ts";

const accounts = accountsIn({
  passwd:
    "root:x:0:0:root:/root:/bin/sh\nana:x:1000:1000::/home/ana:/bin/sh\n" +
    "mallory:x:1001:1001::/home/mallory:/bin/sh\nbo:x:1002:100::/home/bo:/bin/sh\n# a comment: with a colon\n",
  group: "root:x:0:\nana:x:1000:\nusers:x:100:\nmallory:x:1001:ana\nshared:x:2000:ana,mallory\nanas:x:2001:ana\n",
});

describe("accounts", () => {
  test("a user is named with the id, or by the id alone", () => {
    expect([userWords(1001, accounts), userWords(4711, accounts)]).toEqual(["mallory (uid 1001)", "uid 4711"]);
  });

  test.each([
    ["the user's own group", 1000, 1000, true],
    ["root's group for root", 0, 0, true],
    ["a group with another member", 2000, 1000, false],
    ["a group of which the user is a member only", 2001, 1000, false],
    ["another user's group", 1001, 1000, false],
    ["a primary group that others could share", 100, 1000, false],
    ["a group without a name", 4711, 1000, false],
  ])("%s", (_, gid, uid, isPrivate) => expect(accounts.isPrivateGroup(gid, uid)).toBe(isPrivate));
});

describe("exposure", () => {
  const tree = {
    "/": [0, 0, 0o755],
    "/home": [0, 0, 0o755],
    "/home/ana": [1000, 1000, 0o700],
    "/home/ana/p": [1000, 1000, 0o755],
    "/home/ana/p/f": [1000, 1000, 0o644],
  };
  const look = (changed: Record<string, [number, number, number]> = {}, path = "/home/ana/p/f") => {
    const all: Record<string, number[]> = { ...tree, ...changed };
    const stat = (at: string) => ({ uid: all[at]![0]!, gid: all[at]![1]!, mode: all[at]![2]! });
    return exposureOf(path, { uid: 1000, accounts: () => accounts, stat })?.why ?? null;
  };

  test("a file of one's own in directories of one's own is safe", () => expect(look()).toBeNull());
  test("so it is when only the user's own group may write", () =>
    expect(look({ "/home/ana/p/f": [1000, 1000, 0o664], "/home/ana/p": [1000, 1000, 0o775] })).toBeNull());
  test("so it is in a sticky directory", () =>
    expect(look({ "/tmp": [0, 0, 0o1777], "/tmp/f": [1000, 1000, 0o644] }, "/tmp/f")).toBeNull());

  test.each([
    ["another user's file", { "/home/ana/p/f": [1001, 1001, 0o644] }, "/home/ana/p/f belongs to mallory (uid 1001)"],
    ["root's file", { "/home/ana/p/f": [0, 0, 0o644] }, "/home/ana/p/f belongs to root (uid 0)"],
    [
      "a file that everyone may write",
      { "/home/ana/p/f": [1000, 1000, 0o646] },
      "/home/ana/p/f can be written by other users (mode 646)",
    ],
    [
      "a file that a shared group may write",
      { "/home/ana/p/f": [1000, 2000, 0o664] },
      "/home/ana/p/f can be written by other users (mode 664)",
    ],
    ["another user's directory", { "/home/ana/p": [1001, 1001, 0o755] }, "/home/ana/p belongs to mallory (uid 1001)"],
    [
      "a directory where everyone may write",
      { "/home": [0, 0, 0o777] },
      "/home can be written by other users and is not sticky (mode 777)",
    ],
    [
      "a directory where a shared group may write",
      { "/home/ana/p": [1000, 2000, 0o775] },
      "/home/ana/p can be written by other users and is not sticky (mode 775)",
    ],
  ] as [string, Record<string, [number, number, number]>, string][])("%s", (_, changed, why) =>
    expect(look(changed)).toBe(why),
  );
});
