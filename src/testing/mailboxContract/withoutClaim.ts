import { expect, test } from "bun:test";
import type { Mailbox } from "../../mailbox/port.ts";
import type { Delivery } from "../../model/delivery.ts";
import { agentId } from "../../model/ids.ts";
import type { Draft, Message, Sender } from "../../model/message.ts";

const ana: Sender = { id: agentId("a-1"), name: "ana", team: "web", knownBy: "token" };
const via = { transport: "object", authority: "peer" } as const;

export interface Unclaimed {
  readonly mailbox: Mailbox;
  message(body: string, from?: Sender, draft?: Partial<Draft>): Message;
  accept(sealed?: Message): Promise<Delivery>;
  claim(delivery: Delivery): Promise<Delivery>;
}

/** The part of the contract about deliveries that end without an attempt. */
export function withoutClaim(subject: () => Unclaimed): void {
  const verbsOf = (mailbox: Mailbox, { id, messageId }: Delivery): string[] =>
    mailbox
      .history(messageId)!
      .steps.get(id)!
      .map(({ verb }) => verb);

  test("an abandoned delivery fails without an attempt, and its sender gets a bounce", async () => {
    const { mailbox, message, accept } = subject();
    const lost = await accept(message("x", ana));
    expect(await mailbox.abandon(lost.id, "bob was removed")).toMatchObject({
      state: "failed",
      detail: "bob was removed",
      attempts: 0,
      transport: null,
      claimedAt: null,
    });
    expect(verbsOf(mailbox, lost)).toEqual(["accept", "abandon"]);
    const [bounce] = mailbox.inbox(ana.id);
    expect(bounce!.message).toMatchObject({ kind: "bounce", inReplyTo: lost.messageId });
    expect(bounce!.message.body).toContain("bob was removed");
    expect(await mailbox.retry(lost.messageId)).toMatchObject({ deliveries: [{ state: "queued" }] });
  });

  test("a bounce never bounces", async () => {
    const { mailbox, message, accept } = subject();
    await mailbox.abandon((await accept(message("x", ana))).id, "the agent was removed");
    await mailbox.abandon(mailbox.inbox(ana.id)[0]!.delivery.id, "removed too");
    expect(mailbox.deliveriesIn(["failed"])).toHaveLength(2);
    expect(mailbox.log()).toHaveLength(2);
  });

  test("a notice that is read is delivered without an attempt", async () => {
    const { mailbox, message, accept } = subject();
    const notice = await accept(message("ok", ana, { kind: "ack" }));
    expect(await mailbox.read(notice.id, via)).toMatchObject({ state: "delivered", proof: "written", ...via });
    expect(verbsOf(mailbox, notice)).toEqual(["accept", "read"]);
    expect(mailbox.pending(notice.agent)).toBe(0);
  });

  test("what is not queued is neither abandoned nor read", async () => {
    const { mailbox, message, accept, claim } = subject();
    const one = await claim(await accept(message("x", ana)));
    expect(await mailbox.abandon(one.id, "too late")).toBeNull();
    expect(await mailbox.read(one.id, via)).toBeNull();
    expect(mailbox.delivery(one.id)).toEqual(one);
    expect(mailbox.inbox(ana.id)).toEqual([]);
  });
}
