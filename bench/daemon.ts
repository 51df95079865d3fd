/**
 * The daemon with 200 agents while nothing happens: memory, and the processor time that it takes against the same
 * daemon without any agent. Targets: 80 MB, and nothing for the agents.
 */
import { readFileSync } from "node:fs";
import { callerOf } from "../src/cli/daemon/connect.ts";
import { createClient } from "../src/client/client.ts";
import { homeOf } from "../src/client/home.ts";
import { startWorld } from "../src/testing/world.ts";

const agents = Number(process.env["AGENTS"] ?? 200);
const restMs = 20_000;
/** Until the collector has given back what the work before took. */
const calmMs = 30_000;

await using world = await startWorld();
const panes: string[] = [];
for (let at = 0; at < agents; at++) panes.push(await world.pane(["cat"]));
await world.json(["ls"]);
const pid = await world.daemonPid();
const home = homeOf(world.env);
const tmuxServer = await world.tmux("display-message", "-p", "#{socket_path}");
const client = createClient(
  { socket: home.socket },
  { ...(await callerOf(home, world.env)), cwd: world.project, tmuxServer },
);

const alone = await atRest();
for (const [at, target] of panes.entries()) await client.call("adopt", { target, name: `agent_${at}` });
const busy = residentMb();
const together = await atRest();
console.log(`no agents       ${alone.residentMb.toFixed(0)} MB resident, ${percent(alone.cpuMs)} CPU at rest`);
console.log(
  `${agents} agents      ${together.residentMb.toFixed(0)} MB resident (target 80; ${busy.toFixed(0)} MB ` +
    `just after adopting them), ${percent(together.cpuMs)} CPU at rest`,
);

async function atRest(): Promise<{ cpuMs: number; residentMb: number }> {
  await Bun.sleep(calmMs);
  const before = cpuMs();
  await Bun.sleep(restMs);
  return { cpuMs: cpuMs() - before, residentMb: residentMb() };
}

/** Of all its threads, in steps of 10 ms. */
function cpuMs(): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function residentMb(): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;
}

function percent(ms: number): string {
  return `${((100 * ms) / restMs).toFixed(2)} %`;
}
