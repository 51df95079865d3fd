import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { startTestDaemon, type TestDaemon } from "../src/testing/daemon.ts";
import { describeUnless } from "../src/testing/needing.ts";
import { lackOfChromium, launchBrowser } from "./dashboard/stage.ts";

/** The shortest way through the page; test/dashboard/ goes all the others. */
describeUnless(lackOfChromium)("the dashboard, in short", () => {
  let daemon: TestDaemon;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    daemon = await startTestDaemon();
    await daemon.agent("ana");
    browser = await launchBrowser();
    page = await browser.newPage();
    await page.goto((await daemon.user.call("dash", {})).url);
    await page.locator('.card[data-agent="ana"]').waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.[Symbol.asyncDispose]();
  });

  test("only the user gets a link", async () => {
    const { client } = await daemon.agent("bob");
    await expect(client.call("dash", {})).rejects.toMatchObject({ code: "NOT_PERMITTED" });
  });

  test("what is written there arrives, and what is written shows there as text", async () => {
    await page.keyboard.press("c");
    await page.locator("#compose-to").fill("ana");
    await page.getByLabel("Message", { exact: true }).fill("hello <b>you</b>");
    await page.keyboard.press("Control+Enter");
    const receipt = page.locator('.receipts a[data-state="queued"]');
    await receipt.waitFor();
    const [mail] = await daemon.user.call("inbox", { agent: "ana", peek: true });
    expect(mail).toMatchObject({ from: "user", body: "hello <b>you</b>" });
    await receipt.click();
    await page.locator(".letter .markdown", { hasText: "hello <b>you</b>" }).waitFor();
    expect(await page.locator(".letter b").count()).toBe(0);
  });
});
