import { expect, test } from "bun:test";
import { until } from "../../src/testing/until.ts";
import { onStage } from "./onStage.ts";
import { says } from "./stage.ts";

/** Replies inside a conversation. */
await onStage("replying inside a conversation", ({ stage, page, faults, show }) => {
  const field = page.locator(".inline-reply textarea");
  const letters = page.locator(".letter");

  test("answers the sender, by keys alone, and shows the answer below", async () => {
    const { tag, id } = await says(stage.world, "lead", "user", "Shall we deploy?");
    await show(`#/messages/${tag}`);
    await letters.first().waitFor();
    await page.locator("h1").click();
    await page.keyboard.press("r");
    await page.keyboard.type("Yes, after lunch");
    await page.keyboard.press("Control+Enter");
    await letters.filter({ hasText: "Yes, after lunch" }).waitFor();
    expect(await field.inputValue()).toBe("");
    const answer = (await stage.user.call("log", { thread: tag })).at(-1)!;
    expect(answer).toMatchObject({ from: "user", inReplyTo: id });
    expect(answer.deliveries.map(({ agent }) => agent)).toEqual(["lead"]);
  });

  test("follows up on one's own message, to those who got it", async () => {
    const { tag, id } = await stage.user.call("send", { to: "scout", body: "Who uses session.ts?" });
    await show(`#/messages/${tag}`);
    await field.fill("Also cookie.ts, please");
    await page.locator(".inline-reply").getByRole("button", { name: "Send" }).click();
    await letters.filter({ hasText: "Also cookie.ts, please" }).waitFor();
    const [, followUp] = await stage.user.call("log", { thread: tag });
    expect(followUp).toMatchObject({ from: "user", inReplyTo: id });
    expect(followUp!.deliveries.map(({ agent }) => agent)).toEqual(["scout"]);
  });

  test("goes to the agent that was chosen, where a message has two", async () => {
    const { tag } = await says(stage.world, "lead", "engineer", "Please fix the cookie");
    await show(`#/messages/${tag}`);
    await page.locator(".inline-reply select").selectOption("engineer");
    await field.fill("And add a test");
    await page.locator(".inline-reply").getByRole("button", { name: "Send" }).click();
    await letters.filter({ hasText: "And add a test" }).waitFor();
    const answer = (await stage.user.call("log", { thread: tag })).at(-1)!;
    expect(answer.deliveries.map(({ agent }) => agent)).toEqual(["engineer"]);
  });

  test("shows what others write in the conversation meanwhile", async () => {
    const { tag } = await says(stage.world, "lead", "user", "One more thing");
    await show(`#/messages/${tag}`);
    await letters.filter({ hasText: "One more thing" }).waitFor();
    await stage.user.call("reply", { tag, body: "From another window" });
    await letters.filter({ hasText: "From another window" }).waitFor();
  });

  test("keeps the text when sending fails, across a reload, and sends it once", async () => {
    const { tag } = await says(stage.world, "lead", "user", "Really?");
    await show(`#/messages/${tag}`);
    await field.fill("Really. \u202E<b>yes</b>");
    // The daemon gets it, and its answer is lost.
    await page.evaluate(() => {
      const send = window.fetch;
      window.fetch = Object.assign(
        async (...request: Parameters<typeof fetch>) => {
          const answer = await send(...request);
          if (String(request[0]).endsWith("/v1/reply")) throw new TypeError("Failed to fetch");
          return answer;
        },
        { preconnect: send.preconnect },
      );
    });
    await page.keyboard.press("Control+Enter");
    await page.getByRole("alert").getByText("It is not known whether the reply was sent.").waitFor();
    expect(await field.inputValue()).toStartWith("Really.");
    await page.reload();
    await page.locator(".connection.live").waitFor();
    await until(async () => (await field.inputValue()).startsWith("Really."), "the draft after the reload");
    await page.locator(".inline-reply").getByRole("button", { name: "Send" }).click();
    await until(async () => (await field.inputValue()) === "", "the draft to be sent");
    const thread = await stage.user.call("log", { thread: tag });
    expect(thread.filter(({ from }) => from === "user")).toHaveLength(1);
  });

  test("each conversation has a draft of its own", async () => {
    const one = await says(stage.world, "lead", "user", "First question");
    const two = await says(stage.world, "lead", "user", "Second question");
    await show(`#/messages/${one.tag}`);
    await letters.filter({ hasText: "First question" }).waitFor();
    await field.fill("for the first");
    await show(`#/messages/${two.tag}`);
    await letters.filter({ hasText: "Second question" }).waitFor();
    expect(await field.inputValue()).toBe("");
    await show(`#/messages/${one.tag}`);
    await letters.filter({ hasText: "First question" }).waitFor();
    expect(await field.inputValue()).toBe("for the first");
    await field.fill("");
  });

  test("says why a refused reply was not sent, and keeps it", async () => {
    const { token } = await stage.user.call("register", { name: "leaver" });
    expect(token).toBeString();
    const { tag } = await stage.user.call("send", { to: "leaver", body: "Are you there?" });
    await show(`#/messages/${tag}`);
    await letters.filter({ hasText: "Are you there?" }).waitFor();
    await field.fill("Hello?");
    await stage.user.call("rm", { agent: "leaver", force: true });
    await page.locator(".inline-reply").getByRole("button", { name: "Send" }).click();
    await page.locator(".inline-reply [role=alert]").getByText("leaver").first().waitFor();
    expect(await field.inputValue()).toBe("Hello?");
  });

  test("nothing went wrong on the way", () => {
    expect(faults).toEqual([]);
  });
});
