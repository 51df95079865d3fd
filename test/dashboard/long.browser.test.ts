import { beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import type { HistoryView, InboxView } from "../../src/api/schema.ts";
import { until } from "../../src/testing/until.ts";
import { onStage } from "./onStage.ts";
import { says } from "./stage.ts";

const longName = "a-name-of-sixty-four-characters-which-is-the-longest-that-is-oke";

/** Lists, bodies, histories and names of any length: the page stays small, whole and readable. */
await onStage("long things on the dashboard", ({ stage, page, faults, show, card }) => {
  const elements = (): Promise<number> => page.evaluate(() => document.querySelectorAll("main *").length);
  const isInside = (inner: Locator, outer: Locator): Promise<boolean> =>
    Promise.all([inner.boundingBox(), outer.boundingBox()]).then(
      ([a, b]) => a !== null && b !== null && a.x >= b.x - 1 && a.x + a.width <= b.x + b.width + 1,
    );

  beforeAll(async () => {
    await stage.user.call("register", { name: longName, role: "a-role-that-is-rather-long-as-well" });
    await stage.user.call("send", { to: longName, body: "to a long name" });
  });

  test("a queue of 2,000 messages is windowed, and its end is reached", async () => {
    const { tag } = await stage.user.call("send", { to: "scout", body: "a model for many" });
    const [model] = await stage.user.call("inbox", { agent: "scout", pending: true, peek: true, limit: 1 });
    expect(model!.tag).toBe(tag);
    const many = Array.from({ length: 2_000 }, (_, at): InboxView => ({
      ...model!,
      tag: `${tag}${at}`,
      body: `no ${at}`,
    }));
    await page.route("**/v1/inbox", (route) =>
      (route.request().postDataJSON() as { agent: string }).agent === "scout"
        ? route.fulfill({ json: many })
        : route.continue(),
    );
    await show("#/queue");
    const list = page.locator(".agent-queue .windowed");
    await page.locator(".queue-head", { hasText: "2,000 waiting" }).waitFor();
    expect(await elements()).toBeLessThan(1_200);
    await list.evaluate((element) => (element.scrollTop = element.scrollHeight));
    await page.locator(".queue-row", { hasText: "no 1999" }).waitFor();
    expect(await elements()).toBeLessThan(1_200);
    await page.unroute("**/v1/inbox");
    await show("#/team");
  });

  test("25,000 repeated steps are one line that opens", async () => {
    const { tag } = await stage.user.call("send", { to: "scout", body: "held for long" });
    const status = (await stage.user.call("status", { tag })) as HistoryView;
    const first = status.steps[0]!;
    const held = { ...first, verb: "hold", from: "queued", to: "queued", reason: "the pane is in use" };
    const steps = [first, ...Array.from({ length: 25_000 }, (_, at) => ({ ...held, at: first.at + 1_000 + at }))];
    await page.route("**/v1/status?*", (route) => route.fulfill({ json: { ...status, steps } }));
    await show(`#/messages/${tag}`);
    const folded = page.locator(".history .folded");
    await folded.getByText("held 25,000 times: the pane is in use").waitFor();
    expect(await page.locator(".history li").count()).toBe(2);
    await folded.locator("summary").click();
    await folded.locator(".step").first().waitFor();
    expect(await folded.locator(".step").count()).toBeLessThan(60);
    await page.unroute("**/v1/status?*");
  });

  test("25,000 different steps are listed as far as they are looked at", async () => {
    const { tag } = await stage.user.call("send", { to: "scout", body: "many reasons" });
    const status = (await stage.user.call("status", { tag })) as HistoryView;
    const first = status.steps[0]!;
    const steps = Array.from({ length: 25_000 }, (_, at) => ({ ...first, at: first.at + at, reason: `reason ${at}` }));
    await page.route("**/v1/status?*", (route) => route.fulfill({ json: { ...status, steps } }));
    await show(`#/messages/${tag}`);
    await page.getByRole("button", { name: "Show 24,960 more steps" }).click();
    const list = page.locator(".all-steps .windowed");
    await list.evaluate((element) => (element.scrollTop = element.scrollHeight));
    await list.getByText("reason 24999").waitFor();
    expect(await list.locator(".step").count()).toBeLessThan(60);
    await page.unroute("**/v1/status?*");
  });

  test("a message of a mebibyte is shown in parts, up to its end", async () => {
    const lines = Array.from({ length: 10_000 }, (_, at) => `line ${at} ${"x".repeat(93)}`).join("\n");
    const body = `${lines}\nthe very end`;
    const { tag } = await stage.user.call("send", { to: "scout", body });
    await show(`#/messages/${tag}`);
    const letter = page.locator(`.letter[data-tag="${tag}"]`);
    await letter.getByText("line 0 x").waitFor();
    expect(await letter.evaluate((element) => element.textContent!.length)).toBeLessThan(60_000);
    const more = letter.locator(".cut button");
    await until(async () => {
      if ((await more.count()) > 0) await more.click();
      return (await letter.getByText("the very end").count()) > 0;
    }, "the end of the message");
    expect(await more.count()).toBe(0);
  });

  test("mail that waits for the user has Show all", async () => {
    await says(stage.world, "lead", "user", `${"a long report. ".repeat(120)}\n\nand its end`);
    await show("#/waiting");
    const need = page.locator(".need", { hasText: "a long report." });
    await need.getByRole("button", { name: "Show all" }).click();
    await need.getByText("and its end").waitFor();
  });

  test.each([1440, 390])("a name of 64 characters stays in its place at %i pixels", async (width) => {
    await page.setViewportSize({ width, height: 844 });
    await show("#/team");
    await card(longName).scrollIntoViewIfNeeded();
    expect(await isInside(card(longName).locator(".agent-name"), card(longName))).toBeTrue();
    expect(await isInside(card(longName).locator("footer"), card(longName))).toBeTrue();
    await show("#/messages");
    const row = page.locator(".row", { hasText: "to a long name" });
    await row.waitFor();
    expect(await isInside(row.locator("time"), row)).toBeTrue();
    expect(await isInside(row.locator(".to"), row)).toBeTrue();
    const select = page.locator(".messages .toolbar select").first();
    expect((await select.boundingBox())!.width).toBeLessThanOrEqual(240);
    await show("#/queue");
    const head = page.locator(".queue-head", { hasText: longName });
    await head.waitFor();
    expect(await isInside(head.locator("h2"), head)).toBeTrue();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test("text that is written from right to left keeps its order", async () => {
    const { tag } = await stage.user.call("send", { to: "scout", body: "שלום world, מה שלומך?\n\n- אחת\n\nplain" });
    await show(`#/messages/${tag}`);
    const letter = page.locator(`.letter[data-tag="${tag}"] .markdown`);
    await letter.getByText("plain").waitFor();
    const directions = await letter.evaluate((element) =>
      [...element.querySelectorAll("p, li")].map((one) => getComputedStyle(one).direction),
    );
    expect(directions).toEqual(["rtl", "rtl", "ltr"]);
  });

  test("seconds are shown on demand, and the title always has them", async () => {
    await show("#/messages");
    const time = page.locator(".row time").last();
    const digits = async (): Promise<number> => (await time.innerText()).match(/\d\d/g)!.length;
    const before = await digits();
    expect((await time.getAttribute("title"))!).toMatch(/\d\d:\d\d:\d\d/);
    await page.locator("h1").click();
    await page.keyboard.press(".");
    await until(async () => (await digits()) === before + 1, "the seconds");
    await page.getByRole("button", { name: "Seconds" }).click();
    await until(async () => (await digits()) === before, "no seconds");
  });

  test("nothing went wrong on the way", () => {
    expect(faults).toEqual([]);
  });
});
