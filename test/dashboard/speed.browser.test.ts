import { expect, test } from "bun:test";
import type { DeliveryView, ReceiptView } from "../../src/api/schema.ts";
import { until } from "../../src/testing/until.ts";
import { onStage } from "./onStage.ts";

/**
 * How quick the page is on this machine. The numbers are printed beside what is wanted. Machines are busy, so the best
 * of several rounds has to be good enough; a page that got slow is slow in each.
 */
await onStage("the speed of the dashboard", ({ stage, page, card }) => {
  const names = Array.from({ length: 500 }, (_, at) => `agent${at}`);

  test("first paint", async () => {
    const paints: number[] = [];
    for (let round = 0; round < 3; round++) {
      await page.reload();
      await page.locator(".card").first().waitFor();
      paints.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]!.startTime));
    }
    console.log(`first paint: ${paints.map((ms) => ms.toFixed(0)).join(", ")} ms (wanted: under 1000)`);
    expect(Math.min(...paints)).toBeLessThan(1_000);
  });

  test("500 agents stay smooth", async () => {
    for (let at = 0; at < names.length; at += 50)
      await Promise.all(names.slice(at, at + 50).map((name) => stage.user.call("register", { name })));
    await page.reload();
    await card("agent499").waitFor({ state: "attached" });
    const rounds: number[][] = [];
    for (let round = 0; round < 3; round++) rounds.push(await page.evaluate(scrollCards));
    const startedAt = performance.now();
    await page.locator("#search").fill("agent123");
    await until(async () => (await page.locator(".card").count()) === 1, "the one that was searched for");
    const searchMs = performance.now() - startedAt;
    await page.locator("#search").fill("");
    await card("agent499").waitFor({ state: "attached" });
    for (const frames of rounds) console.log(`scrolling 505 cards: ${spread(frames)} a frame`);
    console.log(`a search among 505 cards shows its result after ${searchMs.toFixed(0)} ms`);
    expect(Math.min(...rounds.map((frames) => part(frames, 0.5)))).toBeLessThan(50);
    expect(searchMs).toBeLessThan(2_000);
  });

  test("200 events a second, with 505 cards: from the event to the pixel", async () => {
    await page.evaluate(() => {
      Object.assign(window, { seen: [] });
      new MutationObserver(() =>
        (window as unknown as { seen: number[] }).seen.push(Number(document.documentElement.dataset["lagMs"])),
      ).observe(document.documentElement, { attributeFilter: ["data-lag-ms"] });
    });
    const rounds: number[][] = [];
    for (let round = 0; round < 3; round++) {
      await page.evaluate(() => (window as unknown as { seen: number[] }).seen.splice(0));
      const rate = await eventsAtARate(round);
      await card(names[199]!)
        .filter({ hasText: `${round + 1} waiting` })
        .waitFor({ state: "attached" });
      const lags = await page.evaluate(() => (window as unknown as { seen: number[] }).seen);
      console.log(`event → pixel with 505 cards at ${Math.round(rate)} events/s: ${spread(lags)} (wanted: under 100)`);
      expect(lags.length).toBeGreaterThan(10);
      expect(rate).toBeGreaterThan(100);
      rounds.push(lags);
    }
    expect(Math.min(...rounds.map((lags) => part(lags, 0.5)))).toBeLessThan(100);
    expect(Math.min(...rounds.map((lags) => part(lags, 0.95)))).toBeLessThan(250);
  });

  /**
   * Sends for a few seconds; events a second. A send to an agent that fetches its mail makes three: routed, accepted,
   * queued.
   */
  async function eventsAtARate(round: number): Promise<number> {
    const paceMs = 14;
    const before = (await stage.user.call("events", { limit: 0 })).last;
    const startedAt = performance.now();
    const sends: Promise<unknown>[] = [];
    for (let sent = 0; sent < 200; sent++) {
      sends.push(stage.user.call("send", { to: names[sent]!, body: `note ${sent} of round ${round}` }));
      await Bun.sleep(Math.max(0, startedAt + sent * paceMs - performance.now()));
    }
    await Promise.all(sends);
    const seconds = (performance.now() - startedAt) / 1_000;
    return ((await stage.user.call("events", { limit: 0 })).last - before) / seconds;
  }

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
    await page.goto(`${stage.origin}/#/messages`);
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
    console.log(
      `scrolling ${result.rows.toLocaleString()} messages: ${spread(result.frames)} a frame, at most ` +
        `${result.most} rows in the page`,
    );
    expect(result.rows).toBe(total);
    expect(result.most).toBeLessThan(80);
    expect(result.frames.length).toBe(200);
    expect(part(result.frames, 0.5)).toBeLessThan(50);
  });
});

/** Runs in the page: through all cards and around again; the time of each frame. */
async function scrollCards(): Promise<number[]> {
  const view = document.querySelector(".view")!;
  const times: number[] = [];
  let last = performance.now();
  for (let frame = 0; frame < 80; frame++) {
    view.scrollTop = (frame * 240) % Math.max(1, view.scrollHeight - view.clientHeight);
    await new Promise(requestAnimationFrame);
    times.push(performance.now() - last);
    last = performance.now();
  }
  return times;
}

function part(those: readonly number[], share: number): number {
  return those.toSorted((a, b) => a - b)[Math.floor((those.length - 1) * share)]!;
}

const spread = (those: readonly number[]): string =>
  `median ${part(those, 0.5).toFixed(0)} ms, 95 % ${part(those, 0.95).toFixed(0)} ms, worst ` +
  `${part(those, 1).toFixed(0)} ms`;

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
