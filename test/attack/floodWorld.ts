/** A project with two agents that have only files, and what floods of files ask of its daemon. */
import { expect } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "../../src/client/client.ts";
import { homeOf } from "../../src/client/home.ts";
import { until } from "../../src/testing/until.ts";
import { startWorld, type World } from "../../src/testing/world.ts";

const project = `team: flood
agents:
  writer: { command: [sleep, "1000000"], workspace: rooms/writer, input: files, logs: "logs/*.txt" }
  reader: { command: [sleep, "1000000"], workspace: rooms/reader, input: files }
`;
/** Without a flood it is some 70 MB; what is bounded does not grow with the number of files. */
export const memoryBoundMb = 300;

/** The caller disposes the world. */
export async function startFloodWorld(config?: object): Promise<World> {
  const world = await startWorld({ files: { "tieline.yaml": project }, ...(config && { config }) });
  expect(await world.tieline(["up"])).toMatchObject({ code: 0 });
  await until(() => existsSync(room(world, "writer", ".outbox")), "the outbox");
  return world;
}

export const room = (world: World, ...names: string[]): string => join(world.project, "rooms", ...names);

/** They appear one after the other, each complete. */
export function drop(world: World, total: number, entry: (at: number) => object): void {
  const drafts = room(world, "writer", "drafts");
  mkdirSync(drafts);
  const names = Array.from({ length: total }, (_, at) => `${String(at).padStart(6, "0")}.json`);
  names.forEach((name, at) => writeFileSync(join(drafts, name), JSON.stringify(entry(at))));
  for (const name of names) renameSync(join(drafts, name), join(room(world, "writer", ".outbox"), name));
}

export const waiting = (world: World): string[] =>
  readdirSync(room(world, "writer", ".outbox")).filter((name) => name.endsWith(".json"));
export const taken = (world: World): string[] => readdirSync(room(world, "writer", ".outbox", ".taken"));
export const rejected = (world: World): string[] => readdirSync(room(world, "writer", ".outbox", ".rejected"));

export function inboxNames(world: World, name: string): string[] {
  const directory = room(world, name, ".inbox");
  return existsSync(directory)
    ? readdirSync(directory)
        .filter((file) => /^\d.*\.json$/.test(file))
        .sort()
    : [];
}

export const inboxOf = (world: World, name: string): { from: string; content: string }[] =>
  inboxNames(world, name).map(
    (file) => JSON.parse(readFileSync(room(world, name, ".inbox", file), "utf8")) as { from: string; content: string },
  );

/** Asks the daemon for something, a few times a second, until the work is done; it must answer meanwhile. */
export async function whileItAnswers(world: World, work: () => Promise<void>): Promise<number> {
  let over = false;
  let answers = 0;
  const home = homeOf(world.env);
  const daemon = createClient({ socket: home.socket }, { userToken: readFileSync(home.userToken, "utf8").trim() });
  const ask = async (): Promise<void> => {
    while (!over) {
      await daemon.call("daemonStatus", {});
      if (!over) answers++;
      await Bun.sleep(100);
    }
  };
  const asking = ask();
  await work().finally(() => (over = true));
  await asking;
  return answers;
}

export async function peakMemoryMb(world: World): Promise<number> {
  const status = readFileSync(`/proc/${await world.daemonPid()}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+)/.exec(status)![1]) / 1_024;
}
