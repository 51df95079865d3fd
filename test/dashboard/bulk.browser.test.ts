import { expect, test } from "bun:test";
import { until } from "../../src/testing/until.ts";
import { contrastFaults, nameless } from "./access.ts";
import { onStage } from "./onStage.ts";

/** One thing done to many messages. */
await onStage("many messages at once", ({ stage, page, faults, show }) => {
  const bar = page.getByRole("group", { name: "Selected messages" });
  const report = bar.getByRole("status", { name: "What became of them" });
  const row = (tag: string) => page.locator(`.queue-row[data-tag="${tag}"]`);
  const pick = (tag: string) => row(tag).getByRole("checkbox");
  const send = async (count: number): Promise<string[]> => {
    const tags: string[] = [];
    for (let at = 0; at < count; at++)
      tags.push((await stage.user.call("send", { to: "scout", body: `number ${at}` })).tag);
    return tags;
  };
  const stateOf = async (tag: string): Promise<string> =>
    (await stage.user.call("status", { tag })).deliveries[0]!.state;
  const tagsShown = (): Promise<string[]> =>
    page.locator(".queue-row").evaluateAll((rows) => rows.map((one) => one.getAttribute("data-tag")!));

  test("a range is selected with Shift, cancelled after a question, and brought back", async () => {
    const sent = await send(5);
    await show("#/queue/web:scout");
    await until(async () => (await tagsShown()).length === 5, "the queue");
    const order = await tagsShown();
    await pick(order[0]!).click();
    await pick(order[3]!).click({ modifiers: ["Shift"] });
    await bar.getByText("4 selected").waitFor();
    await bar.getByRole("button", { name: "Cancel 4…" }).click();
    await bar.getByText("4 messages will not be delivered.").waitFor();
    expect(await Promise.all(sent.map(stateOf))).toEqual(Array(5).fill("queued"));
    await bar.getByRole("button", { name: "Cancel 4 messages" }).click();
    await report.getByText("4 messages cancelled.").waitFor();
    expect((await Promise.all(sent.map(stateOf))).filter((state) => state === "cancelled")).toHaveLength(4);
    await report.getByRole("button", { name: "Undo" }).click();
    await report.getByText("4 messages queued again.").waitFor();
    expect(await Promise.all(sent.map(stateOf))).toEqual(Array(5).fill("queued"));
  });

  test("works by keys alone, and Esc asks nothing of the daemon", async () => {
    await bar.getByRole("button", { name: "Clear" }).click();
    await until(async () => (await tagsShown()).length === 5, "the queue");
    const [first] = await tagsShown();
    await row(first!).focus();
    await page.keyboard.press("v");
    await bar.getByText("1 selected").waitFor();
    await bar.getByRole("button", { name: "Cancel 1…" }).focus();
    await page.keyboard.press("Enter");
    await bar.getByText("1 message will not be delivered.").waitFor();
    await page.keyboard.press("Escape");
    await bar.getByText("1 message will not be delivered.").waitFor({ state: "detached" });
    expect(await stateOf(first!)).toBe("queued");
    await bar.getByRole("button", { name: "Clear" }).click();
    await bar.waitFor({ state: "detached" });
  });

  test("says what became of each message when the daemon goes away in the middle", async () => {
    const [one, two, three] = await tagsShown();
    for (const tag of [one, two, three]) await pick(tag!).click();
    await page.route("**/v1/cancel", async (route) =>
      route.request().postData()!.includes(two!) ? route.abort() : route.continue(),
    );
    await bar.getByRole("button", { name: "Cancel 3…" }).click();
    await bar.getByRole("button", { name: "Cancel 3 messages" }).click();
    await report.getByText("1 message cancelled. 2 messages not:").waitFor();
    await report.locator('[data-outcome="not known"]', { hasText: two! }).waitFor();
    await report.locator('[data-outcome="not tried"]', { hasText: three! }).waitFor();
    await page.unroute("**/v1/cancel");
    expect(await Promise.all([one!, two!, three!].map(stateOf))).toEqual(["cancelled", "queued", "queued"]);
    await bar.getByText("2 selected").waitFor();
    await bar.getByRole("button", { name: "Clear" }).click();
  });

  test("in Messages, cancelled ones are selected and retried", async () => {
    await show("#/messages");
    await page.getByRole("button", { name: "Select", exact: true }).click();
    const cancelled = page.locator('.pick-row:has(.row[data-state="cancelled"])');
    await cancelled.first().waitFor();
    const tag = (await cancelled.first().locator(".row").getAttribute("data-tag"))!;
    await cancelled.first().getByRole("checkbox").click();
    await bar.getByRole("button", { name: "Retry 1…" }).click();
    await bar.getByText("1 message will be queued again.").waitFor();
    expect(await page.evaluate(nameless)).toEqual([]);
    expect(await page.evaluate(contrastFaults)).toEqual([]);
    await bar.getByRole("button", { name: "Retry 1 message" }).click();
    await report.getByText("1 message queued again.").waitFor();
    expect(await stateOf(tag)).toBe("queued");
    await page.getByRole("button", { name: "Select", exact: true }).click();
    await page.locator(".pick-row").first().waitFor({ state: "detached" });
  });

  test("nothing went wrong on the way", () => {
    expect(faults).toEqual([]);
  });
});
