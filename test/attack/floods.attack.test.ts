import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "../../src/client/client.ts";
import { homeOf } from "../../src/client/home.ts";
import { keeping } from "../../src/testing/keeping.ts";
import { until } from "../../src/testing/until.ts";
import { startWorld, type World } from "../../src/testing/world.ts";

const keep = keeping();
const project = `team: flood
agents:
  writer: { command: [sleep, "1000000"], workspace: rooms/writer, input: files, logs: "logs/*.txt" }
  reader: { command: [sleep, "1000000"], workspace: rooms/reader, input: files }
`;
/** Without a flood it is some 70 MB; what is bounded does not grow with the number of files. */
const memoryBoundMb = 300;

async function aWorld(config?: object): Promise<World> {
  const world = keep(await startWorld({ files: { "tieline.yaml": project }, ...(config && { config }) }));
  expect(await world.tieline(["up"])).toMatchObject({ code: 0 });
  await until(() => existsSync(room(world, "writer", ".outbox")), "the outbox");
  return world;
}

const room = (world: World, ...names: string[]): string => join(world.project, "rooms", ...names);

/** They appear one after the other, each complete. */
function drop(world: World, total: number, entry: (at: number) => object): void {
  const drafts = room(world, "writer", "drafts");
  mkdirSync(drafts);
  const names = Array.from({ length: total }, (_, at) => `${String(at).padStart(6, "0")}.json`);
  names.forEach((name, at) => writeFileSync(join(drafts, name), JSON.stringify(entry(at))));
  for (const name of names) renameSync(join(drafts, name), join(room(world, "writer", ".outbox"), name));
}

const waiting = (world: World): string[] => readdirSync(room(world, "writer", ".outbox")).filter((name) => name.endsWith(".json"));
const taken = (world: World): string[] => readdirSync(room(world, "writer", ".outbox", ".taken"));
const rejected = (world: World): string[] => readdirSync(room(world, "writer", ".outbox", ".rejected"));

function inboxNames(world: World, name: string): string[] {
  const directory = room(world, name, ".inbox");
  return existsSync(directory) ? readdirSync(directory).filter((file) => /^\d.*\.json$/.test(file)).sort() : [];
}

const inboxOf = (world: World, name: string): { from: string; content: string }[] =>
  inboxNames(world, name).map((file) => JSON.parse(readFileSync(room(world, name, ".inbox", file), "utf8")) as { from: string; content: string });

/** Asks the daemon for something until the work is done; it must answer in the middle of it. */
async function whileItAnswers(world: World, work: () => Promise<void>): Promise<number> {
  let over = false;
  let answers = 0;
  const home = homeOf(world.env);
  const daemon = createClient({ socket: home.socket }, { personToken: readFileSync(home.personToken, "utf8").trim() });
  const ask = async (): Promise<void> => {
    while (!over) {
      expect((await daemon.call("daemonStatus", {})).version).toBeString();
      if (!over) answers++;
    }
  };
  const asking = ask();
  await work().finally(() => (over = true));
  await asking;
  return answers;
}

