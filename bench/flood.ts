/**
 * What a flood of small files or log lines costs the daemon: the longest time without an answer, its largest
 * memory, and the time per file for a burst of 1,000 and of 10,000. Linux tells the memory of a process.
 */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

const unlimited = { guards: { perPairPerMinute: 1_000_000, perSenderPerMinute: 1_000_000, maxHops: 1_000_000 } };
const project = `team: flood
agents:
  writer: { command: [sleep, "1000000"], workspace: rooms/writer, input: files, logs: "logs/*.txt" }
  reader: { command: [sleep, "1000000"], workspace: rooms/reader, input: files }
`;

const peakMb = (pid: number): number =>
  Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1_024);

/** Asks the daemon for a sign of life again and again; the longest answer is the longest time in which it was busy. */
async function whileAsking(world: World, work: () => Promise<void>): Promise<{ ms: number; longestMs: number }> {
  const unix = join(world.env["TIELINE_HOME"]!, "daemon.sock");
  let longestMs = 0;
  let over = false;
  const ask = async (): Promise<void> => {
    while (!over) {
      const from = performance.now();
      await fetch("http://tieline/v1/openapi.json", { unix, method: "HEAD" }).then((answer) => answer.arrayBuffer());
      longestMs = Math.max(longestMs, performance.now() - from);
      await Bun.sleep(2);
    }
  };
  const asking = ask();
  const from = performance.now();
  await work();
  const ms = performance.now() - from;
  over = true;
  await asking;
  return { ms, longestMs };
}

/**
 * All at once: they are written beside the outbox and appear by one rename each. Another process does it, not to hold
 * up the asking.
 */
async function drop(world: World, total: number, text: string): Promise<string> {
  const outbox = join(world.project, "rooms/writer/.outbox");
  const drafts = join(world.project, "rooms/writer/drafts");
  mkdirSync(drafts, { recursive: true });
  const program = `const { writeFileSync, renameSync } = require("node:fs");
    const [drafts, outbox, total, text] = process.argv.slice(-4);
    const names = Array.from({ length: Number(total) }, (_, at) => String(at).padStart(6, "0") + ".json");
    for (const name of names) writeFileSync(drafts + "/" + name, text);
    for (const name of names) renameSync(drafts + "/" + name, outbox + "/" + name);`;
  await Bun.spawn([process.execPath, "-e", program, drafts, outbox, String(total), text], {
    stdout: "inherit",
    stderr: "inherit",
  }).exited;
  return outbox;
}

const isEmpty = (outbox: string): boolean =>
  !readdirSync(outbox).some((name) => name.endsWith(".json")) && readdirSync(join(outbox, ".taken")).length === 0;

interface Flood {
  readonly name: string;
  readonly config?: object;
  run(world: World): Promise<void>;
}

const outboxFlood = (name: string, total: number, text: string, config?: object): Flood => ({
  name,
  ...(config && { config }),
  run: async (world) => {
    const outbox = await drop(world, total, text);
    await until(() => isEmpty(outbox), "the outbox to be empty", 600_000);
  },
});

const logLines = 100_000;
const floods: readonly Flood[] = [
  outboxFlood("1,000 files to an unknown name", 1_000, '{"to":"unknown","content":"x"}'),
  outboxFlood("10,000 files to an unknown name", 10_000, '{"to":"unknown","content":"x"}'),
  outboxFlood("1,000 files, accepted", 1_000, '{"to":"reader","content":"x"}', unlimited),
  outboxFlood("10,000 files, accepted", 10_000, '{"to":"reader","content":"x"}', unlimited),
  {
    name: "100,000 log lines to an unknown name",
    run: async (world) => {
      const lines = Array.from({ length: logLines }, () => "@unknown: x").join("\n");
      world.file(
        "logs/today.txt",
        `[2026-01-31 09:00:00] RES: ${lines}\n[2026-01-31 09:00:01] RES: Done. @user: the end\n[2026-01-31 ` +
          `09:00:02] RES: x\n`,
      );
      await until(async () => (await world.inbox("user")).length > 0, "the last line to be read", 600_000);
    },
  },
];

for (const { name, config, run } of floods.filter(({ name }) => name.includes(process.argv[2] ?? ""))) {
  await using world = await startWorld({ files: { "tieline.yaml": project }, ...(config && { config }) });
  const up = await world.tieline(["up"]);
  if (up.code !== 0) throw new Error(up.stdout + up.stderr);
  const pid = await world.daemonPid();
  await until(() => readdirSync(join(world.project, "rooms/writer")).includes(".outbox"), "the outbox");
  const before = peakMb(pid);
  const { ms, longestMs } = await whileAsking(world, () => run(world));
  console.log(
    `${name}: ${(ms / 1_000).toFixed(1)} s, longest without an answer ${longestMs.toFixed(0)} ms, memory ` +
      `${before} → ${peakMb(pid)} MB`,
  );
}
