import { expect, test } from "bun:test";
import type { Mailbox } from "../../mailbox/port.ts";
import {
  boundOf,
  dayMs,
  hourMs,
  labelOf,
  minuteMs,
  minutesKeptMs,
  type Measure,
  type TallyQuery,
} from "../../mailbox/statistics.ts";
import { agentId } from "../../model/ids.ts";
import type { Sender } from "../../model/message.ts";
import type { Searched } from "./finding.ts";

const ana: Sender = { id: agentId("a-1"), name: "ana", team: "web", knownBy: "token" };
const bob = { id: agentId("b-1"), name: "bob" };
const via = { transport: "tmux", authority: "user" } as const;

/** The part of the contract about counts per time: they say what happened, and stay when messages are pruned. */
export function counting(subject: () => Searched, reopen: () => Promise<Mailbox | null>): void {
  const day = (measure: Measure, at: number, more: Partial<TallyQuery> = {}): TallyQuery => ({
    ...{ measure, size: hourMs, since: Math.floor(at / dayMs) * dayMs, until: at + dayMs, step: null },
    ...more,
  });

  test("counts messages, edges, times, holds and states per bucket", async () => {
    const { mailbox, message, wait, clock } = subject();
    const start = clock();
    const since = Math.floor(start / minuteMs) * minuteMs;
    const [delivery] = (await mailbox.accept(message("hello", ana), [bob])).deliveries;
    await mailbox.hold(delivery!.id, { reason: "busy", detail: "bob is busy" });
    wait(2 * minuteMs);
    await mailbox.claim(delivery!.id, { lane: "push", now: clock(), transport: "tmux" });
    await mailbox.settle(delivery!.id, { kind: "delivered", proof: "screen" }, via);
    await mailbox.accept({ ...message("elsewhere", ana), team: "api" }, []);
    const minutes = (measure: Measure, team?: string) =>
      mailbox.tallies({
        ...{ measure, size: minuteMs, since, until: since + hourMs, step: minuteMs },
        ...(team && { team }),
      });
    const plain = { label: "", bound: 0, count: 1 };
    expect(minutes("accepted")).toEqual([
      { bucket: 0, ...plain },
      { bucket: 2, ...plain },
    ]);
    expect(minutes("accepted", "api")).toEqual([{ bucket: 2, ...plain }]);
    expect(minutes("edge")).toEqual([{ bucket: 0, ...plain, label: labelOf(ana.id, bob.id) }]);
    expect(minutes("held")).toEqual([{ bucket: 0, ...plain, label: "busy" }]);
    expect(minutes("delivered")).toEqual([{ bucket: 2, label: "tmux", bound: boundOf(2 * minuteMs), count: 1 }]);
    expect(minutes("seen")).toEqual([]);
    expect(minutes("state")).toEqual([{ bucket: 2, ...plain, label: labelOf("delivered", "tmux") }]);
    await mailbox.confirm(delivery!.id, "transcript");
    await mailbox.accept(message("yes", { ...ana, ...bob }, {}, mailbox.message(delivery!.messageId)), []);
    expect(minutes("seen").map(({ count }) => count)).toEqual([1]);
    expect(minutes("delivered").map(({ count }) => count)).toEqual([1]);
    expect(mailbox.tallies(day("edge", start, { size: dayMs })).map(({ count }) => count)).toEqual([1]);
  });

  test("what was refused is not counted, and counts survive a restart", async () => {
    const { mailbox, message, clock } = subject();
    const sealed = message("once", ana);
    await mailbox.accept(sealed, [bob]);
    await mailbox.accept({ ...message("same tag", ana), tag: sealed.tag }, [bob]).catch(() => undefined);
    const counted = (from: Mailbox): number[] =>
      (["accepted", "edge"] as const).flatMap((one) => from.tallies(day(one, clock())).map(({ count }) => count));
    expect(counted(mailbox)).toEqual([1, 1]);
    const again = await reopen();
    if (again !== null) expect(counted(again)).toEqual([1, 1]);
  });

  test("counts stay when their messages go, and go with the retention", async () => {
    const { mailbox, message, wait, clock } = subject();
    const start = clock();
    await mailbox.accept(message("old", ana), []);
    const prune = (olderThan: number): Promise<unknown> =>
      mailbox.prune({ olderThan, freshSince: clock(), maxBytes: 0, batch: 100 });
    const left = (size: TallyQuery["size"]): number =>
      mailbox.tallies({ measure: "accepted", size, since: 0, until: clock() + dayMs, step: null }).length;
    wait(hourMs);
    await prune(start - dayMs);
    expect([mailbox.logCount(), left(minuteMs), left(hourMs)]).toEqual([0, 1, 1]);
    wait(minutesKeptMs + hourMs);
    await prune(start - dayMs);
    expect([left(minuteMs), left(hourMs)]).toEqual([0, 1]);
    await prune(clock());
    expect(left(hourMs)).toBe(0);
  });
}
