/**
 * Send latency with NATS in every condition, against the floor: a daemon that does not know of NATS. Each condition has
 * a daemon of its own, and the two take turns message by message, so that both see the same machine.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, type Client } from "../src/client/client.ts";
import { homeOf } from "../src/client/home.ts";
import { startDaemon } from "../src/cli/daemon/start.ts";
import { natsServerPath, NatsServer } from "../src/testing/natsServer.ts";

const messages = 1_000;
const warmUp = 100;
const target = 1.05;

interface Subject {
  readonly send: () => Promise<number>;
  readonly user: Client;
  readonly stop: () => Promise<void>;
}

async function subject(nats: object): Promise<Subject> {
  const root = mkdtempSync(join(tmpdir(), "bench-nats-"));
  const env = { PATH: process.env["PATH"], HOME: root, TIELINE_HOME: root };
  const home = homeOf(env);
  writeFileSync(home.config, JSON.stringify({ nats }));
  await startDaemon(home, env);
  const user = createClient({ socket: home.socket }, { userToken: readFileSync(home.userToken, "utf8").trim() });
  await user.call("register", { name: "ana" });
  return {
    user,
    async send() {
      const from = performance.now();
      await user.call("send", { to: "ana", body: "hello" });
      return performance.now() - from;
    },
    async stop() {
      const { pid } = await user.call("daemonStatus", {});
      await user.call("daemonStop", {});
      while (isAlive(pid)) await Bun.sleep(20);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function compare(
  name: string,
  url: string,
  at: (sent: number) => Promise<void> | void = () => undefined,
): Promise<void> {
  const [without, with_] = [await subject({ enabled: false }), await subject({ url })];
  const times: Record<"without" | "with", number[]> = { without: [], with: [] };
  for (let sent = -warmUp; sent < messages; sent++) {
    await at(sent);
    const pair =
      sent % 2 === 0
        ? [await without.send(), await with_.send()]
        : [await with_.send(), await without.send()].reverse();
    if (sent < 0) continue;
    times.without.push(pair[0]!);
    times.with.push(pair[1]!);
  }
  const nats = (await with_.user.call("doctor", {})).find((check) => check.name === "nats")!;
  const stored = (await with_.user.call("export", { limit: 1 })).messages.length + (await count(with_.user));
  await Promise.all([without.stop(), with_.stop()]);
  const floor = at_(times.without, 0.5);
  // The two sends of a pair met the same machine, so their difference is what NATS costs.
  const cost = at_(
    times.with.map((time, index) => time - times.without[index]!),
    0.5,
  );
  const ratio = (floor + cost) / floor;
  const p90 = at_(times.with, 0.9) / at_(times.without, 0.9);
  console.log(
    `nats ${name.padEnd(11)} send median ${at_(times.with, 0.5).toFixed(2)} ms, without ${floor.toFixed(2)} ` +
      `ms: ratio of pairs ${ratio.toFixed(3)}, of p90 ` +
      `${p90.toFixed(3)}${ratio <= target ? "" : `  above ${target}`}`,
  );
  console.log(`     ${stored} of ${messages + warmUp} messages stored; ${nats.detail}`);
}

/** How many messages the daemon has beyond the first. */
async function count(user: Client): Promise<number> {
  let page = await user.call("export", { limit: 1 });
  let found = 0;
  for (;;) {
    page = await user.call("export", { after: page.last, limit: 1_000 });
    found += page.messages.length;
    if (!page.more) return found;
  }
}

const at_ = (times: number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * share)]!;

await compare("absent", "nats://127.0.0.1:1");
const hole = createServer(() => undefined);
await new Promise<void>((resolve) => hole.listen(0, "127.0.0.1", resolve));
await compare("black hole", `nats://127.0.0.1:${(hole.address() as AddressInfo).port}`);
hole.close();
await compare("unroutable", "nats://10.255.255.1:4222");
if (natsServerPath === null) {
  console.log("nats: there is no nats-server on this machine, so nothing was measured with one");
} else {
  await using server = await NatsServer.start();
  await compare("there", server.url);
  await compare("restarted", server.url, (sent) =>
    sent === 300 ? server.stop() : sent === 600 ? server.start() : undefined,
  );
  await compare("stopped", server.url, (sent) => (sent === 300 ? server.stop() : undefined));
}
process.exit(0);
