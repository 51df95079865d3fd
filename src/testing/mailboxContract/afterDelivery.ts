import { expect, test } from "bun:test";
import type { Mailbox } from "../../mailbox/port.ts";
import type { Delivery } from "../../model/delivery.ts";
import { TielineError } from "../../model/errors.ts";
import { agentId } from "../../model/ids.ts";

export interface Delivered {
  readonly mailbox: Mailbox;
  /** Delivers a message from the user to bob, with the proof `screen`. */
  delivered(): Promise<Delivery>;
}

/** The part of the contract about what becomes of a message after it was delivered. */
export function afterDelivery(subject: () => Delivered): void {
  test("a delivered delivery keeps its warning until a better proof comes", async () => {
    const { mailbox, delivered } = subject();
    const { id, stateAt } = await delivered();
    await mailbox.warn(id, "no proof that it was submitted");
    expect(mailbox.delivery(id)).toMatchObject({ warning: "no proof that it was submitted", stateAt });
    await mailbox.confirm(id, "submitted");
    expect(mailbox.delivery(id)!.warning).toBeNull();
  });

  test("notes survive a better proof; one with the same code replaces the other, null removes it", async () => {
    const { mailbox, delivered } = subject();
    const { id } = await delivered();
    await mailbox.note(id, "summary-only", "only a summary");
    await mailbox.note(id, "retrying", "529");
    await mailbox.note(id, "retrying", "500");
    await mailbox.confirm(id, "submitted");
    expect(mailbox.delivery(id)!.notes).toEqual([
      { code: "summary-only", text: "only a summary" },
      { code: "retrying", text: "500" },
    ]);
    await mailbox.note(id, "summary-only", null);
    expect(mailbox.delivery(id)!.notes).toEqual([{ code: "retrying", text: "500" }]);
  });

  test("a model that has answered is not being retried", async () => {
    const { mailbox, delivered } = subject();
    const { id } = await delivered();
    await mailbox.note(id, "retrying", "529");
    expect(await mailbox.confirm(id, "transcript")).toMatchObject({ state: "seen", notes: [] });
  });

  test("a delivered message that is lost becomes uncertain, keeps its proof and can be sent again", async () => {
    const { mailbox, delivered } = subject();
    const { id, messageId } = await delivered();
    await mailbox.settle(id, { kind: "unknown", detail: "overwritten" }, { transport: null, authority: null });
    expect(mailbox.delivery(id)).toMatchObject({
      state: "uncertain",
      detail: "overwritten",
      proof: "screen",
      transport: "tmux",
    });
    expect((await mailbox.retry(messageId)).deliveries[0]!.state).toBe("queued");
  });

  test("what waits in the queue again has no proof: the attempt that had one did not deliver it", async () => {
    const { mailbox, delivered } = subject();
    const { id } = await delivered();
    const via = { transport: "tmux", authority: "user" } as const;
    await mailbox.settle(id, { kind: "unknown", detail: "the screen was cleared" }, via);
    await mailbox.settle(id, { kind: "held", hold: { reason: "busy", detail: "bob works" } }, via);
    expect(mailbox.delivery(id)).toMatchObject({ state: "queued", proof: null });
  });

  test.each(["failed", "uncertain"])(
    "%s mail for a removed agent is retried to the agent that has its name now",
    async (state) => {
      const { mailbox, delivered } = subject();
      const { id, messageId, agent: removed, agentName: name } = await delivered();
      const outcome =
        state === "failed"
          ? ({ kind: "discarded", detail: "removed" } as const)
          : ({ kind: "unknown", detail: "overwritten" } as const);
      await mailbox.settle(id, outcome, { transport: null, authority: null });
      const refusing = mailbox.retry(messageId, undefined, () => {
        throw new TielineError("ADDRESS_UNKNOWN", "nothing has that name", { remedy: "start it" });
      });
      expect(await refusing.catch(({ code }: TielineError) => code)).toBe("ADDRESS_UNKNOWN");
      expect(mailbox.delivery(id)).toMatchObject({ state, agent: removed });

      const successor = agentId("successor");
      const { deliveries } = await mailbox.retry(messageId, undefined, () => ({ id: successor, name }));
      expect(deliveries).toMatchObject([{ id, agent: successor, state: "queued" }]);
      expect(mailbox.delivery(id)).toEqual(deliveries[0]!);
      expect([mailbox.pending(removed), mailbox.pending(successor)]).toEqual([0, 1]);
      expect(mailbox.heads(successor, deliveries[0]!.updatedAt)).toMatchObject([{ id }]);
    },
  );

  test("a delivered message that is discarded fails, and its sender gets a bounce", async () => {
    const { mailbox, delivered } = subject();
    const { id, messageId } = await delivered();
    await mailbox.settle(
      id,
      { kind: "discarded", detail: "the conversation was cleared" },
      { transport: null, authority: null },
    );
    expect(mailbox.delivery(id)).toMatchObject({ state: "failed", detail: "the conversation was cleared" });
    const bounce = mailbox.log({ thread: messageId }).at(-1)!.message;
    expect(bounce).toMatchObject({ kind: "bounce", to: "user" });
    expect(bounce.body).toContain("the conversation was cleared");
  });

  test("what was seen or answered meanwhile is not lost", async () => {
    const { mailbox, delivered } = subject();
    const { id } = await delivered();
    await mailbox.confirm(id, "transcript");
    for (const kind of ["unknown", "discarded"] as const) {
      expect((await mailbox.settle(id, { kind, detail: "late" }, { transport: null, authority: null })).state).toBe(
        "seen",
      );
    }
  });
}
