import { expect, test } from "bun:test";
import type { Page, Route } from "playwright-core";
import type { DeviceView } from "../../src/api/schemas/page.ts";
import { until } from "../../src/testing/until.ts";
import { onStage } from "./onStage.ts";

/** Signing in and out, several tabs, and a daemon that is restarted under an open page. */
await onStage("signing in to the dashboard", ({ stage, page, context, faults, card }) => {
  const { world } = stage;
  const link = async (): Promise<string> => (await world.json<{ url: string }>(["dash"])).url;
  const live = (tab: Page): Promise<void> => tab.locator(".connection.live").waitFor();
  const signInPage = (tab: Page) => tab.locator(".sign-in");
  const newTab = async (url: string): Promise<Page> => {
    const tab = await context.newPage();
    await tab.goto(url);
    return tab;
  };
  const devices = (): Promise<DeviceView[]> => world.json<DeviceView[]>(["devices", "ls"]);

  test("a browser without a link sees the command to run", async () => {
    const other = await stage.browser.newContext();
    const tab = await other.newPage();
    for (const url of [stage.url, stage.origin]) {
      await tab.goto(url);
      await signInPage(tab).getByText("Open a terminal on the machine where Tieline runs").waitFor();
      expect(await signInPage(tab).locator("pre").innerText()).toBe("tieline dash");
      expect(
        await signInPage(tab)
          .locator(".box")
          .evaluate((box) => getComputedStyle(box).borderRadius),
      ).toBe("16px");
      expect(await tab.title()).toBe("Signed out · Tieline");
    }
    await other.close();
  });

  test("a link works once; the browser that used it stays signed in", async () => {
    const url = await link();
    const first = await newTab(url);
    await live(first);
    const other = await stage.browser.newContext();
    const stranger = await other.newPage();
    await stranger.goto(url);
    await signInPage(stranger).getByText("This link was used already").waitFor();
    await other.close();
    const again = await newTab(url);
    await live(again);
    await Promise.all([first.close(), again.close()]);
  });

  test("more tabs than a browser has connections work at once, and each after a reload", async () => {
    const tabs: Page[] = [];
    for (let count = 0; count < 8; count++) tabs.push(await newTab(`${stage.origin}/#/messages`));
    for (const tab of tabs) {
      await live(tab);
      await tab.reload();
      await live(tab);
    }
    await stage.user.call("send", { to: "scout", body: "for every tab" });
    for (const tab of tabs) await tab.locator(".row", { hasText: "for every tab" }).waitFor();
    await Promise.all(tabs.map((tab) => tab.close()));
  });

  test("a visible tab takes the stream of a hidden one", async () => {
    const hide = (tab: Page): Promise<void> =>
      tab
        .evaluate(() => Object.defineProperty(document, "hidden", { get: () => true, configurable: true }))
        .then(() => undefined);
    const hidden = await Promise.all([1, 2, 3].map(() => newTab(`${stage.origin}/#/messages`)));
    for (const tab of hidden) await live(tab);
    await Promise.all([...hidden, page].map(hide));
    const visible = await context.newPage();
    const streaming = visible.waitForRequest((request) => request.headers()["accept"] === "text/event-stream");
    await visible.goto(`${stage.origin}/#/messages`);
    await streaming;
    await stage.user.call("send", { to: "scout", body: "for hidden tabs too" });
    for (const tab of [...hidden, visible]) await tab.locator(".row", { hasText: "for hidden tabs too" }).waitFor();
    await Promise.all([...hidden, visible].map((tab) => tab.close()));
    await page.evaluate(() => Object.defineProperty(document, "hidden", { get: () => false, configurable: true }));
  });

  test("a revoked browser is signed out at once, and a new link brings back the same tab", async () => {
    const { page: other, context: own } = await stage.visit();
    const before = await devices();
    const newest = before.toSorted((a, b) => b.addedAt - a.addedAt)[0]!;
    expect(newest).toMatchObject({ name: "Chrome on Linux", scope: "full", state: "active" });
    expect((await world.tieline(["devices", "ls"])).stdout).toMatch(
      new RegExp(`${newest.id} +Chrome on Linux +full +active`),
    );
    expect((await world.tieline(["devices", "revoke", newest.id])).stdout).toBe(
      `signed out ${newest.id} (Chrome on Linux)\n`,
    );
    await other.getByRole("heading", { name: "Session expired" }).waitFor();
    await page.locator(".connection.live").waitFor();
    expect((await devices()).map(({ id }) => id)).not.toContain(newest.id);
    await other.evaluate((to) => (location.hash = to), new URL(await link()).hash);
    await live(other);
    await own.close();
  });

  test("an open tab survives a restart of the daemon: the draft stays, and one message arrives", async () => {
    await page.bringToFront();
    await page.keyboard.press("c");
    await page.locator("#compose-to").fill("scout");
    await page.getByLabel("Message", { exact: true }).fill("written before the restart");
    const pid = await world.daemonPid();
    // The send is answered, and the answer does not arrive.
    const loseAnswer = async (route: Route): Promise<void> => {
      const { status } = await fetch(route.request().url(), {
        method: "POST",
        headers: await route.request().allHeaders(),
        body: route.request().postData()!,
      });
      expect(status).toBe(200);
      process.kill(pid, "SIGKILL");
      await route.abort("connectionreset");
    };
    await page.route("**/v1/send", loseAnswer, { times: 1 });
    await page.keyboard.press("Control+Enter");
    await page.locator(".compose .failure").waitFor();
    await page.locator(".connection.away").waitFor();
    await page.getByText("The daemon is away. Reconnecting…").waitFor();
    expect(await page.getByLabel("Message", { exact: true }).inputValue()).toBe("written before the restart");
    await world.json(["daemon", "start"]);
    await live(page);
    await page.keyboard.press("Control+Enter");
    await page.locator(".receipts a").first().waitFor();
    const mail = await stage.user.call("inbox", { agent: "scout", peek: true });
    expect(mail.filter(({ body }) => body === "written before the restart")).toHaveLength(1);
    await page.keyboard.press("Escape");
    await stage.direct("engineer", { state: "working" });
    await card("engineer").and(page.locator('[data-state="working"]')).waitFor();
    await stage.direct("engineer", { state: "idle" });
    expect((await devices()).filter(({ state }) => state === "active")).toHaveLength(1);
  });

  test("a tab that is reloaded after the restart asks for a link; its state is there at the new address", async () => {
    await page.getByRole("button", { name: "Change to light" }).click();
    await page.keyboard.press("c");
    await page.locator("#compose-to").fill("lead");
    await page.getByLabel("Message", { exact: true }).fill("half a sentence");
    await until(
      async () =>
        ((await stage.user.call("preferences", {}))["draft"] as { body?: string } | undefined)?.body ===
        "half a sentence",
      "the draft",
    );
    await page.reload();
    await signInPage(page).getByText("The daemon was restarted after this browser signed in").waitFor();
    const url = await link();
    expect(new URL(url).origin).not.toBe(stage.origin);
    await page.goto(url);
    await live(page);
    expect(await page.evaluate(() => document.documentElement.dataset["theme"])).toBe("light");
    await page.keyboard.press("c");
    await until(
      async () => (await page.getByLabel("Message", { exact: true }).inputValue()) === "half a sentence",
      "the draft at the new address",
    );
    await page.reload();
    await live(page);
  });

  test("every browser is signed out by one command", async () => {
    expect((await world.tieline(["devices", "revoke", "--all"])).stdout).toContain("signed out");
    await signInPage(page).waitFor();
    expect(await devices()).toEqual([]);
    expect((await world.tieline(["devices", "ls"])).stdout).toContain("no browser is signed in");
    expect((await world.tieline(["devices", "revoke", "--all"])).stdout).toBe("no browser was signed in\n");
    expect((await world.tieline(["devices", "revoke"])).code).toBe(2);
    expect((await world.tieline(["devices", "revoke", "nothing"])).stderr).toContain("TARGET_NOT_FOUND");
  });

  test("nothing went wrong on the way", () => {
    expect(faults).toEqual([]);
  });
});
