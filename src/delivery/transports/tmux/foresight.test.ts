import { expect, test } from "bun:test";
import { agentId } from "../../../model/ids.ts";
import type { Look } from "../../../tmux/pane.ts";
import { Foresight } from "./foresight.ts";

const [ana, bob] = [agentId("ana"), agentId("bob")];
const look = (text: string): Look => ({ styled: [text] }) as unknown as Look;

test("one look serves one question", async () => {
  const foresight = new Foresight(10);
  foresight.begin(ana, 100, () => Promise.resolve(look("begun")));
  foresight.begin(ana, 101, () => Promise.reject(new Error("one look is enough")));
  expect(foresight.take(bob, 102)).toBeNull();
  const taken = foresight.take(ana, 110)!;
  expect([taken.at, await taken.look]).toEqual([100, look("begun")]);
  expect(foresight.take(ana, 110)).toBeNull();
});

test("what is not fresh any more is forgotten, by whoever asks or begins next", async () => {
  const foresight = new Foresight(10);
  foresight.begin(ana, 100, () => Promise.resolve(look("old")));
  expect(foresight.take(ana, 111)).toBeNull();
  foresight.begin(ana, 200, () => Promise.resolve(look("old")));
  foresight.begin(ana, 211, () => Promise.resolve(look("new")));
  expect(await foresight.take(ana, 212)!.look).toEqual(look("new"));
});

test("a look that fails is nobody's fault yet", async () => {
  const foresight = new Foresight(10);
  foresight.begin(ana, 100, () => Promise.reject(new Error("no pane")));
  expect(await foresight.take(ana, 100)!.look).toBeNull();
});
