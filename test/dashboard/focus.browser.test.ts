import { beforeAll, describe, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { until } from "../../src/testing/until.ts";
import { onStage } from "./onStage.ts";
import { says } from "./stage.ts";

/** The keyboard and screen readers: where the focus goes, and what is announced. */
await onStage("the focus on the dashboard", ({ stage, page, faults, show, card }) => {
  const isFocused = (one: Locator): Promise<boolean> => one.evaluate((element) => element === document.activeElement);
  const focused = (): Locator => page.locator(":focus");
  const holds = (one: Locator): Promise<boolean> => one.evaluate((element) => element.contains(document.activeElement));

  beforeAll(async () => {
    for (const text of ["first report", "second report", "third report"]) await says(stage.world, "lead", "user", text);
    await stage.user.call("send", { to: "scout", body: "for the list" });
  });

  test("the first Tab leads past the navigation", async () => {
    await page.reload();
    await card("lead").waitFor();
    await page.keyboard.press("Tab");
    expect(await focused().innerText()).toBe("Skip to content");
    await page.keyboard.press("Enter");
    expect(await focused().getAttribute("id")).toBe("main");
    expect(new URL(page.url()).hash).not.toBe("#main");
  });

  test("j and k move the focus through messages, and the open one follows", async () => {
    await show("#/messages");
    const rows = page.locator(".row");
    await until(async () => (await rows.count()) >= 4, "the messages");
    const tags = await rows.evaluateAll((all) => all.map((row) => (row as HTMLElement).dataset["tag"]!));
    await page.keyboard.press("j");
    expect(await focused().getAttribute("data-tag")).toBe(tags.at(-1)!);
    await page.keyboard.press("k");
    expect(await focused().getAttribute("data-tag")).toBe(tags.at(-2)!);
    expect(new URL(page.url()).hash).toBe("#/messages");
    await page.keyboard.press("Enter");
    await page.locator(".thread").waitFor();
    await page.keyboard.press("k");
    await page.locator(`.letter.chosen[data-tag="${tags.at(-3)!}"]`).waitFor();
    expect(await focused().getAttribute("data-tag")).toBe(tags.at(-3)!);
  });

  test("an item that is done gives the focus to the next one", async () => {
    await show("#/waiting");
    const need = (text: string): Locator => page.locator(".need", { hasText: text });
    await need("first report").getByRole("button", { name: "Mark as read" }).focus();
    await page.keyboard.press("Enter");
    await need("first report").waitFor({ state: "detached" });
    await until(() => isFocused(need("second report")), "the focus on the next mail");
    await page.keyboard.press("x");
    await need("second report").waitFor({ state: "detached" });
    await until(() => isFocused(need("third report")), "the focus on the last mail");
    await page.keyboard.press("x");
    await need("third report").waitFor({ state: "detached" });
    await until(async () => (await focused().count()) === 1, "the focus to be somewhere in the view");
    expect(await focused().evaluate((element) => element.closest("main") !== null)).toBeTrue();
  });

  describe("a dialog", () => {
    test.each(["c", "s", "t", "?"])("opened by %s keeps Tab inside and returns the focus", async (key) => {
      await show("#/team");
      await card("lead").focus();
      await page.keyboard.press(key);
      const dialog = page.getByRole("dialog");
      await dialog.waitFor();
      expect(await dialog.getAttribute("aria-modal")).toBe("true");
      for (let step = 0; step < 30; step++) {
        await page.keyboard.press(step < 20 ? "Tab" : "Shift+Tab");
        expect(await holds(dialog)).toBeTrue();
      }
      await dialog.getByRole("button", { name: "Close" }).click();
      await dialog.waitFor({ state: "detached" });
      expect(await isFocused(card("lead"))).toBeTrue();
    });

    test("for a message says what is missing", async () => {
      await page.keyboard.press("c");
      await page.locator("#compose-to").fill("");
      await page.getByLabel("Message", { exact: true }).fill("words for unknown");
      await page.keyboard.press("Control+Enter");
      await page.locator(".compose .failure", { hasText: "Choose a recipient first" }).waitFor();
      expect(await focused().getAttribute("id")).toBe("compose-to");
      await page.keyboard.press("Escape");
    });
  });

  test("a menu is used with the arrow keys", async () => {
    await show("#/team");
    await card("engineer").focus();
    await page.keyboard.press("m");
    const menu = card("engineer").locator(".menu[open]");
    await until(async () => (await focused().innerText()) === "Interrupt", "the first action");
    await page.keyboard.press("ArrowDown");
    expect(await focused().innerText()).toBe("Stop");
    await page.keyboard.press("End");
    expect(await focused().innerText()).toBe("Kill");
    await page.keyboard.press("ArrowDown");
    expect(await focused().innerText()).toBe("Interrupt");
    await page.keyboard.press("ArrowUp");
    expect(await focused().innerText()).toBe("Kill");
    await page.keyboard.press("Escape");
    await menu.waitFor({ state: "detached" });
    expect(await focused().getAttribute("aria-label")).toBe("More for engineer");
  });

  test("a new request is announced", async () => {
    const announced = page.locator(".announcements");
    await stage.direct("reviewer", { state: "permission" });
    await announced.getByText("1 new request: reviewer asks").waitFor({ state: "attached" });
    expect(await announced.getAttribute("role")).toBe("status");
    await stage.direct("reviewer", { state: "idle" });
    await card("reviewer").and(page.locator('[data-state="idle"]')).waitFor();
  });

  test("a card is read as name and presence", async () => {
    const heading = card("lead").getByRole("heading", { level: 2 });
    expect(await heading.evaluate((element) => element.querySelector(".presence")!.getAttribute("aria-label"))).toBe(
      "active",
    );
    await card("lead").getByRole("heading", { name: "lead active" }).waitFor();
  });

  test("single-key shortcuts can be switched off, and stay off", async () => {
    await page.getByRole("button", { name: "Shortcuts" }).click();
    const dialog = page.getByRole("dialog", { name: "Shortcuts" });
    await dialog.getByRole("switch", { name: "Use single-key shortcuts" }).uncheck();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.reload();
    await card("lead").waitFor();
    for (const key of ["c", "g", "m", "?", "s"]) await page.keyboard.press(key);
    // A click is handled after the keys, so nothing more can come from them.
    await page.getByRole("button", { name: "Shortcuts" }).click();
    await dialog.waitFor();
    expect(await page.getByRole("dialog").count()).toBe(1);
    await page.getByRole("heading", { level: 1, name: "Team" }).waitFor();
    await dialog.getByRole("switch", { name: "Use single-key shortcuts" }).check();
    await page.keyboard.press("Escape");
    await page.keyboard.press("c");
    await page.getByRole("dialog", { name: "Write a message" }).waitFor();
    await page.keyboard.press("Escape");
  });

  test("nothing went wrong on the way", () => {
    expect(faults).toEqual([]);
  });
});
