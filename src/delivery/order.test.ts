/** Mail of one sender and urgency keeps its order, over both lanes. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Outcome } from "../model/delivery.ts";
import { bob, busy, CourierPost } from "../testing/courierPost.ts";
import { ana, user } from "../testing/mailboxContract.ts";
import { lowestRank } from "./transports/port.ts";

let post: CourierPost;
beforeEach(() => {
  post = new CourierPost();
});
afterEach(() => post[Symbol.asyncDispose]());

test("a hook does not overtake a push; other senders and more urgent mail do not wait", async () => {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  post.transport.outcome = () => promise;
  await post.courier.start();
  await post.becomes(await post.sendAs(ana, "ana 1"), "claimed");
  const second = await post.sendAs(ana, "ana 2");
  await post.sendAs(ana, "ana, urgent", { when: "interrupt" });
  await post.sendAs(user, "user 1");
  const collected = await post.collect();
  expect(post.bodies(collected).toSorted()).toEqual(["ana, urgent", "user 1"]);
  await collected.flushed({ kind: "delivered", proof: "submitted" });
  resolve({ kind: "delivered", proof: "screen" });
  await post.becomes(second, "delivered");
  expect(post.transport.written).toEqual(["ana 1", "ana 2"]);
});

test("what a program may still have in its queue is not overtaken until its model has read it", async () => {
  post.transport.traits = { bestProof: "transcript", authority: "peer", rank: lowestRank };
  post.transport.outcome = { kind: "delivered", proof: "written" };
  await post.courier.start();
  const first = await post.sendAs(ana, "first");
  await post.becomes(first, "delivered");
  post.transport.readiness = busy;
  await post.sendAs(ana, "second");
  expect(post.bodies(await post.collect())).toEqual([]);
  await post.mailbox.confirm(first.id, "transcript");
  expect(post.bodies(await post.collect())).toEqual(["second"]);
});

test("a transport that cannot prove that its text was read delays no other message", async () => {
  await post.courier.start();
  await post.becomes(await post.sendAs(ana, "first"), "delivered");
  post.transport.readiness = busy;
  await post.sendAs(ana, "second");
  expect(post.bodies(await post.collect())).toEqual(["second"]);
});

test("what a hook is fetching is not overtaken by a push, also when the hook fails", async () => {
  post.transport.readiness = busy;
  await post.courier.start();
  await post.sendAs(ana, "first");
  const collected = await post.collect();
  expect(post.bodies(collected)).toEqual(["first"]);
  const second = await post.sendAs(ana, "second");
  post.transport.readiness = { kind: "ready" };
  await post.becomes(await post.sendAs(user, "of another sender", { when: "tool" }), "delivered");
  expect(post.mailbox.delivery(second.id)).toMatchObject({
    state: "queued",
    detail: "bob is reading an earlier message of ana",
  });
  await collected.flushed({ kind: "held", hold: { reason: "busy", detail: "the hook went away" } });
  await post.becomes(second, "delivered");
  expect(post.transport.written).toEqual(["of another sender", "first", "second"]);
});

test("what does not fit any more keeps back what comes after it", async () => {
  post.transport.readiness = busy;
  await post.courier.start();
  for (const body of ["long", "short"]) await post.sendAs(ana, body);
  expect(
    post.bodies(
      await post.courier.collect(bob, { transport: "hook", authority: "peer", take: ({ body }) => body !== "long" }),
    ),
  ).toEqual([]);
});
