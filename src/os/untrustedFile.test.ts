import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lackOfLinux, lackUnless, testUnless } from "../testing/needing.ts";
import {
  openUntrusted,
  readUntrusted,
  refusalError,
  untrustedText,
  userOrRoot,
  type FileRules,
  type FileRefusal,
} from "./untrustedFile.ts";

const lackOfRoot = lackUnless(process.getuid?.() === 0, "giving a file to another user needs root");
const unprivileged = 65_534;

describe("an untrusted file", () => {
  let dir: string;
  let home: string;
  let socket: Server;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "tl-untrusted-"));
    home = join(dir, "home");
    mkdirSync(join(home, "sub"), { recursive: true });
    writeFileSync(join(home, "plain"), "text");
    writeFileSync(join(dir, "elsewhere"), "secret");
    writeFileSync(join(dir, "homeless"), "next to a directory whose name begins the same");
    symlinkSync(join(home, "plain"), join(home, "link"));
    symlinkSync(join(dir, "elsewhere"), join(home, "linkOut"));
    symlinkSync(join(home, "nowhere"), join(home, "dangling"));
    symlinkSync(join(home, "circle"), join(home, "circle"));
    symlinkSync(dir, join(home, "parentOut"));
    symlinkSync(home, join(dir, "homeLink"));
    linkSync(join(home, "plain"), join(home, "sub", "hard"));
    Bun.spawnSync(["mkfifo", join(home, "fifo")]);
    symlinkSync(join(home, "fifo"), join(home, "fifoLink"));
    socket = createServer();
    await new Promise<void>((resolve) => socket.listen(join(home, "socket"), resolve));
  });
  afterAll(() => {
    socket.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const refusalOf = (path: string, rules: Partial<FileRules> = {}): string => {
    const found = readUntrusted(path, { maxBytes: 1_000, ...rules });
    return found.ok ? `read: ${found.bytes.toString()}` : found.why;
  };

  test("is read when it is a regular file of this user", () => {
    expect(refusalOf(join(home, "plain"))).toBe("read: text");
    expect(refusalOf(join(home, "plain"), { below: home })).toBe("read: text");
    expect(refusalOf(join(home, "plain"), { below: join(dir, "homeLink") })).toBe("read: text");
    expect(refusalOf(join(home, "plain"), { below: [join(dir, "nowhere"), home] })).toBe("read: text");
    expect(refusalOf(join(home, "plain"), { below: "/" })).toBe("read: text");
  });

  test.each([
    ["missing", "nothing"],
    ["missing", "plain/below-a-file"],
    ["missing", "dangling/x"],
    ["missing", "plain\0"],
    ["notRegular", "fifo"],
    ["notRegular", "socket"],
    ["notRegular", "sub"],
    ["link", "link"],
    ["link", "dangling"],
    ["link", "circle"],
    ["link", "fifoLink"],
  ])("is refused as %s: %s", (why, name) => {
    expect(refusalOf(join(home, name))).toBe(why);
  });

  test("is refused when it is a device, which is not opened", () => {
    expect(refusalOf("/dev/null", { owners: userOrRoot() })).toBe("notRegular");
    expect(refusalOf("/dev/tty", { owners: userOrRoot() })).toBe("notRegular");
  });

  test("is refused outside its directory, also through a linked parent", () => {
    expect(refusalOf(join(dir, "elsewhere"), { below: home })).toBe("outside");
    expect(refusalOf(join(dir, "homeless"), { below: home })).toBe("outside");
    expect(refusalOf(join(home, "parentOut", "elsewhere"), { below: home })).toBe("outside");
    expect(refusalOf(join(home, "sub", "..", "..", "elsewhere"), { below: home })).toBe("outside");
    expect(refusalOf(join(home, "plain"), { below: join(dir, "nowhere") })).toBe("outside");
  });

  test("may be a link where links are resolved, but only to what would be read itself", () => {
    const rules = { link: "resolve", below: home } as const;
    expect(refusalOf(join(home, "link"), rules)).toBe("read: text");
    expect(refusalOf(join(home, "linkOut"), rules)).toBe("outside");
    expect(refusalOf(join(home, "fifoLink"), rules)).toBe("notRegular");
    expect(refusalOf(join(home, "dangling"), rules)).toBe("missing");
    expect(refusalOf(join(home, "circle"), rules)).toBe("link");
  });

  test("may have a second name, unless the rules refuse it", () => {
    expect(refusalOf(join(home, "sub", "hard"))).toBe("read: text");
    expect(refusalOf(join(home, "sub", "hard"), { singleName: true })).toBe("secondName");
  });

  test("is refused above the limit, and read at it", () => {
    const path = join(dir, "sized");
    writeFileSync(path, "x".repeat(1_000));
    expect(refusalOf(path)).toStartWith("read: ");
    appendFileSync(path, "x");
    expect(refusalOf(path)).toBe("tooLarge");
    truncateSync(path, 2 ** 40);
    expect(refusalOf(path)).toBe("tooLarge");
  });

  testUnless(lackOfLinux)("is bounded by what is read, not by the size that it reports", () => {
    // A file of /proc reports 0 bytes.
    expect(readUntrusted("/proc/self/status", { maxBytes: 100 })).toMatchObject({ ok: false, why: "tooLarge" });
    expect(untrustedText("/proc/self/status", { maxBytes: 1 << 20 })).toContain("Name:");
  });

  test("that grows while it is open stays within each read", () => {
    const path = join(dir, "growing");
    writeFileSync(path, "first");
    const file = openUntrusted(path, { maxBytes: 10 });
    if (!file.ok) throw new Error(file.detail);
    using _ = file;
    appendFileSync(path, "x".repeat(1 << 20));
    expect(file.stats.size).toBe(5);
    expect(file.size()).toBe(5 + (1 << 20));
    expect(file.read(0, 7).toString()).toBe("firstxx");
    expect(file.read(5 + (1 << 20) - 2, 100).toString()).toBe("xx");
    expect(file.read(1 << 30, 100).length).toBe(0);
  });

  testUnless(lackOfRoot)("of another user is refused, root's where the rules allow it", () => {
    const path = join(dir, "others");
    writeFileSync(path, "I am another user's");
    chmodSync(path, 0o666);
    chownSync(path, unprivileged, unprivileged);
    expect(refusalOf(path)).toBe("owner");
    expect(refusalOf(path, { owners: userOrRoot() })).toBe("owner");
    expect(refusalOf(path, { owners: [unprivileged] })).toStartWith("read: ");
    expect(refusalOf(join(home, "plain"), { owners: [unprivileged] })).toBe("owner");
    expect(refusalOf(join(home, "plain"), { owners: [unprivileged, 0] })).toBe("read: text");
  });

  test("leaves nothing open, whatever it was", () => {
    if (process.platform !== "linux") return;
    const open = (): number => readdirSync("/proc/self/fd").length;
    const before = open();
    for (let round = 0; round < 20; round++) {
      for (const name of ["plain", "fifo", "link", "linkOut", "sub", "socket", "nothing"])
        refusalOf(join(home, name), { below: home });
      refusalOf(join(home, "parentOut", "elsewhere"), { below: home });
    }
    expect(open()).toBe(before);
  });

  test("that is refused says what it is and what to do", () => {
    const found = openUntrusted(join(home, "fifo")) as FileRefusal;
    expect(refusalError(join(home, "fifo"), found)).toMatchObject({
      code: "FILE_REFUSED",
      message: `${join(home, "fifo")} is a FIFO, not a regular file`,
      operands: { path: join(home, "fifo"), why: "notRegular" },
    });
    expect(() => untrustedText(join(home, "sub"), { maxBytes: 10 })).toThrow("is a directory, not a regular file");
    expect(untrustedText(join(home, "nothing"), { maxBytes: 10 })).toBeNull();
  });

  test("that the system cannot open keeps the system's error", () => {
    const path = join(dir, "n".repeat(300));
    const found = openUntrusted(path) as FileRefusal;
    expect(found.why).toBe("unreadable");
    expect(refusalError(path, found)).toMatchObject({ code: "ENAMETOOLONG" });
  });
});
