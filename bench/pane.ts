/**
 * Accept → bytes readable by the program in an idle pane, against two durable commits and three control-mode round
 * trips; and how long until it is submitted, which takes another look and Enter.
 */
import { Database } from "bun:sqlite";
import { readFileSync, watch } from "node:fs";
import { join } from "node:path";
import { createClient } from "../src/client/client.ts";
import { homeOf } from "../src/client/home.ts";
import { callerOf } from "../src/cli/daemon/connect.ts";
import { pastesOf, promptAgentPath, submissions } from "../src/testing/promptAgent.ts";
import { until } from "../src/testing/until.ts";
import { startWorld } from "../src/testing/world.ts";
import { ControlClient } from "../src/tmux/control.ts";
import { median, ms, report } from "./support/measure.ts";

const rounds = 20;
await using world = await startWorld();
const log = join(world.dir, "submitted.jsonl");
const pane = await world.pane([process.execPath, promptAgentPath, log]);
await until(async () => (await world.screen(pane)).includes(">"), "the prompt");
await world.json(["adopt", pane, "--name", "ana"]);

const home = homeOf(world.env);
const client = createClient({ socket: home.socket }, { ...(await callerOf(home, world.env)), cwd: world.project });
const socketPath = await world.tmux("display-message", "-p", "#{socket_path}");
const control = await ControlClient.attach({ socketPath, session: "main" });

const database = new Database(join(world.dir, "floor.db"));
database.run(
  "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (x TEXT)",
);
const insert = database.prepare("INSERT INTO t VALUES ('x')");

const pastes = (): number[] => readFileSync(pastesOf(log), "utf8").split("\n").filter(Boolean).map(Number);
const submitted = (): number => submissions(log).length;

/** When the file has changed in what is counted; file events leave both cores to those who are measured. */
function next(file: string, count: () => number): Promise<number> {
  const known = count();
  return new Promise((resolve) => {
    const watcher = watch(file, () => {
      if (count() === known) return;
      watcher.close();
      resolve(performance.timeOrigin + performance.now());
    });
  });
}

/**
 * A pane that printed within the last second or two is not idle yet; and who was idle is slow at first, the floor as
 * well.
 */
const idle = (): Promise<void> => Bun.sleep(1_800);

const readable: number[] = [];
const delivered: number[] = [];
const floors: number[] = [];
for (let round = 0; round < rounds; round++) {
  await idle();
  const read = next(pastesOf(log), () => pastes().length);
  const entered = next(log, submitted);
  const { acceptedAt } = await client.call("send", { to: "ana", body: `round ${round}` });
  // It is a whole millisecond, so half a one too early on average.
  const from = acceptedAt + 0.5;
  await read;
  readable.push(pastes().at(-1)! - from);
  delivered.push((await entered) - from);

  await idle();
  const floorFrom = performance.now();
  insert.run();
  insert.run();
  for (let trip = 0; trip < 3; trip++) await control.command(`display-message -p -t ${pane} x`);
  floors.push(performance.now() - floorFrom);
}
await control.close();
const floor = median(floors);
report(
  "accept → readable in an idle pane",
  median(readable) / floor,
  3,
  `read ${ms(median(readable))}, floor ${ms(floor)}`,
);
console.log(
  `accept → submitted in an idle pane: ratio ${(median(delivered) / floor).toFixed(2)} · ${ms(median(delivered))}`,
);
