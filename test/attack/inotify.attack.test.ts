import { expect, test } from "bun:test";
import { describeUnless, lackUnless } from "../../src/testing/needing.ts";

/** Limits of inotify belong to a user namespace, so that no other process is affected. */
const withoutWatches = [
  "unshare",
  "--user",
  "--map-root-user",
  "--",
  "sh",
  "-c",
  'echo 0 >/proc/sys/user/max_inotify_watches && exec "$@"',
  "sh",
];
const canLimit = process.platform === "linux" && Bun.spawnSync([...withoutWatches, "true"]).exitCode === 0;

describeUnless(lackUnless(canLimit, "a user namespace of its own is not allowed here"))(
  "a machine that has no inotify watch left",
  () => {
    test("serves hooks, outboxes, logs, teams and panes all the same", async () => {
      const program = new URL("allIntakes.ts", import.meta.url).pathname;
      const child = Bun.spawn([...withoutWatches, process.execPath, program], {
        env: process.env,
        stdin: "ignore",
        stdout: "pipe",
        stderr: "inherit",
      });
      const [text, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
      expect([code, text]).toEqual([0, "ENOSPC\nall arrived\n"]);
    });
  },
);
