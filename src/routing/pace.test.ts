import { expect, test } from "bun:test";
import { openMailbox } from "../mailbox/mailbox.ts";
import { memoryStore } from "../mailbox/memory/store.ts";
import { agentId, type Clock } from "../model/ids.ts";
import { seal, type Sender } from "../model/message.ts";
import { Pace } from "./pace.ts";

const ana: Sender = { id: agentId("a-1"), name: "ana", team: "web", knownBy: "token" };
const bob = { id: agentId("b-1"), name: "bob" };
const cy = { id: agentId("c-1"), name: "cy" };
const dayMs = 86_400_000;

function aMinute() {
  const time = { wall: 1_800_000_000_000, elapsed: 0 };
  const clock: Clock = Object.assign(() => time.wall, { elapsed: () => time.elapsed });
  const mailbox = openMailbox(memoryStore(), { clock });
  return {
    time,
    clock,
    mailbox,
    pass(ms: number) {
      time.wall += ms;
      time.elapsed += ms;
    },
    write: (to = [bob]) =>
      mailbox.accept(seal({ to: "bob", body: "x" }, ana, { inReplyTo: null, hops: 1 }, { clock }), to),
  };
}

test("counts messages once, and deliveries for each recipient, for a minute", async () => {
  const { mailbox, clock, pass, write } = aMinute();
  const pace = new Pace(mailbox, clock);
  const counts = (): number[] => [
    pace.lastMinute(ana.id, null),
    pace.lastMinute(ana.id, bob.id),
    pace.lastMinute(ana.id, cy.id),
  ];
  expect(counts()).toEqual([0, 0, 0]);
  await write([bob, cy]);
  pass(30_000);
  await write();
  expect(counts()).toEqual([2, 2, 1]);
  pass(30_000);
  expect(counts()).toEqual([1, 1, 0]);
  pass(30_000);
  expect(counts()).toEqual([0, 0, 0]);
});

test.each([60_000, -60_000, 600_000, -600_000, 60 * dayMs, -60 * dayMs])(
  "a clock that is set by %d ms changes no rate",
  async (jump) => {
    const { mailbox, clock, pass, write, time } = aMinute();
    const pace = new Pace(mailbox, clock);
    pace.lastMinute(ana.id, null);
    await write();
    pass(10_000);
    time.wall += jump;
    await write();
    expect(pace.lastMinute(ana.id, null)).toBe(2);
    pass(50_000);
    expect(pace.lastMinute(ana.id, null)).toBe(1);
    pass(10_000);
    expect(pace.lastMinute(ana.id, null)).toBe(0);
  },
);

test("what was sent in the minute before the start counts, and is over in time", async () => {
  const { mailbox, clock, pass, write } = aMinute();
  for (let at = 0; at < 6; at++) {
    await write();
    pass(10_000);
  }
  const pace = new Pace(mailbox, clock);
  expect(pace.lastMinute(ana.id, null)).toBeWithin(5, 7);
  pass(30_000);
  expect(pace.lastMinute(ana.id, null)).toBeWithin(2, 4);
  pass(31_000);
  expect(pace.lastMinute(ana.id, null)).toBe(0);
});
