/**
 * 100 subscribers of the event stream while 500 events happen in a second: do all keep up, and how late is an
 * event? The floor is one subscriber at the same rate.
 */
import { streamEvents } from "../src/client/stream.ts";
import { percentile, startBenchHome, type BenchHome } from "../src/testing/benchHome.ts";

const seconds = 5;
const eventsPerSecond = 500;
const targetMs = 250;

interface Watched {
  readonly lateMs: number[];
  readonly missing: number;
  readonly rate: number;
}

/** How many events one message to an agent that fetches its mail makes. */
async function eventsPerSend(home: BenchHome): Promise<number> {
  const sends = 20;
  await home.user.call("send", { to: "ben", body: "x" });
  const { last } = await home.user.call("events", { limit: 0 });
  for (let sent = 0; sent < sends; sent++) await home.user.call("send", { to: "ben", body: "x" });
  return (await home.user.call("events", { after: last })).events.length / sends;
}

async function watch(home: BenchHome, subscribers: number, perSend: number): Promise<Watched> {
  const sends = Math.round((seconds * eventsPerSecond) / perSend);
  const total = sends * perSend;
  const { last } = await home.user.call("events", { limit: 0 });
  const ending = new AbortController();
  const lateMs: number[] = [];
  const counts = Array.from({ length: subscribers }, () => 0);
  const reading = counts.map(async (_, at) => {
    for await (const event of streamEvents(
      { url: home.url, token: home.userToken },
      {},
      { after: last },
      ending.signal,
    )) {
      if (at === 0) lateMs.push(Date.now() - event.at);
      if (++counts[at]! === total) break;
    }
  });
  const start = performance.now();
  for (let sent = 0; sent < sends;) {
    const due = Math.min(sends, Math.ceil(((performance.now() - start) / 1_000) * (eventsPerSecond / perSend)));
    await Promise.all(Array.from({ length: due - sent }, () => home.user.call("send", { to: "ben", body: "x" })));
    sent = due;
    await Bun.sleep(1);
  }
  const rate = total / ((performance.now() - start) / 1_000);
  const patience = setTimeout(() => ending.abort(), 10_000);
  await Promise.all(reading);
  clearTimeout(patience);
  return { lateMs, missing: counts.reduce((sum, count) => sum + total - count, 0), rate };
}

await using home = await startBenchHome();
await home.user.call("register", { name: "ben" });
const perSend = await eventsPerSend(home);
const one = await watch(home, 1, perSend);
const hundred = await watch(home, 100, perSend);
const floor = percentile(one.lateMs, 0.5);
console.log(
  `floor: 1 subscriber     ${one.rate.toFixed(0)} events/s   median ${floor} ms late   p99 ` +
    `${percentile(one.lateMs, 0.99)} ms   missing ${one.missing}`,
);
const p99 = percentile(hundred.lateMs, 0.99);
const verdict = hundred.missing === 0 && p99 < targetMs && hundred.rate > eventsPerSecond * 0.95;
console.log(
  `100 subscribers         ${hundred.rate.toFixed(0)} events/s   median ${percentile(hundred.lateMs, 0.5)} ` +
    `ms late   p99 ${p99} ms   missing ${hundred.missing}   (target: ${eventsPerSecond}/s, none missed, ` +
    `p99 under ${targetMs} ms: ${verdict ? "ok" : "FALLING BEHIND"})`,
);
