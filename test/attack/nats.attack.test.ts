import { expect, test } from "bun:test";
import { describeUnless, lackUnless } from "../../src/testing/needing.ts";

/** A network of its own, so that port 4222 is free and nothing global is bound. */
const inOwnNetwork = ["unshare", "--net", "--", "sh", "-c", 'busybox ip link set lo up && exec "$@"', "sh"];
const canHaveNetwork =
  process.getuid?.() === 0 && Bun.which("busybox") !== null && Bun.spawnSync([...inOwnNetwork, "true"]).exitCode === 0;

interface Seen {
  readonly connections: number;
  readonly detail: string;
}

/** What a server of another user at localhost:4222 sees while mail flows, and what doctor says. */
async function serverOfAnother(config: object): Promise<Seen> {
  const program = new URL("natsServerOfAnother.ts", import.meta.url).pathname;
  const child = Bun.spawn([...inOwnNetwork, process.execPath, program, JSON.stringify(config)], {
    env: process.env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const text = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  return JSON.parse(text) as Seen;
}

describeUnless(lackUnless(canHaveNetwork, "a network namespace needs root, unshare and busybox"))(
  "another user's server at localhost:4222",
  () => {
    test("is neither connected to nor told anything, and doctor mentions it with its owner", async () => {
      const { connections, detail } = await serverOfAnother({});
      expect(connections).toBe(0);
      expect(detail).toBe(
        "not configured, so nothing is published; a program of uid 65534 listens at localhost:4222, set " +
          "nats.url in config.json to publish events to it",
      );
    });

    test("is connected to when the user has named it", async () => {
      const { connections, detail } = await serverOfAnother({ nats: { url: "nats://localhost:4222" } });
      expect(connections).toBeGreaterThan(0);
      expect(detail).toStartWith("nats://localhost:4222: ");
    });

    test("is left alone when NATS is switched off", async () => {
      const { connections, detail } = await serverOfAnother({ nats: { url: "nats://localhost:4222", enabled: false } });
      expect([connections, detail]).toEqual([0, "switched off: nats.enabled is false"]);
    });
  },
);
