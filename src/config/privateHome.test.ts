import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, lchownSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { homeOf, type Home } from "../client/home.ts";
import { lackUnless, testUnless } from "../testing/needing.ts";
import { secureHome } from "./privateHome.ts";

const asRoot = testUnless(lackUnless(process.getuid?.() === 0, "only root gives files away"));
const stranger = 65_534;

describe("a home", () => {
  let home: Home;
  const modeOf = (path: string): number => statSync(path).mode & 0o777;
  const put = (path: string, mode = 0o600): void => {
    writeFileSync(path, "x");
    chmodSync(path, mode);
  };
  const unsafe = (what: string, remedy: string) =>
    expect.objectContaining({
      code: "HOME_UNSAFE",
      message: expect.stringContaining(what),
      remedy: expect.stringContaining(remedy),
    });

  beforeEach(() => {
    home = homeOf({ TIELINE_HOME: mkdtempSync(join(tmpdir(), "tl-private-")) });
  });
  afterEach(() => rmSync(home.root, { recursive: true }));

  test("that is missing is made private; one that is private stays as it is", () => {
    rmSync(home.root, { recursive: true });
    expect(secureHome(home)).toEqual([]);
    expect(modeOf(home.root)).toBe(0o700);
    put(home.userToken);
    put(home.config, 0o644);
    expect(secureHome(home)).toEqual([]);
    expect(modeOf(home.config)).toBe(0o644);
  });

  test("that is this user's and too open is closed, and says so", () => {
    chmodSync(home.root, 0o777);
    put(home.userToken);
    expect(secureHome(home)).toEqual([`${home.root} had mode 777, which lets other users in; it is 700 now`]);
    expect(modeOf(home.root)).toBe(0o700);
    expect(secureHome(home)).toEqual([]);
  });

  test("with a token that others could read says how to get a new one", () => {
    chmodSync(home.root, 0o755);
    put(home.userToken, 0o644);
    expect(secureHome(home).join("\n")).toContain(
      `Other users could read it: for a new one run \`rm ${home.userToken}\``,
    );
    expect(modeOf(home.userToken)).toBe(0o600);
  });

  test("with a file that others could have written is refused until its owner has looked at it", () => {
    chmodSync(home.root, 0o755);
    put(home.config, 0o666);
    for (let start = 0; start < 2; start++)
      expect(() => secureHome(home)).toThrow(
        unsafe(`other users could write ${home.config} (mode 666)`, `chmod 600 ${home.config}`),
      );
    chmodSync(home.config, 0o600);
    expect(secureHome(home)).toHaveLength(1);
  });

  test("that others cannot enter tightens its files", () => {
    put(home.mailbox, 0o666);
    expect(secureHome(home)).toEqual([`${home.mailbox} had mode 666, which lets other users in; it is 600 now`]);
  });

  asRoot("of another user is refused", () => {
    chownSync(home.root, stranger, stranger);
    expect(() => secureHome(home)).toThrow(
      unsafe(`${home.root} belongs to another user (uid ${stranger})`, `chown -R 0 ${home.root}`),
    );
  });

  asRoot("with a token, mailbox or settings of another user is refused", () => {
    for (const path of [home.userToken, home.mailbox, home.config]) {
      put(path);
      chownSync(path, stranger, stranger);
      expect(() => secureHome(home)).toThrow(unsafe(`${path} belongs to another user`, `chown 0 ${path}`));
      rmSync(path);
    }
  });

  asRoot("that others can write is refused as soon as anything in it is not this user's, links included", () => {
    chmodSync(home.root, 0o777);
    const link = join(home.root, "daemon.log");
    symlinkSync("/etc/hostname", link);
    lchownSync(link, stranger, stranger);
    expect(() => secureHome(home)).toThrow(
      unsafe(
        `${link} belongs to another user (uid ${stranger}), and other users can write in ${home.root} (mode 777)`,
        `chmod 700 ${home.root}`,
      ),
    );
    expect(modeOf(home.root)).toBe(0o777);
  });
});
