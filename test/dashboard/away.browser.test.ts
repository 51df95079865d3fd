import { beforeAll, expect, test } from "bun:test";
import type { Locator, Route } from "playwright-core";
import { until } from "../../src/testing/until.ts";
import { onStage } from "./onStage.ts";

/** A daemon that is away, and one that goes away in the middle of an action: nothing is claimed that did not happen. */
await onStage("the dashboard without its daemon", ({ stage, page, faults, show, card }) => {
  const { world } = stage;
  const notice = (text: string): Locator => page.locator(".notice", { hasText: text });
  const banner = page.locator(".away-banner p");
  const row = (tag: string): Locator => page.locator(`.agent-queue [data-item][data-tag="${tag}"]`);
  const stateOf = async (tag: string): Promise<string> => (await world.status(tag)).deliveries[0]!.state;
  const queued = async (): Promise<string> => {
    const { tag } = await stage.user.call("send", { to: "reviewer", body: "waits" });
    await row(tag).waitFor();
    return tag;
  };

  beforeAll(async () => {
    await stage.direct("reviewer", { state: "permission" });
    await until(
      async () => (await world.ls()).find(({ name }) => name === "reviewer")!.state === "permission",
      "the dialog",
    );
    await show("#/queue");
  });

  test("an action whose answer is lost is not called done, nor failed", async () => {
    const tag = await queued();
    const loseAnswer = async (route: Route): Promise<void> => {
      const { status } = await fetch(route.request().url(), {
        method: "POST",
        headers: await route.request().allHeaders(),
        body: route.request().postData()!,
      });
      expect(status).toBe(200);
      await route.abort("connectionreset");
    };
    await page.route("**/v1/cancel", loseAnswer, { times: 1 });
    await row(tag).getByRole("button", { name: "Cancel" }).click();
    await notice("it is not known whether this was done").waitFor();
    expect(await notice(`Cancelled ${tag}`).count()).toBe(0);
    await row(tag).waitFor({ state: "detached" });
    expect(await stateOf(tag)).toBe("cancelled");
  });

  test("a banner says so, and actions are off until the daemon is back", async () => {
    const tag = await queued();
    await page.keyboard.press("c");
    await page.locator("#compose-to").fill("scout");
    await page.locator(".compose textarea").fill("kept meanwhile");
    process.kill(await world.daemonPid(), "SIGKILL");
    await banner.getByText("The daemon is away. Reconnecting…").waitFor();
    expect(await banner.locator("..").getAttribute("role")).toBe("alert");
    expect(await page.locator(".compose button[type=submit]").isDisabled()).toBeTrue();
    await page.keyboard.press("Control+Enter");
    await page.keyboard.press("Escape");
    expect(await row(tag).getByRole("button", { name: "Cancel" }).isDisabled()).toBeTrue();
    await show("#/waiting");
    await page.locator('.need[data-agent="reviewer"]').waitFor();
    for (const choice of await page.locator(".need .choice").all()) expect(await choice.isDisabled()).toBeTrue();
    await show("#/team");
    await card("reviewer").getByLabel("More for reviewer").click();
    expect(await card("reviewer").getByRole("button", { name: "Stop" }).isDisabled()).toBeTrue();
    await page.keyboard.press("Escape");
    await world.json(["daemon", "start"]);
    await page.locator(".connection.live").waitFor();
    await banner.waitFor({ state: "detached" });
    await page.keyboard.press("c");
    expect(await page.locator(".compose textarea").inputValue()).toBe("kept meanwhile");
    await page.keyboard.press("Control+Enter");
    await page.locator(".receipts a", { hasText: "scout" }).waitFor();
    const mail = await stage.user.call("inbox", { agent: "scout", peek: true });
    expect(mail.filter(({ body }) => body === "kept meanwhile")).toHaveLength(1);
    await page.keyboard.press("Escape");
  });

  test("nothing went wrong on the way", () => {
    expect(faults).toEqual([]);
  });
});
