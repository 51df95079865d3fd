/**
 * Outbox file closed → message accepted by the real router and durable in the real mailbox, against the floor: a bare
 * fs.watch event for the same rename.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { watchOutbox } from "../src/intake/outbox/watch.ts";
import { Submissions } from "../src/intake/submissions.ts";
import { objectTeam } from "../src/testing/objectTeam.ts";

const rounds = 300;
const root = mkdtempSync(join(tmpdir(), "bench-outbox-"));

/** Times from the rename that makes a file appear to the call of `arrived`. */
async function measure(directory: string, listen: (arrived: () => void) => Promise<() => unknown>): Promise<number[]> {
  const times: number[] = [];
  let arrived = () => {};
  const stop = await listen(() => arrived());
  for (let i = 0; i < rounds; i++) {
    writeFileSync(join(directory, ".draft"), `{"to":"coder","content":"message ${i}"}`);
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    const from = performance.now();
    renameSync(join(directory, ".draft"), join(directory, `${String(i).padStart(4, "0")}_coder.json`));
    await arrival;
    times.push(performance.now() - from);
    await Bun.sleep(2);
  }
  await stop();
  return times.sort((a, b) => a - b);
}

const at = (times: number[], share: number) => times[Math.floor(times.length * share)] ?? Number.NaN;

try {
  const bare = join(root, "bare");
  mkdirSync(bare);
  const floor = await measure(bare, async (arrived) => {
    const watcher = watch(bare, (_, name) => {
      if (name?.endsWith(".json")) arrived();
    });
    return () => watcher.close();
  });

  const outbox = join(root, ".outbox");
  mkdirSync(outbox);
  await using team = await objectTeam();
  team.configure("");
  const submissions = new Submissions({
    mailbox: team.mailbox,
    router: team.router,
    getsNotices: () => true,
    report: (context, fault) => console.error(context, fault),
  });
  const writer = team.agent("writer");
  team.agent("coder");
  const accepted = await measure(outbox, async (arrived) => {
    const controller = new AbortController();
    const accept = async (entry: Parameters<Submissions["fromOutbox"]>[1], key: string): Promise<void> => {
      await submissions.fromOutbox(writer, entry, key);
      arrived();
    };
    const done = watchOutbox({ workspace: root, signal: controller.signal, rescanMs: 600_000, accept });
    await Bun.sleep(50);
    return () => {
      controller.abort();
      return done;
    };
  });

  const median = at(accepted, 0.5);
  const ratio = median / at(floor, 0.5);
  console.log(
    `outbox: closed → accepted, durable: median ${median.toFixed(2)} ms (limit 10), p99 ` +
      `${at(accepted, 0.99).toFixed(2)} ms; bare watch event median ${at(floor, 0.5).toFixed(2)} ms, ratio ` +
      `${ratio.toFixed(1)}`,
  );
} finally {
  rmSync(root, { recursive: true, force: true });
}
