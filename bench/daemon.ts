/** The daemon with 200 agents: memory, and CPU while nothing happens. */
import { readFileSync } from "node:fs";
import { startWorld } from "../src/testing/world.ts";

const agents = 200;
const restMs = 20_000;
await using world = await startWorld();
for (let at = 0; at < agents; at++) {
  const pane = await world.pane(["cat"]);
  await world.json(["adopt", pane, "--name", `agent_${at}`]);
}
const pid = await world.daemonPid();
const ticks = (): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return Number(fields[11]) + Number(fields[12]);
};
const resident = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;
await Bun.sleep(2_000);
const before = ticks();
await Bun.sleep(restMs);
const percent = ((ticks() - before) * 10) / (restMs / 100);
console.log(`daemon with ${agents} agents: ${resident.toFixed(0)} MB resident (target 80), ${percent.toFixed(2)} % CPU over ${restMs / 1_000} s of rest`);
