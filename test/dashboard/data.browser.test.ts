import { expect, test } from "bun:test";
import type { Client } from "../../src/client/client.ts";
import { until } from "../../src/testing/until.ts";
import { onStage } from "./onStage.ts";
import { secondTeam } from "./secondTeam.ts";

const many = 700;
const unlimited = 1_000_000;
const config = { guards: { maxHops: unlimited, perPairPerMinute: unlimited, perSenderPerMinute: unlimited } };

/** What the page lists and counts is what the daemon knows, however few messages are loaded. */
await onStage(
  "the data of the dashboard",
  ({ stage, page, faults, show, card }) => {
    const counted = (): Promise<string> => page.locator(".counted").innerText();
    const listCounts = (text: string): Promise<unknown> =>
      page.locator(".counted", { hasText: new RegExp(`^${text}$`) }).waitFor();
    const total = async (query = {}): Promise<number> => (await stage.user.call("logCount", query)).count;
    let api: Client;

    test("a second team gets three messages before many others", async () => {
      api = await secondTeam(stage);
      await api.call("send", { to: "ann", body: "the first needle" });
      await api.call("send", { to: "ann", body: "the second" });
      const { tag } = await api.call("send", { to: "bee", body: "never mind" });
      await api.call("cancel", { tag });
      for (let at = 0; at < many; at += 100)
        await Promise.all(
          Array.from({ length: 100 }, (_, index) =>
            stage.user.call("send", { to: "scout", body: `note ${at + index}` }),
          ),
        );
      expect(await total()).toBe(many + 3);
    });

    test("a card shows the last message of its agent, however many others were sent since", async () => {
      await page.reload();
      await card("ann").locator(".last", { hasText: "the second" }).waitFor();
      await card("bee").locator(".last", { hasText: "never mind" }).waitFor();
    });

    test("filters find and count messages that are not loaded", async () => {
      await show("#/messages");
      await listCounts("703 messages");
      await page.getByLabel("Agent").selectOption("api:ann");
      await listCounts("2 of 703 messages");
      expect(await page.locator(".row").count()).toBe(2);
      await page.getByLabel("State").selectOption("cancelled");
      await page.getByText("No messages match these filters.").waitFor();
      expect(await counted()).toBe("0 of 703 messages");
      await page.getByRole("button", { name: "Show all" }).click();
      await listCounts("703 messages");
      await page.getByLabel("State").selectOption("cancelled");
      await listCounts("1 of 703 messages");
      await page.locator(".row", { hasText: "never mind" }).waitFor();
    });

    test("filters are in the address: a reload and Back keep them", async () => {
      await show("#/messages");
      await page.getByLabel("Team", { exact: true }).selectOption("api");
      await listCounts("3 of 703 messages");
      await page.getByLabel("State").selectOption("open");
      await listCounts("2 of 703 messages");
      await page.getByLabel("Time").selectOption("last hour");
      await page.reload();
      await listCounts("2 of 703 messages");
      expect(await page.getByLabel("Time").inputValue()).toBe("last hour");
      expect(await page.getByLabel("Team", { exact: true }).inputValue()).toBe("api");
      await page.goBack();
      await until(async () => (await page.getByLabel("Time").inputValue()) === "any time", "the time before");
      await page.goBack();
      await listCounts("3 of 703 messages");
      await page.locator(".row", { hasText: "the first needle" }).click();
      await page.locator(".thread").waitFor();
      expect(new URL(page.url()).hash).toContain("team=api");
      await listCounts("3 of 703 messages");
    });

    test("what happens keeps a filtered list and its count right", async () => {
      await show("#/messages?agent=api:bee&state=open");
      await page.getByText("No messages match these filters.").waitFor();
      const { tag } = await api.call("send", { to: "bee", body: "one more" });
      await page.locator(`.row[data-tag="${tag}"]`).waitFor();
      await listCounts("1 of 704 messages");
      await api.call("cancel", { tag });
      await page.locator(`.row[data-tag="${tag}"]`).waitFor({ state: "detached" });
      await listCounts("0 of 704 messages");
    });

    test("a search finds old messages, and marks the words", async () => {
      await show("#/messages");
      await page.locator("#search").fill("needle");
      await listCounts("1 of 704 messages");
      await page.locator(".row", { hasText: "the first needle" }).waitFor();
      const marked = (): Promise<string[]> =>
        page.evaluate(() => [...(CSS.highlights.get("search") ?? [])].map((range) => String(range)));
      await until(async () => (await marked()).includes("needle"), "the word to be marked");
      expect(new URL(page.url()).hash).toContain("q=needle");
      await page.locator("#search").fill("");
      await listCounts("704 messages");
    });

    test("an agent that does not exist is said, and not an empty list", async () => {
      await show("#/messages?agent=api:unknown");
      await page.locator(".failure", { hasText: "unknown" }).waitFor();
      expect(await page.getByText("No messages yet.").count()).toBe(0);
    });

    test("the team is obeyed by what waits for the user", async () => {
      await stage.direct("reviewer", { state: "permission" });
      await show("#/waiting");
      await page.locator('.need[data-agent="reviewer"]').waitFor();
      await page.getByLabel("Team", { exact: true }).selectOption("api");
      await page.getByText("Nothing is waiting for you").waitFor();
      expect(await page.locator(".need").count()).toBe(0);
      await page.getByLabel("Team", { exact: true }).selectOption("web");
      await page.locator('.need[data-agent="reviewer"]').waitFor();
      await stage.direct("reviewer", { state: "idle" });
      await page.locator('.need[data-agent="reviewer"]').waitFor({ state: "detached" });
      await page.getByLabel("Team", { exact: true }).selectOption("");
    });

    test("a message to team:name is filed under that team", async () => {
      await show("#/team");
      await page.locator("main").click();
      await page.keyboard.press("c");
      await page.locator("#compose-to").fill("api:bee");
      await page.getByLabel("Message", { exact: true }).fill("filed where it belongs");
      await page.keyboard.press("Control+Enter");
      await page.locator(".receipts a").first().waitFor();
      await page.keyboard.press("Escape");
      await card("bee").locator(".last", { hasText: "filed where it belongs" }).waitFor();
      const [last] = await stage.user.call("log", { limit: 1, to: "api:bee" });
      expect(last).toMatchObject({ team: "api", summary: "filed where it belongs" });
    });

    test("the box for notifications is not ticked when the browser refuses, and says why", async () => {
      await page.evaluate(() =>
        Object.defineProperty(Notification, "requestPermission", { value: () => Promise.resolve("denied") }),
      );
      await show("#/waiting");
      await page.getByLabel("Desktop notifications").click();
      await page.getByText("The browser blocks notifications of this page").waitFor();
      expect(await page.getByLabel("Desktop notifications").isChecked()).toBe(false);
    });

    test("nothing went wrong in the page", () => {
      expect(faults).toEqual([]);
    });
  },
  { config },
);
