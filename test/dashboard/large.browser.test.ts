import { expect, test } from "bun:test";
import type { DeliveryView, ReceiptView } from "../../src/api/schema.ts";
import { until } from "../../src/testing/until.ts";
import { onStage } from "./onStage.ts";

/** The page of a large home: how many elements it makes, and that everything is found. bench/page.ts has the times. */
await onStage("the dashboard of a large home", ({ stage, page, card }) => {
  const names = Array.from({ length: 500 }, (_, at) => `agent${at}`);

  test("500 agents have a card each, and a search finds one", async () => {
    for (let at = 0; at < names.length; at += 50)
      await Promise.all(names.slice(at, at + 50).map((name) => stage.user.call("register", { name })));
    await page.reload();
    await card("agent499").waitFor({ state: "attached" });
    expect(await page.locator(".card").count()).toBe(505);
    await page.locator("#search").fill("agent123");
    await until(async () => (await page.locator(".card").count()) === 1, "the one that was searched for");
    await page.locator("#search").fill("");
    await card("agent499").waitFor({ state: "attached" });
  });

  test("of 100,000 messages that were scrolled through, only the visible rows exist", async () => {
    const total = 100_000;
    await page.route("**/v1/log?*", (route) => {
      const query = new URL(route.request().url()).searchParams;
      if (query.has("since") || query.has("thread")) return route.fulfill({ json: [] });
      const end = query.has("before") ? Number(query.get("before")) : total;
      const limit = Number(query.get("limit"));
      const first = Math.max(0, end - limit);
      return route.fulfill({ json: Array.from({ length: end - first }, (_, at) => receipt(first + at)) });
    });
    await page.goto(`${stage.origin}/#/messages`);
    await page.reload();
    await page.locator(".row").first().waitFor();
    const result = await page.evaluate(async (wanted) => {
      const list = (): Element => document.querySelector(".windowed")!;
      let most = 0;
      while (list().scrollHeight < wanted * 58) {
        list().scrollTop = 0;
        list().dispatchEvent(new Event("scroll"));
        await new Promise(requestAnimationFrame);
        most = Math.max(most, document.querySelectorAll(".row").length);
      }
      return { most, rows: list().scrollHeight / 58 };
    }, total);
    expect(result.rows).toBe(total);
    expect(result.most).toBeLessThan(80);
  });
});

function receipt(at: number): ReceiptView {
  const id = String(at).padStart(9, "0");
  const delivery = {
    agent: "lead",
    agentId: "lead",
    team: "web",
    state: "seen",
    proof: "tool",
    transport: "pull",
    authority: "peer",
    reason: null,
    attempts: 0,
    warning: null,
    notes: [] as DeliveryView["notes"],
    answeredAt: null,
    stateAt: 0,
    updatedAt: at,
  } as const;
  return {
    id,
    tag: `MSG_SCOUT_${id}`,
    from: "scout",
    knownBy: "token",
    to: "lead",
    team: "web",
    kind: "text",
    when: "turn",
    summary: `message number ${at}`,
    thread: id,
    inReplyTo: null,
    expiresAt: null,
    acceptedAt: 1_700_000_000_000 + at * 800,
    deliveries: [delivery],
  };
}
