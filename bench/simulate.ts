/**
 * Simulated sends with faults per second of processor time on one core, liveness phases included. The target is 1,000.
 * The floor in the same run is a message that only goes through the mailbox in memory.
 */
import { openMailbox } from "../src/mailbox/mailbox.ts";
import { memoryStore } from "../src/mailbox/memory/store.ts";
import { seal } from "../src/model/message.ts";
import { anAgent } from "../src/testing/agents.ts";
import { user } from "../src/testing/mailboxContract.ts";
import { run, stepsOf } from "../src/testing/simulation/run.ts";
import { Shared } from "../src/testing/simulation/world.ts";

const seeds = 150;
const target = 1_000;

/** Processor time of this process, so that others on the machine do not count. */
function secondsOf(work: () => number): { readonly count: number; readonly seconds: number } {
  const before = process.cpuUsage();
  const count = work();
  const { user: own, system } = process.cpuUsage(before);
  return { count, seconds: (own + system) / 1e6 };
}

const shared = new Shared();
function simulate(from: number): number {
  let sends = 0;
  for (let seed = from; seed < from + seeds; seed++) sends += run({ seed, steps: stepsOf(seed, 60), shared }).sends;
  return sends;
}

simulate(1);
const { count, seconds } = secondsOf(() => simulate(1));
const perSecond = count / seconds;
console.log(
  `${seeds} runs, ${count} sends with faults: ${perSecond.toFixed(0)} per second of one core (target ${target})`,
);

const mailbox = openMailbox(memoryStore());
const bob = anAgent({ name: "bob" });
const before = process.cpuUsage();
for (let at = 0; at < 500; at++)
  await mailbox.accept(seal({ to: "bob", body: `text ${at}` }, user, { inReplyTo: null, hops: 0 }), [bob]);
const { user: own, system } = process.cpuUsage(before);
const floor = 500 / ((own + system) / 1e6);
const cost = (floor / perSecond).toFixed(1);
console.log(`floor, accept only: ${floor.toFixed(0)} per second; a simulated send costs ${cost} of them`);
