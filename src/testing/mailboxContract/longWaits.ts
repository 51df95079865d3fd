import { expect, test } from "bun:test";
import type { Mailbox } from "../../mailbox/port.ts";
import { longestHistory, type Delivery } from "../../model/delivery.ts";

export interface Waiting {
  readonly mailbox: Mailbox;
  accept(): Promise<Delivery>;
  claim(delivery: Delivery): Promise<Delivery>;
}

/** The part of the contract about deliveries that wait through any number of attempts. */
export function longWaits(subject: () => Waiting): void {
  const way = { transport: "tmux", authority: "user" } as const;

  test("the history of a delivery that is tried for ever stays short, and says how much it leaves out", async () => {
    const { mailbox, accept, claim } = subject();
    const delivery = await accept();
    const attempts = 500;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      await claim(delivery);
      await mailbox.settle(delivery.id, { kind: "held", hold: { reason: "busy", detail: `attempt ${attempt}` } }, way);
    }
    const history = mailbox.history(delivery.messageId)!.steps.get(delivery.id)!;
    expect(history.length).toBeLessThanOrEqual(longestHistory);
    expect(history[0]).toMatchObject({ verb: "accept" });
    expect(history[2]).toMatchObject({ detail: "attempt 1" });
    expect(history.at(-1)).toMatchObject({ detail: `attempt ${attempts}` });
    const leftOut = history.reduce((sum, step) => sum + (step.leftOut ?? 0), 0);
    expect(history.length + leftOut).toBe(1 + 2 * attempts);
  });

  test("a shortened history keeps every step that proves something", async () => {
    const { mailbox, accept, claim } = subject();
    const delivery = await accept();
    const refuse = async (times: number): Promise<void> => {
      for (let attempt = 0; attempt < times; attempt++) {
        await claim(delivery);
        await mailbox.settle(
          delivery.id,
          { kind: "held", hold: { reason: "busy", detail: `attempt ${attempt}` } },
          way,
        );
      }
    };
    await refuse(20);
    await claim(delivery);
    await mailbox.settle(delivery.id, { kind: "unknown", detail: "who knows" }, way);
    await mailbox.retry(delivery.messageId);
    await refuse(100);
    await claim(delivery);
    await mailbox.settle(delivery.id, { kind: "delivered", proof: "screen" }, way);
    for (let time = 0; time < longestHistory; time++) await mailbox.note(delivery.id, "retrying", `error ${time}`);
    await mailbox.confirm(delivery.id, "transcript");
    const history = mailbox.history(delivery.messageId)!.steps.get(delivery.id)!;
    expect(history.length).toBeLessThanOrEqual(longestHistory);
    const told = history
      .filter(({ from, to }) => from !== to && to !== "claimed" && to !== "queued")
      .map(({ to }) => to);
    expect(told).toEqual(["uncertain", "delivered", "seen"]);
  });
}
