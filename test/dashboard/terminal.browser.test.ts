import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../src/testing/until.ts";
import { onStage } from "./onStage.ts";

/** Terminals: what is above the screen, and two side by side. */
await onStage("terminals", ({ stage, page, faults, show }) => {
  const terminal = (agent: string) => page.getByRole("group", { name: `Terminal of ${agent}` });
  const rows = (agent: string) => terminal(agent).locator(".xterm-rows");
  const above = (agent: string) => terminal(agent).locator(".below [role=status]");
  const linesAbove = async (): Promise<{ shown: number; all: number }> => {
    const [shown = 0, all = 0] = (await above("counter").textContent())!.match(/[\d,]+/g) ?? [];
    const number = (text: string | number): number => Number(String(text).replaceAll(",", ""));
    return { shown: number(shown), all: number(all) };
  };

  test("has the last lines above the screen, and asks for more at their top", async () => {
    const file = join(stage.world.dir, "numbers");
    writeFileSync(file, Array.from({ length: 3_000 }, (_, at) => `line ${at + 1} of many\n`).join(""));
    await stage.user.call("spawn", { profile: "tester", name: "counter", args: [file, "-"] });
    await show("#/terminal/web:counter");
    await rows("counter").getByText("line 3000 of many").waitFor();
    await until(async () => (await linesAbove()).shown === 500, "the first lines");
    const { all } = await linesAbove();
    expect(all).toBeGreaterThan(1_000);
    await until(async () => {
      await terminal("counter").getByRole("button", { name: "Scroll up" }).click();
      return (await linesAbove()).shown === all;
    }, "every line that tmux has");
    await until(async () => {
      await terminal("counter").getByRole("button", { name: "Scroll up" }).click();
      return /line (9\d\d|1\d\d\d) of many/.test((await rows("counter").textContent())!);
    }, "an early line");
    await terminal("counter").getByRole("button", { name: "Back to now" }).click();
    await rows("counter").getByText("line 3000 of many").waitFor();
    await terminal("counter").getByRole("button", { name: "Back to now" }).waitFor({ state: "detached" });
  });

  test("has lines above that left the screen while it was watched", async () => {
    const lines = Array.from({ length: 120 }, (_, at) => `fresh ${at + 1}\r`).join("");
    await stage.user.call("typeKeys", { agent: "counter", keys: lines });
    await rows("counter").getByText("fresh 120").first().waitFor();
    await rows("counter").getByText("fresh 20").first().waitFor({ state: "detached" });
    await until(async () => {
      await terminal("counter").getByRole("button", { name: "Scroll up" }).click();
      return /fresh ([1-9]|[1-6]\d)(?!\d)/.test((await rows("counter").textContent())!);
    }, "a line that has left the screen");
    await terminal("counter").getByRole("button", { name: "Back to now" }).click();
  });

  test("scrolls by the wheel", async () => {
    await rows("counter").getByText("fresh 120").first().waitFor();
    await terminal("counter").locator(".xterm-screen").hover();
    await until(async () => {
      await page.mouse.wheel(0, -400);
      return (await terminal("counter").getByRole("button", { name: "Back to now" }).count()) === 1;
    }, "the view to be above the end");
    await terminal("counter").getByRole("button", { name: "Back to now" }).click();
  });

  test("two are shown side by side, kept in the address, and one is closed", async () => {
    await show("#/terminal/web:tester");
    await page.locator("h1").click();
    await page.keyboard.press("v");
    await until(async () => (await page.locator(".xterm-screen").count()) === 2, "two terminals");
    await page
      .getByRole("group", { name: /^Terminal of/ })
      .nth(1)
      .getByLabel("Agent")
      .selectOption("web:counter");
    await rows("counter").getByText("fresh 120").first().waitFor();
    await stage.user.call("typeKeys", { agent: "tester", keys: "to the first\r" });
    await rows("tester").getByText("to the first").first().waitFor();
    await page.reload();
    await rows("counter").getByText("fresh 120").first().waitFor();
    await rows("tester").getByText("to the first").first().waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await until(() => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "both to fit a phone");
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole("button", { name: "Close the second terminal" }).click();
    await until(async () => (await page.locator(".xterm-screen").count()) === 1, "one terminal");
  });

  test("refuses a number of lines that is none", async () => {
    const failure = await page.evaluate(async () => {
      const { status } = await fetch("/v1/pane?agent=web:tester&history=many");
      return status;
    });
    expect(failure).toBeGreaterThanOrEqual(400);
  });

  test("nothing went wrong on the way", () => {
    expect(faults).toEqual([]);
  });
});
