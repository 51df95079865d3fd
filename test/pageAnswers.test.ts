/** What the page of an agent and the event log ask the daemon. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { TielineError } from "../src/model/errors.ts";
import { startTestDaemon, type TestDaemon } from "../src/testing/daemon.ts";

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
  for (const name of ["ana", "bob", "eve"]) await daemon.agent(name);
});
afterAll(() => daemon[Symbol.asyncDispose]());

describe("older events", () => {
  const back = async (
    query: { types?: string[]; agent?: string; since?: number; until?: number },
    limit: number,
  ): Promise<number[]> => {
    const numbers: number[] = [];
    let before = (await daemon.user.call("events", { limit: 0 })).last + 1;
    for (;;) {
      const page = await daemon.user.call("events", { ...query, before, limit });
      expect(page.events.length).toBeLessThanOrEqual(limit);
      expect(page.events.every(({ seq }) => seq < before)).toBeTrue();
      numbers.unshift(...page.events.map(({ seq }) => seq));
      if (!page.more) return numbers;
      expect(page.first!).toBeLessThan(before);
      before = page.first!;
    }
  };

  test("come page by page, each once, with the filter applied before the limit", async () => {
    for (let count = 0; count < 25; count++)
      await daemon.user.call("send", { to: count % 5 === 0 ? "bob" : "ana", body: `message ${count}` });
    const { events } = await daemon.user.call("events", { limit: 10_000 });
    const accepted = events.filter(({ type }) => type === "message.accepted").map(({ seq }) => seq);
    expect(accepted).toHaveLength(25);
    expect(await back({}, 7)).toEqual(events.map(({ seq }) => seq));
    expect(await back({ types: ["message.accepted"] }, 4)).toEqual(accepted);
    expect(await back({ types: ["message.accepted"], agent: "bob" }, 2)).toHaveLength(5);
  });

  test("are within a time range", async () => {
    const { events } = await daemon.user.call("events", { limit: 10_000 });
    const [since, until] = [events[10]!.at, events.at(-10)!.at];
    const expected = events.filter(({ at }) => at >= since && at < until).map(({ seq }) => seq);
    expect(await back({ since, until }, 6)).toEqual(expected);
    expect(await back({ until: 1 }, 6)).toEqual([]);
  });

  test("of number 0 are none", async () => {
    expect(await daemon.user.call("events", { before: 0, limit: 5 })).toMatchObject({ events: [], more: false });
  });
});

describe("who an agent may write to", () => {
  test("is everyone without a topology, and its edges with one", async () => {
    const open = (await daemon.user.call("topology", { agent: "ana" })).reach!;
    expect(open).toEqual({
      agent: "default:ana",
      everyone: true,
      mayWriteTo: expect.arrayContaining(["default:bob", "default:eve", "user"]),
      mayBeWrittenBy: expect.arrayContaining(["default:bob", "default:eve", "user"]),
    });
    await daemon.user.call("topologyAdd", { edge: "ana -> bob", close: true });
    await daemon.user.call("topologyAdd", { edge: "eve -> ana" });
    const { reach, edges } = await daemon.user.call("topology", { agent: "default:ana" });
    expect(edges).toHaveLength(2);
    expect(reach).toMatchObject({ everyone: false, mayWriteTo: ["default:bob", "user"] });
    expect(reach!.mayBeWrittenBy).toEqual(["default:eve", "user"]);
    expect((await daemon.user.call("topology", {})).reach).toBeUndefined();
  });

  test("is asked of an agent that exists", async () => {
    const error = await daemon.user.call("topology", { agent: "nobody-here" }).then(
      () => null,
      (thrown: TielineError) => thrown,
    );
    expect(error?.code).toBe("ADDRESS_UNKNOWN");
  });
});
