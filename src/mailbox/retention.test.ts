import { expect, test } from "bun:test";
import { agentId } from "../model/ids.ts";
import { seal } from "../model/message.ts";
import { user } from "../testing/mailboxContract.ts";
import { openMailbox } from "./mailbox.ts";
import { memoryStore } from "./memory/store.ts";
import { daysMs, Retention } from "./retention.ts";

test("what is finished and old goes, in as many batches as it takes; what is open or young stays", async () => {
  let now = 1_800_000_000_000;
  const clock = (): number => now;
  await using mailbox = openMailbox(memoryStore(), { clock });
  const accept = async (body: string) =>
    mailbox.accept(seal({ to: "bob", body }, user, { inReplyTo: null, hops: 0 }, { clock }), [
      { id: agentId("b"), name: "bob" },
    ]);
  for (let at = 0; at < 25; at++) await mailbox.cancel((await accept(`old ${at}`)).message.id);
  await accept("old but open");
  now += daysMs(2);
  await mailbox.cancel((await accept("young")).message.id);

  using retention = new Retention(mailbox, {
    maxAgeMs: daysMs(1),
    maxBytes: Number.MAX_SAFE_INTEGER,
    batch: 10,
    clock,
    report: (_, fault) => {
      throw fault;
    },
  });
  expect(await retention.sweep()).toBe(25);
  expect(mailbox.log().map((one) => one.message.body)).toEqual(["old but open", "young"]);
  expect(await retention.sweep()).toBe(0);
});
