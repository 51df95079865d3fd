import { expect, test } from "bun:test";
import { until } from "../../src/testing/until.ts";
import { contrastFaults, nameless } from "./access.ts";
import { onStage } from "./onStage.ts";
import { says } from "./stage.ts";

/** Ctrl K: agents, messages and actions, by keys alone. */
await onStage("the palette", ({ stage, page, faults, show, card }) => {
  const palette = page.getByRole("dialog", { name: "Go to" });
  const field = palette.getByRole("combobox");
  const option = (name: string | RegExp) => palette.getByRole("option", { name });
  const chosen = palette.locator('[role=option][aria-selected="true"]');
  const open = async (words: string): Promise<void> => {
    await page.keyboard.press("Control+k");
    await field.waitFor();
    await until(() => field.evaluate((input) => input === document.activeElement), "the focus in the field");
    await page.keyboard.type(words);
  };

  test("opens an agent by a few letters, and says so to screen readers", async () => {
    await show("#/team");
    await open("rvw");
    await option(/^reviewer/).waitFor();
    await until(async () => (await chosen.textContent())!.startsWith("reviewer"), "the best match to be chosen");
    const active = await field.getAttribute("aria-activedescendant");
    expect(await chosen.getAttribute("id")).toBe(active);
    expect(await field.getAttribute("aria-expanded")).toBe("true");
    await page.keyboard.press("Enter");
    await page.locator('.agent-page[data-agent="reviewer"]').waitFor();
    await palette.waitFor({ state: "detached" });
  });

  test("goes around by arrows, and does an action", async () => {
    await show("#/team");
    await open("");
    await option(/^Go to Numbers/).waitFor();
    await page.keyboard.press("ArrowUp");
    await until(async () => (await chosen.textContent())!.startsWith("Shortcuts"), "the last one");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.type("go numbers");
    await until(async () => (await chosen.textContent())!.startsWith("Go to Numbers"), "the action");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Numbers" }).waitFor();
  });

  test("acts on an agent", async () => {
    await open("write scout");
    await until(async () => (await chosen.textContent())!.startsWith("Write to web:scout"), "the action");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Write a message" }).waitFor();
    expect(await page.locator("#compose-to").inputValue()).toBe("scout");
    await page.keyboard.press("Escape");
  });

  test("finds messages that the page has not loaded", async () => {
    const { tag } = await says(stage.world, "lead", "engineer", "the walrus is in the pantry");
    for (let count = 0; count < 210; count++) await stage.user.call("send", { to: "scout", body: `filler ${count}` });
    await page.reload();
    await page.locator(".connection.live").waitFor();
    await open("walrus");
    await option(/the walrus is in the pantry/).click();
    await page.locator(`.letter[data-tag="${tag}"]`).waitFor();
  });

  test("closes by Esc and by its key, and gives the focus back", async () => {
    await show("#/team");
    await card("lead").focus();
    await open("x");
    await page.keyboard.press("Escape");
    await palette.waitFor({ state: "detached" });
    expect(await card("lead").evaluate((one) => one === document.activeElement)).toBeTrue();
    await open("x");
    await page.keyboard.press("Control+k");
    await palette.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Go to", exact: true }).click();
    await palette.waitFor();
    await page.keyboard.press("Escape");
  });

  test("belongs to the program while one types into a terminal", async () => {
    await show("#/terminal/web:tester");
    await page.locator(".xterm-screen").waitFor();
    await page.getByRole("switch").check();
    await until(
      () => page.evaluate(() => document.activeElement?.closest(".xterm") !== null),
      "the focus in the terminal",
    );
    await page.keyboard.type("kept");
    await page.locator(".xterm-rows").getByText("kept").first().waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("more");
    await page.locator(".xterm-rows").getByText("more").first().waitFor();
    expect(await palette.count()).toBe(0);
    await page.keyboard.press("Control+]");
  });

  test("takes hostile and long text, finds nothing, and says what it does not know", async () => {
    await show("#/team");
    await open("");
    await field.fill(`<img src=x> \u202E ${"z".repeat(150)}`);
    await palette.getByText("Nothing found.").waitFor();
    expect(await page.locator("img").count()).toBe(0);
    await page.route("**/v1/log?*grep=*", (route) => route.abort());
    await field.fill("lea");
    await palette.getByText(/^No messages: the daemon does not answer/).waitFor();
    await option(/^lead/).first().waitFor();
    await page.unroute("**/v1/log?*grep=*");
    await page.keyboard.press("Escape");
  });

  test("can be read at every size and in both themes, also with a name of 64 characters", async () => {
    await stage.user.call("register", { name: `q${"w".repeat(63)}` });
    await card(`q${"w".repeat(63)}`).waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 844 });
        await open("qw");
        await option(/^qwww/).waitFor();
        expect(await page.evaluate(nameless)).toEqual([]);
        expect(await page.evaluate(contrastFaults)).toEqual([]);
        expect(await palette.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBeTrue();
        await page.keyboard.press("Escape");
      }
    }
    await page.emulateMedia({ colorScheme: null });
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test("nothing went wrong on the way", () => {
    expect(faults).toEqual([]);
  });
});
