import { expect, test } from "bun:test";
import { join } from "node:path";
import type { ReceiptView } from "../src/api/schema.ts";
import { aMomentWithin } from "../src/testing/moments.ts";
import { promptAgentPath, submissions } from "../src/testing/promptAgent.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

/**
 * SIGKILL at random points of the daemon's life, with messages on their way. Every message whose `send` succeeded
 * must be submitted in the pane exactly once, whatever the daemon was doing when it died.
 */
const kills = Number(process.env["TIELINE_KILLS"] ?? 200);

test(`nothing is lost and nothing doubled over ${kills} kills`, async () => {
  let survived = 0;
  for (let worlds = 1; survived < kills; worlds++) {
    survived += await killWhileSending(kills - survived);
    if (survived < kills) console.log(`tmux ended with a fault after ${survived} kills; going on with another one`);
    expect(worlds).toBeLessThan(4);
  }
}, 1_800_000);

/** How many kills it took; fewer than asked for when tmux itself has ended, which takes the pane with it. */
async function killWhileSending(times: number): Promise<number> {
  await using world = await startWorld({ config: { delivery: { quietMs: 20, timeoutMs: 10_000 } } });
  const log = join(world.dir, "submitted.jsonl");
  const pane = await world.pane([process.execPath, promptAgentPath, log]);
  await until(async () => (await world.screen(pane)).includes(">"), "the prompt");
  await world.json(["adopt", pane, "--name", "ana"]);
  const tmux = Number(await world.tmux("display-message", "-p", "#{pid}"));

  const accepted: string[] = [];
  let kill = 0;
  for (; kill < times && isAlive(tmux); kill++) {
    const burst = Array.from({ length: 3 }, (_, at) => `kill ${kill}, message ${at}`);
    const sends = burst.map(async (body) => {
      const { code, stdout } = await world.tieline(["send", "--json", "ana", body]);
      if (code === 0) accepted.push((JSON.parse(stdout) as ReceiptView).tag);
    });
    await aMomentWithin(120);
    await killQuietly(world);
    await Promise.all(sends);
  }
  await world.tieline(["daemon", "start"]);
  const arrived = (): boolean => submissions(log).length >= accepted.length;
  await until(() => arrived() || !isAlive(tmux), `${accepted.length} submissions`, 300_000);
  const tags = submissions(log).map(
    (text) => /^\[(MSG_USER_[0-9a-f]{8}) from user\]\n/.exec(text)?.[1] ?? `not ours: ${text}`,
  );
  if (!isAlive(tmux)) {
    expect(tags.filter((tag) => !accepted.includes(tag))).toEqual([]);
    expect(new Set(tags).size).toBe(tags.length);
    return kill - 1;
  }
  expect(accepted.length).toBeGreaterThan(times);
  expect(tags.toSorted()).toEqual(accepted.toSorted());
  const states = await Promise.all(
    accepted.slice(-50).map(async (tag) => (await world.status(tag)).deliveries[0]!.state),
  );
  expect(new Set(states)).toEqual(new Set(["delivered"]));
  return times;
}

/**
 * tmux 3.3a ends with a fault when a control client is killed while it connects, or leaves while another one connects.
 */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The next command starts the daemon again; between two kills there may be none. */
async function killQuietly(world: World): Promise<void> {
  await world.killDaemon().catch((error: Error) => {
    if (!error.message.includes("no daemon runs")) throw error;
  });
}
