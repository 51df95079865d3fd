import { expect, test } from "bun:test";
import { until } from "../../src/testing/until.ts";
import { onStage } from "./onStage.ts";
import { says } from "./stage.ts";

/** The event log. */
await onStage("the event log", ({ stage, page, faults, show }) => {
  const rows = page.locator(".view.events .event");
  const row = (type: string, text: string) => page.locator(`.event[data-type="${type}"]`, { hasText: text });
  const loaded = page.locator(".view.events [role=status]");

  test("shows what happens as it happens, with links to the message and the agent", async () => {
    await show("#/events");
    await rows.first().waitFor();
    const { tag } = await says(stage.world, "lead", "engineer", "look at the log");
    await row("message.accepted", "look at the log").waitFor();
    const delivered = row("delivery.delivered", tag);
    await delivered.getByText("proof: screen").waitFor();
    await delivered.getByRole("link", { name: "engineer" }).click();
    await page.locator('.agent-page[data-agent="engineer"]').waitFor();
    await page.goBack();
    await row("delivery.delivered", tag).getByRole("link", { name: tag }).click();
    await page.locator(`.letter[data-tag="${tag}"]`).waitFor();
  });

  test("is filtered by kind, agent, time and team, by the daemon", async () => {
    await show("#/events");
    await page.getByLabel("Kind").selectOption({ label: "Messages" });
    await row("message.accepted", "look at the log").waitFor();
    await until(
      async () => (await page.locator('.event:not([data-type^="message."])').count()) === 0,
      "only events of messages",
    );
    await page.getByLabel("Agent", { exact: true }).fill("web:reviewer");
    await page.getByText("No events match.").waitFor();
    await page.getByLabel("Agent", { exact: true }).fill("web:lead");
    await row("message.accepted", "look at the log").waitFor();
    await page.getByLabel("Time", { exact: true }).selectOption({ label: "Last hour" });
    await row("message.accepted", "look at the log").waitFor();
    await page.getByLabel("Agent", { exact: true }).fill("");
    await page.getByLabel("Time", { exact: true }).selectOption({ label: "Any time" });
    await page.getByLabel("Kind").selectOption({ label: "All events" });
  });

  test("pauses, counts what comes meanwhile, and continues", async () => {
    await row("message.accepted", "look at the log").waitFor();
    await page.locator("h1").click();
    await page.keyboard.press("p");
    await page.getByRole("button", { name: "Continue" }).waitFor();
    await stage.user.call("send", { to: "scout", body: "while it is paused" });
    await page.getByRole("button", { name: /Continue \([1-9]\d* new\)/ }).waitFor();
    expect(await row("message.accepted", "while it is paused").count()).toBe(0);
    await page.keyboard.press("p");
    await row("message.accepted", "while it is paused").waitFor();
  });

  test("is paged back to its beginning on scrolling up, each event once", async () => {
    for (let count = 0; count < 120; count++) await stage.user.call("send", { to: "scout", body: `event ${count}` });
    const { events } = await stage.user.call("events", { limit: 10_000 });
    await show("#/team");
    await show("#/events");
    await row("message.accepted", "event 119").waitFor();
    await loaded.getByText("older ones on scrolling up").waitFor();
    const list = page.locator(".view.events .windowed");
    await until(async () => {
      await list.evaluate((box) => box.scrollTo({ top: 0 }));
      return !(await loaded.textContent())!.includes("older");
    }, "the beginning of the log");
    const total = Number((await loaded.textContent())!.replaceAll(/\D/g, ""));
    expect(total).toBeGreaterThanOrEqual(events.length);
    await list.evaluate((box) => box.scrollTo({ top: 0 }));
    await page.locator(`.event[data-seq="${events[0]!.seq}"]`).waitFor();
  });

  test("says why when the daemon refuses, and shows hostile text as text", async () => {
    await stage.user.call("send", { to: "scout", body: "<img src=x onerror=alert(1)> \u202Eevil" });
    await show("#/team");
    await show("#/events");
    await row("message.accepted", "<img src=x").waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    await page.route("**/v1/events?*before=*", (route) => route.abort());
    await page.getByLabel("Kind").selectOption({ label: "Routing" });
    await page.getByRole("alert").getByText("Cannot load events").waitFor();
    await page.unroute("**/v1/events?*before=*");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator('.event[data-type="route.routed"]').first().waitFor();
    await page.getByLabel("Kind").selectOption({ label: "All events" });
  });

  test("nothing went wrong on the way", () => {
    expect(faults).toEqual([]);
  });
});
