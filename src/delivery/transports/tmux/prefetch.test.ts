import { expect, test } from "bun:test";
import { agentId } from "../../../model/ids.ts";
import type { PaneSnapshot } from "../../../tmux/pane.ts";
import { Prefetch } from "./prefetch.ts";

const [ana, bob] = [agentId("ana"), agentId("bob")];
const snapshotOf = (text: string): PaneSnapshot => ({ styled: [text] }) as unknown as PaneSnapshot;

test("one snapshot serves one question", async () => {
  const prefetches = new Prefetch(10);
  prefetches.begin(ana, 100, () => Promise.resolve(snapshotOf("begun")));
  prefetches.begin(ana, 101, () => Promise.reject(new Error("one snapshot is enough")));
  expect(prefetches.take(bob, 102)).toBeNull();
  const taken = prefetches.take(ana, 110)!;
  expect([taken.at, await taken.snapshot]).toEqual([100, snapshotOf("begun")]);
  expect(prefetches.take(ana, 110)).toBeNull();
});

test("what is not fresh any more is forgotten, by the next caller", async () => {
  const prefetches = new Prefetch(10);
  prefetches.begin(ana, 100, () => Promise.resolve(snapshotOf("old")));
  expect(prefetches.take(ana, 111)).toBeNull();
  prefetches.begin(ana, 200, () => Promise.resolve(snapshotOf("old")));
  prefetches.begin(ana, 211, () => Promise.resolve(snapshotOf("new")));
  expect(await prefetches.take(ana, 212)!.snapshot).toEqual(snapshotOf("new"));
});

test("a snapshot that fails is not a fault yet", async () => {
  const prefetches = new Prefetch(10);
  prefetches.begin(ana, 100, () => Promise.reject(new Error("no pane")));
  expect(await prefetches.take(ana, 100)!.snapshot).toBeNull();
});
