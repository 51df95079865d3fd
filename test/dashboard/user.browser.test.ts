import { expect, test } from "bun:test";
import { bundlePage } from "../../src/daemon/page/bundle.ts";
import { logOf } from "../../src/testing/scriptedAgent.ts";
import { until } from "../../src/testing/until.ts";
import { firstViewBytes } from "./firstView.ts";
import { onStage } from "./onStage.ts";
import { says } from "./stage.ts";

/** What a user does on the page, in a real browser, with a real daemon, tmux and agents behind it. */
await onStage("the dashboard", ({ stage, page, faults, show, card }) => {
  test("shows the team, and an agent that begins to work", async () => {
    await show("#/team");
    expect(await page.locator(".card").count()).toBe(5);
    await page.locator('.card[data-agent="engineer"][data-state="idle"]').waitFor();
    await stage.direct("engineer", { state: "working" });
    await page.locator('.card[data-agent="engineer"][data-state="working"]').waitFor();
    await stage.direct("engineer", { state: "idle" });
    await page.locator('.card[data-agent="engineer"][data-state="idle"]').waitFor();
  });

  test("a message is written, delivered and seen", async () => {
    await show("#/team");
    await page.locator("main").click();
    await page.keyboard.press("c");
    await page.locator("#compose-to").fill("sco");
    await page.locator("#compose-options li").first().waitFor();
    await page.keyboard.press("Enter");
    expect(await page.locator("#compose-to").inputValue()).toBe("scout");
    await page.getByLabel("Message", { exact: true }).fill("Which browsers have it?");
    await page.keyboard.press("Control+Enter");
    const receipt = page.locator(".receipts a");
    await receipt.first().waitFor();
    const tag = (await receipt.first().getAttribute("data-tag"))!;
    await stage.scout
      .call("collect", { waitMs: 10_000 })
      .then((mail) => stage.scout.call("collected", { deliveries: mail.flatMap(({ delivery }) => delivery ?? []) }));
    await page.locator(`.receipts a[data-tag="${tag}"][data-state="seen"]`).waitFor();
    await page.locator("#compose-to").fill("tester");
    await page.getByLabel("Message", { exact: true }).fill("Run the suite");
    await page.getByRole("button", { name: "Send" }).click();
    await page.locator('.receipts a[data-state="delivered"]').waitFor();
    await page.keyboard.press("Escape");
    await show(`#/messages/${tag}`);
    await page.locator('.history section[data-state="seen"]').getByText("seen (tool) by pull").waitFor();
  });

  test("draws new messages from their events, without asking for the log", async () => {
    await show("#/messages");
    const asked: string[] = [];
    const count = (request: { url(): string }): void => void asked.push(new URL(request.url()).pathname);
    page.on("request", count);
    const tags: string[] = [];
    for (let at = 1; at <= 5; at++)
      tags.push((await stage.user.call("send", { to: "scout", body: `number ${at}\nand a second line` })).tag);
    for (const [at, tag] of tags.entries())
      await page.locator(`.view.messages [data-tag="${tag}"]`, { hasText: `number ${at + 1}` }).waitFor();
    const mail = await stage.scout.call("collect", { limit: 20 });
    await stage.scout.call("collected", { deliveries: mail.flatMap(({ delivery }) => delivery ?? []) });
    await page.locator(`.view.messages [data-tag="${tags[4]}"][data-state="seen"]`).waitFor();
    page.off("request", count);
    expect(asked.filter((path) => path === "/v1/log")).toEqual([]);
  });

  test("the numbers count what was sent, by transport and by edge", async () => {
    await show("#/numbers");
    await page.locator(".counts tr", { hasText: "user → scout" }).locator(".number").waitFor();
    await page.locator(".counts tr", { hasText: "seen by pull" }).waitFor();
    const chart = (title: string) => page.locator(".chart", { hasText: title });
    await until(
      async () => (await chart("Delivered per").locator("rect").count()) >= 2,
      "a bar for pull and one for tmux",
    );
    await chart("Time until seen").locator(".point").first().waitFor({ state: "attached" });
    expect(await chart("Delivered per").locator(".legend").innerText()).toMatch(/pull[^]*tmux/);
  });

  test("a draft survives a reload", async () => {
    await show("#/team");
    await page.keyboard.press("c");
    await page.locator("#compose-to").fill("lead");
    await page.getByLabel("Message", { exact: true }).fill("half a sent");
    await page.reload();
    await page.locator(".connection.live").waitFor();
    await page.keyboard.press("c");
    expect(await page.locator("#compose-to").inputValue()).toBe("lead");
    expect(await page.getByLabel("Message", { exact: true }).inputValue()).toBe("half a sent");
    await page.getByLabel("Message", { exact: true }).fill("");
    await page.keyboard.press("Escape");
  });

  test("a permission dialog is shown word for word and answered with one click", async () => {
    await stage.direct("reviewer", { state: "permission" });
    await card("reviewer").and(page.locator('[data-state="permission"]')).waitFor();
    await until(async () => (await page.title()).startsWith("("), "the count in the title");
    await page.keyboard.press("g");
    await page.keyboard.press("w");
    const need = page.locator('.need[data-agent="reviewer"]');
    await need.getByText("rm -rf build").waitFor();
    await need.getByRole("button", { name: "No" }).click();
    await until(
      () => logOf(stage.logDirectory("reviewer")).some((entry) => "answered" in entry && entry.answered === "2"),
      "the key",
    );
    await stage.direct("reviewer", { state: "idle" });
    await need.waitFor({ state: "detached" });
  });

  test("a refused route flashes on the graph with the reason", async () => {
    await show("#/graph");
    await page.locator(".node").first().waitFor();
    await expect(says(stage.world, "engineer", "lead", "may I?")).rejects.toThrow("ROUTE_DENIED");
    await page.locator(".refusal", { hasText: "engineer may not write to lead" }).waitFor();
    await page.getByText("may not write to").last().waitFor();
  });

  test("an edge is added and removed", async () => {
    await show("#/graph");
    const form = page.getByRole("form", { name: "Add an edge" });
    await form.getByLabel("From").fill("engineer");
    await form.getByLabel("To").fill("lead");
    await form.getByRole("button").click();
    const edge = page.getByRole("button", { name: /^engineer to lead/ });
    await edge.waitFor();
    await edge.press("Enter");
    await page.getByRole("button", { name: "Remove this edge" }).click();
    await edge.waitFor({ state: "detached" });
  });

  test("a removed edge of tieline.yaml is listed, and a press brings it back", async () => {
    await show("#/graph");
    await stage.user.call("topologyRemove", { edge: "tester -> engineer" });
    await page.reload();
    const removed = page.getByRole("button", { name: "tester -> engineer" });
    await removed.click();
    await removed.waitFor({ state: "detached" });
    expect(await stage.user.call("topology", {})).toMatchObject({ removed: [] });
  });

  test("the queue says why, and cancels", async () => {
    await stage.direct("reviewer", { state: "permission" });
    await until(
      async () => (await stage.world.ls()).find(({ name }) => name === "reviewer")!.state === "permission",
      "the dialog",
    );
    const { tag } = await stage.user.call("send", { to: "reviewer", body: "later" });
    await show("#/queue");
    const row = page.locator(`.agent-queue [data-item][data-tag="${tag}"]`);
    await row.waitFor();
    await page.locator(".agent-queue .why").first().waitFor();
    await row.getByRole("button", { name: "Cancel" }).click();
    await row.waitFor({ state: "detached" });
    await stage.direct("reviewer", { state: "idle" });
  });

  test("a terminal is shown, and typed into only after the switch", async () => {
    await show("#/terminal/web:tester");
    const screen = page.locator(".xterm-screen");
    await screen.waitFor();
    await page.locator(".xterm-rows").getByText("Run the suite").first().waitFor();
    await screen.click();
    await page.keyboard.type("never");
    await page.getByRole("switch").check();
    await page.keyboard.type("typed by hand");
    await page.locator(".xterm-rows").getByText("typed by hand").first().waitFor();
    expect(await page.locator(".xterm-rows").innerText()).not.toContain("never");
    await page.keyboard.press("Enter");
  });

  test("a narrow window has everything within reach", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const hash of ["#/team", "#/messages", "#/waiting", "#/queue", "#/graph", "#/numbers"]) {
      await show(hash);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test("colours follow the switch, and stay so", async () => {
    await show("#/team");
    const ground = (): Promise<string> => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await page.getByRole("button", { name: "Change to light" }).click();
    expect(await ground()).toBe(light);
    await page.getByRole("button", { name: "Change to dark" }).click();
    const dark = await ground();
    expect(dark).not.toBe(light);
    await page.reload();
    await page.locator(".connection.live").waitFor();
    expect(await ground()).toBe(dark);
  });

  test("mail to the user is answered from the page", async () => {
    await says(stage.world, "lead", "user", "Shall we deploy?");
    await show("#/waiting");
    const need = page.locator(".need", { hasText: "Shall we deploy?" });
    await need.getByRole("button", { name: "Reply" }).click();
    await page.getByLabel("Message", { exact: true }).fill("Yes, please.");
    await page.keyboard.press("Control+Enter");
    await page.locator('.receipts a[data-state="delivered"]', { hasText: "lead" }).waitFor();
    await need.waitFor({ state: "detached" });
    await page.keyboard.press("Escape");
  });

  test("nothing went wrong on the way", () => {
    expect(faults).toEqual([]);
  });

  test("the first view is small", async () => {
    const bundle = await bundlePage();
    const bytes = await firstViewBytes(bundle);
    console.log(`first view: ${(bytes / 1000).toFixed(1)} kB gzipped (limit 60)`);
    expect([bundle.scripts.length, bundle.styles.length]).toEqual([1, 1]);
    expect(bytes).toBeLessThan(60_000);
  });
});
