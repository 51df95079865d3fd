import { expect, test } from "bun:test";
import { systemTimers } from "../os/timers.ts";
import { CourierPost } from "../testing/courierPost.ts";

test("an attempt with a long text may take longer: 990,000 characters about 20 seconds", async () => {
  const limits: number[] = [];
  const timeout = (ms: number): AbortSignal => {
    limits.push(ms);
    return systemTimers.timeout(ms);
  };
  await using post = new CourierPost({ timeoutMs: 5_000, timers: { ...systemTimers, timeout } });
  await post.courier.start();
  await post.becomes(await post.send("short"), "delivered");
  await post.becomes(await post.send("x".repeat(990_000)), "delivered");
  expect(limits.map((ms) => Math.round(ms / 1_000))).toEqual([5, 25]);
});
