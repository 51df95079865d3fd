/**
 * How soon a change is known: from the moment at which the terminal shows an agent's new state to the event that tells
 * a watcher, and to an `ls` that shows it. One of twenty attended agents changes at a time. Target: 100 ms.
 */
import { agentOperations } from "../src/api/operations/agents.ts";
import { bind } from "../src/api/operations/index.ts";
import { callersOf, rightsOf, viewPartsOf } from "../src/compose/api.ts";
import { scriptedStates } from "../src/testing/scriptedAgent.ts";
import { openStage, type ScriptedCast } from "../src/testing/stage.ts";
import { median, ms, quantile } from "./support/measure.ts";

const crowd = Number(process.env["AGENTS"] ?? 20);
const rounds = 10;
const targetMs = 100;

await using stage = await openStage();
const { tieline } = stage;
const { agents: known, storage, delivery, panes: shown } = stage.composition;
const operations = bind(agentOperations, {
  ...viewPartsOf(stage.composition),
  callers: callersOf(stage.composition, "token"),
  rights: rightsOf(stage.composition),
  ...{ mailbox: storage.mailbox, courier: delivery.courier, statusMonitor: shown.statusMonitor },
  ...{ directory: known.directory, native: known.native, resolve: known.ways.resolve },
});
const signal = new AbortController().signal;
const agents: ScriptedCast[] = [];
for (let n = 0; n < crowd; n++) agents.push(await stage.scripted(`agent${n}`));
using _ = tieline.statusMonitor.follow(() => tieline.directory.agents());
await Bun.sleep(2_000);

const told: number[] = [];
const listed: number[] = [];
for (let round = 0; round < rounds; round++) {
  for (const state of [...scriptedStates.filter((one) => one !== "idle"), "idle" as const]) {
    const cast = agents[round % crowd]!;
    const event = changeOf(cast, state);
    await cast.direct({ state });
    const shownAt = performance.now();
    const toldAt = await event;
    told.push(Math.max(0, toldAt - shownAt));
    const views = await operations.ls({ all: true }, { caller: { userToken: "token" }, signal, face: "socket" });
    if (views.find(({ id }) => id === cast.agent.id)?.state !== state) throw new Error(`ls does not show ${state}`);
    listed.push(performance.now() - shownAt);
  }
}
line("watchers are notified", told);
line("ls shows it", listed);

function changeOf({ agent }: ScriptedCast, state: string): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const stop = tieline.events.onEvent((event) => {
    if (event.type === "agent.changed" && event.agent === agent.id && event.state === state) resolve(performance.now());
  });
  return promise.finally(stop);
}

function line(what: string, times: readonly number[]): void {
  const worst = Math.max(...times);
  const verdict = quantile(times, 0.95) < targetMs ? "within" : "OVER";
  console.log(
    `${what.padEnd(20)} median ${ms(median(times))}, 95 % ${ms(quantile(times, 0.95))}, worst ${ms(worst)} ` +
      `(${verdict} ${targetMs} ms; ${crowd} agents, ${times.length} changes)`,
  );
}
