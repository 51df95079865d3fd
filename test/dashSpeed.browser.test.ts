import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { BrowserContext, Page } from "playwright-core";
import type { ReceiptView } from "../src/client/schema.ts";
import { chromiumPath, startStage, type Stage } from "./dashboard/stage.ts";

/** How quick the page is on this machine. The numbers are printed; only what would be broken on any machine fails. */
describe.skipIf(chromiumPath === null)("the speed of the dashboard", () => {
  let stage: Stage;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    stage = await startStage();
    ({ context, page } = await stage.visit());
  });
  afterAll(async () => {
    await context?.close();
    await stage?.[Symbol.asyncDispose]();
  });

  test("first paint", async () => {
    await page.reload();
    await page.locator(".card").first().waitFor();
    const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null);
    console.log(`first paint: ${paint?.toFixed(0)} ms (wanted: under 1000)`);
    expect(paint).toBeNumber();
  });

  test("500 agents, 200 events a second: from the event to the pixel", async () => {
    const names = Array.from({ length: 500 }, (_, at) => `agent${at}`);
    for (let at = 0; at < names.length; at += 50) await Promise.all(names.slice(at, at + 50).map((name) => stage.person.call("register", { name })));
    await page.reload();
    await page.locator('.card[data-agent="agent499"]').waitFor({ state: "attached" });
    await page.evaluate(() => {
      const seen: number[] = [];
      Object.assign(window, { seen });
      new MutationObserver(() => seen.push(Number(document.documentElement.dataset["lagMs"]))).observe(document.documentElement, { attributeFilter: ["data-lag-ms"] });
    });
    const startedAt = performance.now();
    const before = (await stage.person.call("events", { limit: 0 })).last;
    // A send to an agent that fetches its mail makes three events: routed, accepted, queued.
    for (let sent = 0; sent < 200; sent++) {
      void stage.person.call("send", { to: names[sent % 500]!, body: `note ${sent}` });
      await Bun.sleep(Math.max(0, startedAt + sent * 15 - performance.now()));
    }
    const seconds = (performance.now() - startedAt) / 1000;
    const events = (await stage.person.call("events", { limit: 0 })).last - before;
    await page.locator('.card[data-agent="agent199"]', { hasText: "1 waiting" }).waitFor({ state: "attached" });
    const lags = (await page.evaluate(() => (window as unknown as { seen: number[] }).seen)).toSorted((a, b) => a - b);
    const at = (part: number): number => lags[Math.floor((lags.length - 1) * part)]!;
    console.log(`event → pixel with 505 cards at ${Math.round(events / seconds)} events/s: median ${at(0.5)} ms, 95 % ${at(0.95)} ms, worst ${at(1)} ms (wanted: under 100)`);
    expect(lags.length).toBeGreaterThan(10);
  });

  test("a day of 100,000 messages scrolls", async () => {
    const total = 100_000;
    await page.route("**/v1/log?*", (route) => {
      const query = new URL(route.request().url()).searchParams;
      if (query.has("since") || query.has("thread")) return route.fulfill({ json: [] });
      const end = query.has("before") ? Number(query.get("before")) : total;
      const limit = Number(query.get("limit"));
      const first = Math.max(0, end - limit);
      return route.fulfill({ json: Array.from({ length: end - first }, (_, at) => receipt(first + at)) });
    });
    await page.goto(`${stage.url}/#/messages`);
    await page.reload();
    await page.locator(".row").first().waitFor();
    const result = await page.evaluate(async (wanted) => {
      const list = document.querySelector(".windowed")!;
      const frames: number[] = [];
      let last = performance.now();
      let most = 0;
      const isDone = (): boolean => list.scrollHeight >= wanted * 58;
      for (let frame = 0; frame < 3_000; frame++) {
        list.scrollTop = isDone() ? list.scrollTop - 3_000 : 0;
        list.dispatchEvent(new Event("scroll"));
        await new Promise(requestAnimationFrame);
        const now = performance.now();
        if (isDone()) frames.push(now - last);
        last = now;
        most = Math.max(most, document.querySelectorAll(".row").length);
        if (frames.length === 200) break;
      }
      return { frames, most, rows: list.scrollHeight / 58 };
    }, total);
    const sorted = result.frames.toSorted((a, b) => a - b);
    console.log(`scrolling ${result.rows.toLocaleString()} messages: median frame ${sorted[100]?.toFixed(1)} ms, 95 % ${sorted[190]?.toFixed(1)} ms, at most ${result.most} rows in the page`);
    expect(result.rows).toBe(total);
    expect(result.most).toBeLessThan(80);
    expect(sorted.length).toBe(200);
  });
});

function receipt(at: number): ReceiptView {
  const id = String(at).padStart(9, "0");
  const delivery = { agent: "lead", state: "seen", proof: "tool", transport: "pull", authority: "peer", reason: null, attempts: 0, warning: null, answeredAt: null, updatedAt: at } as const;
  return { id, tag: `MSG_SCOUT_${id}`, from: "scout", knownBy: "token", to: "lead", team: "web", kind: "text", when: "turn", summary: `message number ${at}`, thread: id, inReplyTo: null, expiresAt: null, acceptedAt: 1_700_000_000_000 + at * 800, deliveries: [delivery] };
}
