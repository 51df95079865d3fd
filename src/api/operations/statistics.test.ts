import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestDaemon, type TestDaemon } from "../../testing/daemon.ts";

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon[Symbol.asyncDispose]());

test("the log is filtered, counted and paged by the daemon", async () => {
  const { user } = daemon;
  const { client: ada } = await daemon.agent("ada");
  await daemon.agent("bo");
  for (let at = 0; at < 12; at++) await user.call("send", { to: "bo", body: `note ${at}` });
  const { tag } = await ada.call("send", { to: "bo", body: "a needle" });
  await user.call("cancel", { tag });
  const count = async (query: object): Promise<number> => (await user.call("logCount", query)).count;
  expect(await count({})).toBe(13);
  expect(await count({ agent: "ada" })).toBe(1);
  expect(await count({ states: ["queued"] })).toBe(12);
  expect(await count({ states: ["cancelled", "failed"] })).toBe(1);
  expect(await count({ grep: "needle", to: "bo" })).toBe(1);
  expect(await count({ from: "user", to: "bo" })).toBe(12);
  expect(await count({ since: Date.now() + 60_000 })).toBe(0);
  expect(await count({ until: 1 })).toBe(0);
  const pages: string[] = [];
  for (let before: string | undefined; ; before = pages[0]) {
    const page = await user.call("log", { states: ["queued"], limit: 5, ...(before && { before }) });
    if (page.length === 0) break;
    pages.unshift(...page.map(({ id }) => id));
  }
  expect(new Set(pages).size).toBe(12);
  expect(pages).toEqual(pages.toSorted());
  // An agent counts what it may read.
  expect((await ada.call("logCount", {})).count).toBe(1);
  const last = await user.call("lastMessages", {});
  expect(last.map(({ summary }) => summary)).toEqual(["a needle"]);
});

test("a query that is too long or names unknown states is refused", async () => {
  const { user } = daemon;
  await expect(user.call("logCount", { grep: "x".repeat(1_001) })).rejects.toMatchObject({ code: "USAGE" });
  await expect(user.call("logCount", { states: ["open"] as never })).rejects.toMatchObject({ code: "USAGE" });
  await expect(user.call("log", { team: "unknown" })).rejects.toMatchObject({ code: "ADDRESS_UNKNOWN" });
  await expect(user.call("statistics", { buckets: 100_000 })).rejects.toMatchObject({ code: "USAGE" });
});

test("statistics count what happened, by team, transport and edge", async () => {
  const { user } = daemon;
  const { client: cy } = await daemon.agent("cy");
  const before = await user.call("statistics", { since: Date.now() - 3_600_000 });
  for (let at = 0; at < 3; at++) await user.call("send", { to: "cy", body: `number ${at}` });
  const mail = await cy.call("collect", { limit: 10 });
  await cy.call("collected", { deliveries: mail.flatMap(({ delivery }) => delivery ?? []) });
  const after = await user.call("statistics", { since: Date.now() - 3_600_000 });
  expect(after.messages - before.messages).toBe(3);
  expect(after.delivered.count - before.delivered.count).toBe(3);
  expect(after.delivered.median).not.toBeNull();
  expect(after.step).toBe(60_000);
  expect(after.buckets.reduce((sum, { messages }) => sum + messages, 0)).toBe(after.messages);
  expect(after.edges.find(({ to }) => to.name === "cy")).toMatchObject({
    from: { name: "user", team: null, removed: false },
    to: { team: "default", removed: false },
    count: 3,
  });
  expect((await user.call("edges", {})).edges.find(({ to }) => to.name === "cy")?.count).toBe(3);
  const month = await user.call("statistics", {});
  expect(month.messages).toBe(after.messages);
  expect(month.step).toBeGreaterThanOrEqual(3_600_000);
  await expect(cy.call("statistics", {})).rejects.toMatchObject({ code: "NOT_PERMITTED" });
});
