import { expect, test } from "bun:test";
import type { Client } from "../../src/client/client.ts";
import { until } from "../../src/testing/until.ts";
import { onStage } from "./onStage.ts";
import { secondTeam } from "./secondTeam.ts";

/** The graph and the numbers, of one team and of all. */
await onStage("the charts of the dashboard", ({ stage, page, faults, show }) => {
  let api: Client;
  const node = (key: string) => page.locator(`.node[data-key="${key}"]`);
  const edge = (name: RegExp) => page.getByRole("button", { name });
  const atRest = (): Promise<unknown> => page.locator('.drawing[data-resting="true"]').waitFor();
  const places = (): Promise<Record<string, string>> =>
    page.evaluate(() =>
      Object.fromEntries(
        [...document.querySelectorAll<SVGGElement>(".node[data-key]")].map((one) => [
          one.dataset["key"]!,
          one.closest("g[transform]")!.getAttribute("transform")!,
        ]),
      ),
    );

  test("two teams have mail", async () => {
    api = await secondTeam(stage);
    for (let at = 0; at < 4; at++) await api.call("send", { to: "ann", body: `to ann ${at}` });
    for (let at = 0; at < 6; at++) await stage.user.call("send", { to: "scout", body: `to scout ${at}` });
    const mail = await stage.scout.call("collect", { limit: 20 });
    await stage.scout.call("collected", { deliveries: mail.flatMap(({ delivery }) => delivery ?? []) });
    await page.reload();
    await page.locator(".connection.live").waitFor();
  });

  test("the graph draws every team, with counts of the daemon and a legend", async () => {
    await show("#/graph");
    await atRest();
    await node("api:ann").waitFor();
    await node("web:lead").waitFor();
    await edge(/^user to ann, 4 messages/).waitFor({ state: "attached" });
    await edge(/^user to scout, 6 messages/).waitFor({ state: "attached" });
    await page.getByRole("list", { name: "Legend" }).getByText("mail without an edge").waitFor();
    await page.getByLabel("Team", { exact: true }).selectOption("api");
    await node("web:lead").waitFor({ state: "detached" });
    await node("api:bee").waitFor();
    await api.call("send", { to: "ann", body: "one more" });
    await edge(/^user to ann, 5 messages/).waitFor({ state: "attached" });
  });

  test("nodes keep their places when an edge and another agent come", async () => {
    await show("#/graph?team=web");
    await atRest();
    const before = await places();
    await stage.user.call("topologyAdd", { edge: "scout -> tester" });
    await stage.user.call("register", { name: "late" });
    await node("web:late").waitFor();
    await edge(/^scout to tester/).waitFor({ state: "attached" });
    await atRest();
    const positions = Object.values(before).map((text) => text.match(/[-\d.]+/g)!.map(Number));
    const after = await places();
    // The drawing may be scaled to its room; who is left of whom and above whom stays.
    const order = (those: readonly number[][], axis: 0 | 1): number[] =>
      those.map((_, at) => at).toSorted((a, b) => those[a]![axis]! - those[b]![axis]! || a - b);
    const now = Object.keys(before).map((key) => after[key]!.match(/[-\d.]+/g)!.map(Number));
    expect([order(now, 0), order(now, 1)]).toEqual([order(positions, 0), order(positions, 1)]);
  });

  test("an edge opens its traffic inside the screen; Esc, the cross and Back close it", async () => {
    await show("#/graph?team=web");
    await edge(/^user to scout/).press("Enter");
    const panel = page.getByRole("complementary", { name: "Traffic from user to scout" });
    await panel.getByText("6 messages").waitFor();
    expect(await panel.getByRole("listitem").count()).toBe(6);
    for (const part of [panel, panel.getByRole("button", { name: "Close" })]) {
      const { x, width } = (await part.boundingBox())!;
      expect(x + width).toBeLessThanOrEqual(1_440);
    }
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    await edge(/^user to scout/).press("Enter");
    await panel.getByRole("button", { name: "Close" }).click();
    await panel.waitFor({ state: "detached" });
    await page.goBack();
    await panel.waitFor();
  });

  test("a node leads to the page of its agent", async () => {
    await show("#/graph");
    await atRest();
    await page.getByRole("link", { name: /^ann, / }).press("Enter");
    await page.locator(".view.agents, .view.agent").waitFor();
    expect(decodeURIComponent(new URL(page.url()).hash)).toStartWith("#/agents/api:ann");
  });

  test("a removed agent is not drawn, although its mail is counted", async () => {
    await show("#/graph");
    await node("api:bee").waitFor();
    await api.call("send", { to: "bee", body: "before it goes" });
    await edge(/^user to bee, 1 messages/).waitFor({ state: "attached" });
    await api.call("rm", { agent: "bee", force: true } as never);
    await node("api:bee").waitFor({ state: "detached" });
    await page.reload();
    await node("api:ann").waitFor();
    expect(await node("api:bee").count()).toBe(0);
  });

  test("the numbers are those of the range and the team", async () => {
    const figure = (value: string) =>
      page.locator(".figure", { hasText: "messages" }).getByText(value, { exact: true });
    const count = async (team?: string): Promise<string> =>
      String((await stage.user.call("statistics", { ...(team && { team }) })).messages);
    await show("#/numbers");
    await figure(await count()).waitFor();
    await page.getByText("Time to deliver, p95").waitFor();
    await page.getByLabel("Team", { exact: true }).selectOption("api");
    await figure(await count("api")).waitFor();
    await page.getByRole("button", { name: "Last week" }).click();
    await page.reload();
    await page.locator('button[aria-pressed="true"]', { hasText: "Last week" }).waitFor();
    await figure(await count("api")).waitFor();
    await page.goBack();
    await page.locator('button[aria-pressed="true"]', { hasText: "Last hour" }).waitFor();
  });

  test("each chart has a table with its values", async () => {
    await show("#/numbers");
    const chart = page.locator(".chart", { hasText: "Messages per" }).first();
    await chart.getByText("Table").click();
    const cells = chart.getByRole("table").locator("td");
    const sent = (await stage.user.call("statistics", { since: Date.now() - 3_600_000 })).messages;
    await until(
      async () => (await cells.allInnerTexts()).reduce((sum, text) => sum + Number(text), 0) === sent,
      "the table to add up to all messages",
    );
  });

  test("nothing went wrong in the page", () => {
    expect(faults).toEqual([]);
  });
});
