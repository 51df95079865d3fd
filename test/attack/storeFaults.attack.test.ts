import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { daemonCommand } from "../../src/os/install.ts";
import { filledMailbox } from "../../src/testing/damagedMailbox.ts";
import { describeUnless, lackUnless } from "../../src/testing/needing.ts";
import { until, untilGone } from "../../src/testing/until.ts";
import { startWorld } from "../../src/testing/world.ts";

const lackOfCompiler = lackUnless(
  process.platform === "linux" && Bun.which("cc") !== null,
  "needs Linux and a C compiler",
);

const source = (path: string): string => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).pathname);

/** Opens a mailbox, reads everything and writes to it, in a process of its own; prints a line for each step. */
const script = `
  import { openMailboxAt, readers } from ${source("testing/damagedMailbox.ts")};
  import { seal } from ${source("model/message.ts")};
  import { user } from ${source("testing/mailboxContract.ts")};
  const attempt = async (step) => {
    try {
      await step();
      console.log("ok");
    } catch (error) {
      console.log(error.code ?? error.message);
    }
  };
  let opened;
  await attempt(() => (opened = openMailboxAt(process.argv.at(-1))));
  if (opened) {
    for (const reader of readers) await attempt(() => opened.mailbox.inbox(reader.id, { limit: 1_000 }));
    await attempt(() => opened.mailbox.log({ limit: 1_000 }));
    const message = seal({ to: "x", body: "one more" }, user, { inReplyTo: null, hops: 1 });
    await attempt(() => opened.mailbox.accept(message, [readers[0]]));
  }
`;

describeUnless(lackOfCompiler)("a disk that fails to read", () => {
  let dir: string;
  let original: string;
  let shim: string;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "tl-eio-"));
    original = join(dir, "original.db");
    shim = join(dir, "failReads.so");
    await filledMailbox(original, 100);
    const source = new URL("../../fixtures/faults/failReads.c", import.meta.url).pathname;
    expect(Bun.spawnSync(["cc", "-shared", "-fPIC", "-o", shim, source, "-ldl"]).exitCode).toBe(0);
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  function exercise(from: number, to: number): string[] {
    const copy = join(dir, "mailbox.db");
    for (const suffix of ["", "-mark"]) copyFileSync(original + suffix, copy + suffix);
    rmSync(`${copy}-wal`, { force: true });
    const env = {
      PATH: process.env["PATH"]!,
      LD_PRELOAD: shim,
      FAIL_PATH: "/mailbox.db",
      FAIL_FROM: String(from),
      FAIL_TO: String(to),
    };
    const { stdout, stderr } = Bun.spawnSync([process.execPath, "-e", script, copy], { env });
    expect(stderr.toString()).toBe("");
    return stdout.toString().trim().split("\n");
  }

  test("once, at any read, is nothing that a caller notices, or at most STORE_UNAVAILABLE", () => {
    let noticed = 0;
    for (let read = 1; read <= 60; read++) {
      const steps = exercise(read, read);
      expect([read, steps.filter((step) => step !== "ok" && step !== "STORE_UNAVAILABLE")]).toEqual([read, []]);
      if (steps.includes("STORE_UNAVAILABLE")) noticed++;
      expect([read, steps[0]]).toEqual([read, "ok"]);
    }
    console.log(`60 reads that failed once: ${noticed} noticed by a caller`);
  }, 120_000);

  test("for a while is STORE_UNAVAILABLE at worst", () => {
    for (const [from, to] of [
      [1, 3],
      [5, 12],
      [10, 40],
      [20, 23],
    ] as const) {
      expect(exercise(from, to).filter((step) => step !== "ok" && step !== "STORE_UNAVAILABLE")).toEqual([]);
    }
  }, 120_000);

  test("for good is STORE_UNAVAILABLE, and not damage", () => {
    expect(exercise(1, 1_000_000)).toEqual(["STORE_UNAVAILABLE"]);
  });
});

describe("a daemon that may open only a few files", () => {
  test("says so: TOO_MANY_FILES, and never a fault of its own", async () => {
    await using world = await startWorld();
    const codes = new Set<string>();
    for (let limit = 16; limit <= 19; limit++) {
      const daemon = Bun.spawn(["sh", "-c", `ulimit -n ${limit}; exec "$@"`, "sh", ...daemonCommand], {
        cwd: world.dir,
        env: { ...world.env },
        stdout: "pipe",
        stderr: "ignore",
      });
      const reader = daemon.stdout.getReader();
      const { value } = await reader.read();
      const first = new TextDecoder().decode(value ?? new Uint8Array()).trim();
      if (first !== "ready") {
        codes.add((JSON.parse(first) as { error: { code: string } }).error.code);
      } else {
        for (const args of [["ls"], ["profiles"], ["log"], ["status", "MSG_USER_00000000"], ["doctor"]]) {
          const child = Bun.spawn([new URL("../../bin/tieline", import.meta.url).pathname, ...args], {
            cwd: world.dir,
            env: { ...world.env },
            stdout: "ignore",
            stderr: "pipe",
            timeout: 2_000,
          });
          codes.add(/^error (\w+)/.exec(await new Response(child.stderr).text())?.[1] ?? "none");
        }
      }
      daemon.kill("SIGKILL");
      await daemon.exited;
      await untilGone(daemon.pid);
    }
    expect([...codes]).toContain("TOO_MANY_FILES");
    expect(
      [...codes].filter((code) => !["none", "TOO_MANY_FILES", "MESSAGE_UNKNOWN", "DAEMON_UNAVAILABLE"].includes(code)),
    ).toEqual([]);
    // With enough of them everything is as before.
    await until(async () => (await world.tieline(["ls"])).code === 0, "a daemon under the usual limit");
  }, 120_000);
});
