import { expect, test } from "bun:test";
import { describeUnless, lackUnless } from "../../src/testing/needing.ts";
import { until } from "../../src/testing/until.ts";
import { startIntakes } from "./intakes.ts";

const canLimit = process.getuid?.() === 0 && Bun.which("prlimit") !== null;

/** From now on the process can open `files` files in all: below what it has open, none. */
function limitFiles(pid: number, files: number): void {
  const { exitCode, stderr } = Bun.spawnSync(["prlimit", "--pid", String(pid), `--nofile=${files}:`]);
  if (exitCode !== 0) throw new Error(stderr.toString());
}

/** What only waits for its parent to notice has ended. */
function isRunning(pid: number): boolean {
  const { stdout } = Bun.spawnSync(["ps", "-o", "stat=", "-p", String(pid)]);
  return !["", "Z"].includes(stdout.toString().trim().slice(0, 1));
}

describeUnless(lackUnless(canLimit, "changing the limits of a process needs root and prlimit"))(
  "a daemon without file descriptors for a while",
  () => {
    test("continues when there are some again: hooks, outboxes, logs, teams and panes", async () => {
      await using intakes = await startIntakes();
      const { world, log } = intakes;
      intakes.write("before");
      await intakes.arrived("before");
      const pid = await world.daemonPid();
      limitFiles(pid, 3);
      intakes.write("meanwhile");
      for (const what of ["hooks/spool", "outbox|workspace", "Claude Code team"]) {
        await until(
          () => new RegExp(`(${what}).*(EMFILE|TOO_MANY_FILES|may not open more files)`).test(log()),
          () => `${what} to meet the limit:\n${log()}`,
        );
      }
      limitFiles(pid, 1_024);
      await intakes.arrived("meanwhile");
      expect(await world.tieline(["send", "--wait", "delivered", "ana", "after"])).toMatchObject({ code: 0 });
      intakes.write("after");
      await intakes.arrived("after");
      expect(await world.daemonPid()).toBe(pid);
      // A daemon that has been through this still stops on request.
      expect(await world.tieline(["daemon", "stop"])).toMatchObject({ code: 0 });
      expect(isRunning(pid)).toBe(false);
    });
  },
);
