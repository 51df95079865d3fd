/**
 * A broadcast to 500 objects, from `send` until every handler has taken it and every delivery says so on disk, against
 * the floor: the same rows written to SQLite by hand, one durable commit for each step of a delivery.
 */
import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { objectTeam } from "../src/testing/objectTeam.ts";

const count = 500;
const rounds = 10;
const names = Array.from({ length: count }, (_, at) => `object_${at}`);
const middle = (times: number[]): number => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!;

async function broadcasts(): Promise<{ accepted: number; taken: number }> {
  await using team = await objectTeam();
  writeFileSync(join(team.root, "nothing.ts"), "export default { onMessage() {} };\n");
  team.configure(`objects:\n${names.map((name) => `  ${name}: { module: nothing.ts }`).join("\n")}\n`);
  const accepted: number[] = [];
  const taken: number[] = [];
  // The first one starts the handlers.
  for (let round = 0; round <= rounds; round++) {
    let open = count;
    const done = Promise.withResolvers<void>();
    const stop = team.mailbox.onTransitions((changes) => {
      open -= changes.filter(({ transition }) => transition.to === "seen").length;
      if (open === 0) done.resolve();
    });
    const from = performance.now();
    await team.send({ to: "@all", body: `round ${round}` });
    const acceptedMs = performance.now() - from;
    await done.promise;
    stop();
    if (round === 0) continue;
    accepted.push(acceptedMs);
    taken.push(performance.now() - from);
  }
  return { accepted: middle(accepted), taken: middle(taken) };
}

function floor(): number {
  const root = mkdtempSync(join(tmpdir(), "bench-objects-"));
  try {
    using database = new Database(join(root, "floor.db"), { create: true });
    database.exec(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE steps (id INTEGER PRIMARY KEY, " +
        "agent TEXT, state TEXT)",
    );
    const insert = database.prepare("INSERT INTO steps (agent, state) VALUES (?, ?)");
    const step = database.transaction((state: string) => names.forEach((name) => insert.run(name, state)));
    const times = Array.from({ length: rounds }, () => {
      const from = performance.now();
      for (const state of ["queued", "claimed", "seen"]) step(state);
      return performance.now() - from;
    });
    return middle(times);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

const bare = floor();
const { accepted, taken } = await broadcasts();
console.log(
  `objects: broadcast to ${count}: accepted, durable, after ${accepted.toFixed(1)} ms; taken by all after ` +
    `${taken.toFixed(1)} ms (limit 500); bare rows ${bare.toFixed(1)} ms, ratio ${(taken / bare).toFixed(1)}`,
);
