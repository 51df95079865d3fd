import { describe, expect, test } from "bun:test";
import { until } from "../../src/testing/until.ts";
import { contrastFaults, nameless } from "./access.ts";
import { onStage } from "./onStage.ts";
import { says } from "./stage.ts";

/** The page of one agent: what it shows, what can be done there, and what it says when something goes wrong. */
await onStage("the page of an agent", ({ stage, page, faults, show, card }) => {
  const part = (name: string) => page.getByRole("region", { name, exact: true });
  const head = page.locator(".agent-page");
  const act = async (label: string, button: string): Promise<void> => {
    await page.locator(".acts").getByRole("button", { name: label, exact: true }).click();
    await page.locator(".confirm").getByRole("button", { name: button, exact: true }).click();
  };

  test("is reached from the card, and shows profile, transports, edges and queue", async () => {
    await show("#/team");
    await card("lead").getByRole("link", { name: "lead", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Agent" }).waitFor();
    await part("About").getByText("web:lead").waitFor();
    await part("About").getByText("tieline.yaml").waitFor();
    const tmux = part("Transports").getByRole("row").filter({ hasText: "tmux" });
    await tmux.getByText("screen").waitFor();
    await tmux.getByText("your messages").waitFor();
    await part("Transports").getByText("possible now").waitFor();
    for (const name of ["engineer", "reviewer", "tester"])
      await part("Edges").getByRole("link", { name, exact: true }).first().waitFor();
    await part("Queue").getByText("No messages wait.").waitFor();
    await part("Edges").getByRole("link", { name: "engineer", exact: true }).first().click();
    await page.locator('.agent-page[data-agent="engineer"]').waitFor();
  });

  test("is reached by a key, and from a message", async () => {
    const { tag } = await says(stage.world, "lead", "engineer", "from one page to another");
    await show(`#/messages/${tag}`);
    await page.locator(`.letter[data-tag="${tag}"]`).getByRole("link", { name: "engineer", exact: true }).click();
    await page.locator('.agent-page[data-agent="engineer"]').waitFor();
    await show("#/team");
    await card("lead").focus();
    await page.keyboard.press("a");
    await page.locator('.agent-page[data-agent="lead"]').waitFor();
  });

  test("pages its messages by the daemon, and adds new ones at the top", async () => {
    for (let count = 0; count < 55; count++) await stage.user.call("send", { to: "scout", body: `note ${count}` });
    await show("#/agents/web:scout");
    await until(async () => (await part("Messages").locator("li").count()) === 50, "the first page");
    await part("Messages").getByRole("button", { name: "Show older messages" }).click();
    await until(async () => (await part("Messages").locator("li").count()) === 55, "the second page");
    expect(await part("Messages").getByRole("button", { name: "Show older messages" }).count()).toBe(0);
    await stage.user.call("send", { to: "scout", body: "the newest" });
    await part("Messages").locator("li").first().getByText("the newest").waitFor();
    await part("Queue").getByRole("link", { name: "Whole queue (56)" }).waitFor();
  });

  test("says what an act will do, and does nothing when that is cancelled", async () => {
    await show("#/agents/web:tester");
    const stop = page.locator(".acts").getByRole("button", { name: "Stop", exact: true });
    await stop.click();
    await page.locator(".confirm").getByText("asks the program to exit").waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".confirm").waitFor({ state: "detached" });
    expect(await stop.evaluate((button) => button === document.activeElement)).toBeTrue();
    expect((await stage.world.ls()).find(({ name }) => name === "tester")!.presence).not.toBe("offline");
  });

  test("stops and resumes", async () => {
    await act("Stop", "Stop tester");
    await page.locator('.agent-page[data-state="suspended"]').waitFor();
    await act("Resume", "Resume tester");
    await page.locator('.agent-page[data-state="idle"]').waitFor();
  });

  describe("when the daemon goes away in the middle of an act", () => {
    test("says that it is not known whether it was done", async () => {
      await show("#/agents/web:tester");
      await page.route("**/v1/interrupt", (route) => route.abort());
      await act("Interrupt", "Interrupt tester");
      await page.getByRole("alert").getByText("It is not known whether the interrupt of tester was done.").waitFor();
      await page.unroute("**/v1/interrupt");
    });

    test("offers no act until it is back", async () => {
      await page.route("**/v1/**", (route) => route.abort());
      await stage.world.tieline(["daemon", "stop"]);
      await page.locator(".connection.away").waitFor();
      await until(
        () => page.locator(".acts").getByRole("button", { name: "Stop", exact: true }).isDisabled(),
        "the act to be disabled",
      );
      await part("About").getByText("web:tester").waitFor();
      await page.unroute("**/v1/**");
      await stage.world.tieline(["daemon", "start"]);
      await page.locator(".connection.live").waitFor();
      await until(
        () => page.locator(".acts").getByRole("button", { name: "Stop", exact: true }).isEnabled(),
        "the act to be enabled again",
      );
    });
  });

  test("removes an agent, and says what became of its mail", async () => {
    await stage.user.call("register", { name: "temp" });
    await stage.user.call("send", { to: "temp", body: "never read" });
    await show("#/agents/web:temp");
    await page.locator(".acts").getByRole("button", { name: "Remove", exact: true }).click();
    await page.locator(".confirm").getByText("1 message in its queue will bounce").waitFor();
    await page.locator(".confirm").getByRole("button", { name: "Remove temp" }).click();
    await page.locator(".notice", { hasText: "temp was removed; 1 message bounced" }).waitFor();
    await page.getByRole("alert").getByText("temp was removed. The page shows what was last known about it.").waitFor();
    await show("#/team");
    await card("temp").waitFor({ state: "detached" });
  });

  test("stays when its agent is removed elsewhere, without acts", async () => {
    await stage.user.call("register", { name: "elsewhere" });
    await show("#/agents/web:elsewhere");
    await part("About").getByText("web:elsewhere").waitFor();
    await stage.user.call("rm", { agent: "elsewhere" });
    await page.getByRole("alert").getByText("elsewhere was removed.").waitFor();
    expect(await page.locator(".acts").count()).toBe(0);
    expect(await head.getByRole("button", { name: "Write" }).isDisabled()).toBeTrue();
  });

  test("agents whose programs have exited are removed together", async () => {
    await stage.user.call("spawn", { profile: "tester", name: "quitter" });
    const { pane } = (await stage.world.ls()).find(({ name }) => name === "quitter")!;
    await show("#/team");
    await card("quitter").and(page.locator('[data-state="idle"]')).waitFor();
    await stage.world.tmux("kill-pane", "-t", pane!);
    await card("quitter").and(page.locator('[data-state="gone"]')).waitFor();
    await page.getByRole("button", { name: /^not running/ }).click();
    const gone = page.getByRole("group", { name: "Agents that are gone" });
    await gone.getByRole("button", { name: "Remove 1 agent that is gone…" }).click();
    await gone.getByText("Agents with mail, or with a conversation that can be resumed, stay.").waitFor();
    await gone.getByRole("button", { name: "Remove them" }).click();
    await card("quitter").waitFor({ state: "detached" });
    await page.getByRole("button", { name: /^all/ }).click();
    await card("lead").waitFor();
    expect((await stage.world.ls()).some(({ name }) => name === "quitter")).toBeFalse();
  });

  test.each(["#/agents/web:unknown", "#/agents/%E0%A4%A", "#/agents/%3Cimg%20src=x%20onerror=alert(1)%3E"])(
    "says that there is no agent at %s",
    async (hash) => {
      await show(hash);
      await page.getByRole("heading", { name: "No such agent" }).waitFor();
      expect(await page.locator("main img").count()).toBe(0);
    },
  );

  test("has room for a name of 64 characters and for hostile text, at every size and in both themes", async () => {
    const name = `a${"b".repeat(63)}`;
    const { token } = await stage.user.call("register", { name, role: "r".repeat(60) });
    expect(token).toBeString();
    await stage.user.call("send", {
      to: name,
      body: `\u202E<img src=x onerror=alert(1)>\u001B[31m ${"w".repeat(300)}`,
    });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      for (const viewport of [
        { width: 1440, height: 900 },
        { width: 390, height: 844 },
      ]) {
        await page.setViewportSize(viewport);
        await show(`#/agents/web:${name}`);
        await part("Messages").locator("li").first().waitFor();
        expect(await page.evaluate(nameless)).toEqual([]);
        expect(await page.evaluate(contrastFaults)).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(viewport.width);
        const wide = await page.evaluate(() => {
          const view = document.querySelector(".view")!;
          return view.scrollWidth - view.clientWidth;
        });
        expect(wide).toBeLessThanOrEqual(0);
      }
    }
    await page.emulateMedia({ colorScheme: null });
    await page.setViewportSize({ width: 1440, height: 900 });
    expect(await page.locator("main img").count()).toBe(0);
  });

  test("nothing went wrong on the way", () => {
    expect(faults).toEqual([]);
  });
});
