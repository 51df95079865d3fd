import { expect, test } from "bun:test";
import { longestHistory, type Delivery, type Outcome } from "../model/delivery.ts";
import { CourierPost } from "../testing/courierPost.ts";

const changed: Outcome = {
  kind: "held",
  hold: { reason: "busy", detail: "%9 changed just before the paste (command)" },
};

/** How often the delivery was tried, as its history tells. */
const tried = (post: CourierPost, delivery: Delivery): number => {
  const history = post.history(delivery);
  return (
    history.filter(({ verb }) => verb === "claim").length +
    history.reduce((sum, { leftOut = 0 }) => sum + leftOut / 2, 0)
  );
};

/** Attempts within one minute of the courier's clock, which goes as fast as its pauses. */
async function attemptsInAMinute(outcome: Outcome) {
  const post = new CourierPost({ retryMs: 200 });
  const { transport, courier } = post;
  const times: number[] = [];
  const minute = Promise.withResolvers<void>();
  transport.outcome = async () => {
    times.push(Date.now() + post.lateMs);
    if (times.at(-1)! - times[0]! > 60_000) minute.resolve();
    return outcome;
  };
  await courier.start();
  const delivery = await post.send("hello");
  const tick = setInterval(() => {
    post.lateMs += 100;
    courier.wake(delivery.agent);
  }, 1);
  await minute.promise;
  clearInterval(tick);
  return { post, delivery, times };
}

test.each([
  ["held", changed],
  ["gone", { kind: "gone", detail: "nothing listens" }],
  ["absent", { kind: "absent", detail: "it left no trace" }],
] as const)(
  "a transport that says ready and then always answers %s is tried a few times a minute, whatever wakes the courier",
  async (_, outcome) => {
    const { post, delivery, times } = await attemptsInAMinute(outcome);
    expect(times.length).toBeLessThan(16);
    expect(post.history(delivery).length).toBeLessThan(60);
    await post.until(delivery, ({ detail }) => detail !== null);
    expect(post.delivery(delivery).detail).toMatch(/; tried \d+ times, again in \d+(\.\d)? s$/);
    await post[Symbol.asyncDispose]();
  },
);

test("each attempt waits twice as long as the one before, ten seconds at most", async () => {
  const { post, times } = await attemptsInAMinute(changed);
  const pauses = times.slice(1).map((at, index) => at - times[index]!);
  for (const [index, pause] of pauses.entries())
    expect(pause).toBeGreaterThanOrEqual(Math.min(200 * 2 ** index, 10_000));
  expect(Math.max(...pauses)).toBeLessThan(12_000);
  await post[Symbol.asyncDispose]();
});

test("what is refused for hours keeps a short history", async () => {
  await using post = new CourierPost({ retryMs: 1 });
  post.transport.outcome = async () => {
    post.lateMs += 20_001;
    return changed;
  };
  await post.courier.start();
  const delivery = await post.send("hello");
  await post.until(delivery, () => tried(post, delivery) > 400);
  expect(post.history(delivery).length).toBeLessThanOrEqual(longestHistory);
});

test("the first refusal is reported as it is, and a delivery ends the back-off", async () => {
  await using post = new CourierPost({ retryMs: 1 });
  let refusals = 2;
  post.transport.outcome = async () => (refusals-- > 0 ? changed : { kind: "delivered", proof: "screen" });
  await post.courier.start();
  const first = await post.send("first");
  await post.becomes(first, "delivered");
  const details = post
    .history(first)
    .flatMap(({ verb, detail }) => (verb === "settle" && detail !== null ? [detail] : []));
  expect(details).toEqual([
    "%9 changed just before the paste (command)",
    "%9 changed just before the paste (command); tried 2 times, again in 2 ms",
  ]);
  refusals = 1;
  const second = await post.send("second");
  await post.becomes(second, "delivered");
  expect(post.history(second).find(({ verb }) => verb === "settle")).toMatchObject({
    detail: "%9 changed just before the paste (command)",
  });
});

test("another endpoint takes the message while one pauses", async () => {
  await using post = new CourierPost({ retryMs: 60_000 });
  post.transport.outcome = changed;
  await post.courier.start();
  const delivery = await post.send("hello");
  await post.until(delivery, ({ state, detail }) => state === "queued" && detail !== null);
  const collected = await post.collect();
  await collected.flushed({ kind: "delivered", proof: "submitted" });
  expect(post.delivery(delivery).state).toBe("delivered");
});

test("reasons that change at every check are written down once a second", async () => {
  await using post = new CourierPost();
  let check = 0;
  post.transport.ready = async () => ({ kind: "held", hold: { reason: "busy", detail: `check ${++check}` } });
  await post.courier.start();
  const delivery = await post.send("hello");
  await post.until(delivery, ({ detail }) => detail === "check 1");
  while (check < 200) {
    post.courier.wake(delivery.agent);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(post.history(delivery).filter(({ verb }) => verb === "hold").length).toBeLessThan(5);
  expect(post.courier.holdOf(delivery.agent)?.detail).toBe(`check ${check}`);
});