async function peakMemoryMb(world: World): Promise<number> {
  const status = readFileSync(`/proc/${await world.daemonPid()}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+)/.exec(status)![1]) / 1_024;
}

describe("an agent that has nothing but files", () => {
  test("can not freeze the daemon or fill its memory with 10,000 small files, and is told a few times", async () => {
    const world = await aWorld();
    drop(world, 10_000, () => ({ to: "nobody", content: "x" }));
    const answers = await whileItAnswers(world, () => until(() => waiting(world).length + taken(world).length === 0, "the outbox to be empty", 240_000));
    expect(answers).toBeGreaterThan(3);
    expect(rejected(world)).toHaveLength(20_000);
    expect(inboxOf(world, "writer").length).toBeLessThanOrEqual(8);
    expect(await peakMemoryMb(world)).toBeLessThan(memoryBoundMb);
  }, 300_000);

  test("gets 1,000 files sent in order, none lost and none twice", async () => {
    const world = await aWorld({ guards: { perPairPerMinute: 100_000, perSenderPerMinute: 100_000 } });
    drop(world, 1_000, (at) => ({ to: "reader", content: `message ${at}` }));
    await whileItAnswers(world, () => until(() => inboxNames(world, "reader").length >= 1_000, "all files", 240_000));
    expect(inboxOf(world, "reader").map(({ content }) => content)).toEqual(Array.from({ length: 1_000 }, (_, at) => `message ${at}`));
    expect(await peakMemoryMb(world)).toBeLessThan(memoryBoundMb);
  }, 300_000);

  test("is told once that it writes too fast; its files wait in order and go on when they may", async () => {
    const world = await aWorld({ guards: { perPairPerMinute: 5 } });
    drop(world, 300, (at) => ({ to: "reader", content: `message ${at}` }));
    await until(() => inboxNames(world, "reader").length === 5 && inboxNames(world, "writer").length === 1, "the limit to be met");
    expect(inboxOf(world, "writer")).toMatchObject([{ from: "tieline", content: expect.stringContaining("within a minute, which is the limit") }]);
    expect(waiting(world).length + taken(world).length).toBe(295);
    expect(rejected(world)).toEqual([]);
    await world.killDaemon();
    writeFileSync(join(world.env["TIELINE_HOME"]!, "config.json"), JSON.stringify({ guards: { perPairPerMinute: 100_000, perSenderPerMinute: 100_000 } }));
    await world.ls();
    await until(() => inboxNames(world, "reader").length === 300, "the files that waited", 60_000);
    expect(inboxOf(world, "reader").map(({ content }) => content)).toEqual(Array.from({ length: 300 }, (_, at) => `message ${at}`));
  }, 120_000);

  test("can not make the daemon read what it put into its own inbox", async () => {
    const world = await aWorld();
    const inbox = room(world, "writer", ".inbox");
    for (let at = 0; at < 400; at++) {
      const path = join(inbox, `${String(at + 1).padStart(4, "0")}_self.json`);
      writeFileSync(path, "");
      truncateSync(path, 16 << 20);
    }
    await world.killDaemon();
    await world.ls();
    drop(world, 1, () => ({ to: "nobody", content: "x" }));
    await until(() => rejected(world).length === 2, "the file to be put aside");
    await until(() => readdirSync(inbox).some((name) => name.endsWith("_tieline.json")), "the notice");
    expect(await peakMemoryMb(world)).toBeLessThan(memoryBoundMb);
  });
});

describe("logs that are read", () => {
  test("may have 20,000 lines at once", async () => {
    const world = await aWorld();
    const lines = Array.from({ length: 20_000 }, () => "@nobody: x").join("\n");
    world.file("logs/today.txt", `[2026-01-31 09:00:00] RES: ${lines}\n[2026-01-31 09:00:01] RES: @user: the end\n[2026-01-31 09:00:02] RES: x\n`);
    const answers = await whileItAnswers(world, () => until(async () => (await world.inbox("user")).length > 0, "the last line", 240_000));
    expect(answers).toBeGreaterThan(3);
    expect(inboxNames(world, "writer").length).toBeLessThanOrEqual(8);
    expect(await peakMemoryMb(world)).toBeLessThan(memoryBoundMb);
  }, 300_000);

  test("may be 1,100 files, which are not all open", async () => {
    const world = await aWorld();
    for (let at = 0; at < 1_100; at++) world.file(`logs/${String(at).padStart(4, "0")}.txt`, "[2026-01-31 09:00:00] RES: hello\n");
    world.file("logs/last.txt", "[2026-01-31 09:00:01] RES: @user: the end\n[2026-01-31 09:00:02] RES: x\n");
    await whileItAnswers(world, () => until(async () => (await world.inbox("user")).length > 0, "the last file", 240_000));
    expect(readdirSync(`/proc/${await world.daemonPid()}/fd`).length).toBeLessThan(200);
  }, 300_000);
});
