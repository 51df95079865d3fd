import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DeliveryView } from "../../src/api/schema.ts";
import { logOf } from "../../src/testing/scriptedAgent.ts";
import { until } from "../../src/testing/until.ts";
import { onStage } from "./onStage.ts";
import { says, type Stage } from "./stage.ts";

/** What a user steers from the page: the life of agents, teams, mail to many, what is asked of them. */
await onStage("steering by the dashboard", ({ stage, page, faults, show, card }) => {
  const agentNamed = async (name: string) =>
    (await stage.user.call("ls", { all: true })).find((one) => one.name === name);
  const pick = async (agent: string, item: string): Promise<void> => {
    await card(agent).getByLabel(`More for ${agent}`).click();
    await card(agent).getByRole("button", { name: item, exact: true }).click();
  };

  describe("the life of an agent", () => {
    test("is started from a profile", async () => {
      await show("#/team");
      await page.keyboard.press("s");
      const form = page.getByRole("form", { name: "Start an agent" });
      await form.getByLabel("Profile").selectOption({ label: "tester (generic)" });
      await form.getByLabel("Name").fill("helper");
      await form.getByRole("button", { name: "Start" }).click();
      await card("helper").and(page.locator('[data-state="idle"]')).waitFor();
      expect(await agentNamed("helper")).toMatchObject({
        profile: "tester",
        state: "idle",
        pane: expect.stringMatching(/^%\d+$/),
      });
      await page.getByRole("form", { name: "Start an agent" }).waitFor({ state: "detached" });
    });

    test("a refused start says why and what to do", async () => {
      await page.keyboard.press("s");
      const form = page.getByRole("form", { name: "Start an agent" });
      await form.getByLabel("Profile").selectOption({ label: "tester (generic)" });
      await form.getByLabel("Name").fill("user");
      await form.getByRole("button", { name: "Start" }).click();
      await page.locator(".notice.bad", { hasText: "user" }).waitFor();
      await page.keyboard.press("Escape");
      await page.locator(".notice.bad").getByRole("button", { name: "Dismiss" }).click();
    });

    test("a project that can start untrusted programs starts nothing, and says what to run", async () => {
      const file = join(stage.world.project, "tieline.yaml");
      const before = readFileSync(file, "utf8");
      writeFileSync(file, before.replace('"cat"', '"tac"'));
      await page.keyboard.press("s");
      const form = page.getByRole("form", { name: "Start an agent" });
      await form.getByLabel("Profile").selectOption({ label: "tester (generic)" });
      await form.getByLabel("Name").fill("another");
      await form.getByRole("button", { name: "Start" }).click();
      const notice = page.locator(".notice.bad", { hasText: "has changed since it was trusted" });
      await notice.filter({ hasText: `tieline trust ${stage.world.project}` }).waitFor();
      expect(await agentNamed("another")).toBeUndefined();
      writeFileSync(file, before);
      await page.keyboard.press("Escape");
      await notice.getByRole("button", { name: "Dismiss" }).click();
    });

    test("is stopped, and resumed", async () => {
      await pick("helper", "Stop");
      await card("helper").and(page.locator('[data-state="suspended"]')).waitFor();
      expect(await agentNamed("helper")).toMatchObject({ state: "suspended", pane: null });
      await pick("helper", "Resume");
      await card("helper").and(page.locator('[data-state="idle"]')).waitFor();
      expect((await agentNamed("helper"))!.pane).not.toBeNull();
    });

    test("is restarted in another pane", async () => {
      const { pane } = (await agentNamed("helper"))!;
      await pick("helper", "Restart");
      await until(async () => ![null, pane].includes((await agentNamed("helper"))!.pane), "another pane");
      await card("helper").and(page.locator('[data-state="idle"]')).waitFor();
    });

    test("is killed only by the second press", async () => {
      await pick("helper", "Kill");
      expect((await agentNamed("helper"))!.state).toBe("idle");
      await card("helper")
        .getByRole("button", { name: /^Kill\? / })
        .click();
      await card("helper").and(page.locator('[data-state="suspended"]')).waitFor();
    });
  });

  test("teams are made, joined, renamed and disbanded", async () => {
    await pick("helper", "Move to a team…");
    const teams = page.getByRole("dialog", { name: "Teams" });
    await teams.getByLabel("Name of the new team").fill("night");
    await teams.getByRole("button", { name: "Create" }).click();
    await teams.locator('li[data-team="night"]').waitFor();
    const move = teams.getByRole("form", { name: "Move an agent" });
    expect(await move.getByLabel("Agent").inputValue()).toBe("web:helper");
    await move.getByLabel("Team").selectOption("night");
    await move.getByRole("button", { name: "Move" }).click();
    await until(async () => (await agentNamed("helper"))!.team === "night", "the move");
    await teams.locator('li[data-team="night"]', { hasText: "1 agent" }).waitFor();
    await teams.locator('li[data-team="night"]').getByRole("button", { name: "Rename…" }).click();
    await teams.getByLabel("New name").fill("dawn");
    await page.keyboard.press("Enter");
    await teams.locator('li[data-team="dawn"]').waitFor();
    await teams.locator('li[data-team="dawn"]').getByRole("button", { name: "Disband" }).click();
    await teams.locator('li[data-team="dawn"]').getByRole("button", { name: "Really disband?" }).click();
    await teams.locator('li[data-team="dawn"]').waitFor({ state: "detached" });
    expect(await agentNamed("helper")).toBeUndefined();
    await page.keyboard.press("Escape");
    await card("helper").waitFor({ state: "detached" });
  });

  test("one message goes to all agents", async () => {
    await page.keyboard.press("b");
    expect(await page.locator("#compose-to").inputValue()).toBe("@all");
    await page.getByLabel("Message", { exact: true }).fill("The build is green.");
    await page.keyboard.press("Control+Enter");
    const receipts = page.locator(".receipts a");
    await until(async () => (await receipts.count()) === 5, "a receipt for each");
    const names = await receipts.locator("span:first-child").allTextContents();
    expect(
      names.filter((name) => ["engineer", "lead", "reviewer", "scout", "tester"].includes(name)).toSorted(),
    ).toEqual(["engineer", "lead", "reviewer", "scout", "tester"]);
    for (const name of ["engineer", "lead", "reviewer", "tester"])
      await page.locator('.receipts a[data-state="delivered"]', { hasText: name }).waitFor();
    await page.keyboard.press("Escape");
  });

  test("a text file goes along, and what is no text does not", async () => {
    await page.keyboard.press("c");
    await page.locator("#compose-to").fill("scout");
    await page.getByLabel("Message", { exact: true }).fill("Look at this:");
    const file = page.locator(".compose input[type=file]");
    await file.setInputFiles({
      name: "notes.md",
      mimeType: "text/markdown",
      buffer: Buffer.from("# Notes\n<b>bold</b>\n"),
    });
    await until(
      async () => (await page.getByLabel("Message", { exact: true }).inputValue()).includes("<b>bold</b>"),
      "the file's text",
    );
    await file.setInputFiles({ name: "image.bin", mimeType: "text/plain", buffer: Buffer.from([1, 0, 2]) });
    await page.locator(".notice.bad", { hasText: "image.bin is not text" }).waitFor();
    await page.keyboard.press("Control+Enter");
    await until(
      async () => (await page.getByLabel("Message", { exact: true }).inputValue()) === "",
      "the message to go",
    );
    const mail = await stage.user.call("inbox", { agent: "scout", peek: true, pending: true });
    expect(mail.map(({ body }) => body)).toContain("Look at this:\n\nnotes.md:\n```\n# Notes\n<b>bold</b>\n```\n");
    await page.keyboard.press("Escape");
  });

  test("a question is answered by the key of its choice", async () => {
    await stage.direct("reviewer", { state: "question" });
    await show("#/waiting");
    const need = page.locator('.need[data-agent="reviewer"]');
    await need.getByText("Which colour?").waitFor();
    await need.getByRole("button", { name: "Green" }).waitFor();
    await page.keyboard.press("j");
    expect(await need.evaluate((element) => element === document.activeElement)).toBeTrue();
    await page.keyboard.press("2");
    await until(
      () =>
        logOf(stage.logDirectory("reviewer")).some(
          (entry) => "answered" in entry && entry.state === "question" && entry.answered === "2",
        ),
      "the key",
    );
    await stage.direct("reviewer", { state: "idle" });
    await need.waitFor({ state: "detached" });
  });

  test("a dialog that has changed is not answered", async () => {
    await stage.direct("reviewer", { state: "permission" });
    const need = page.locator('.need[data-agent="reviewer"]');
    await need.getByText("rm -rf build").waitFor();
    const before = logOf(stage.logDirectory("reviewer")).length;
    await page.route("**/v1/choose", async (route) =>
      route.continue({
        postData: JSON.stringify({ ...(route.request().postDataJSON() as object), mark: "of another" }),
      }),
    );
    await need.getByRole("button", { name: "Yes" }).click();
    await page.locator(".notice.bad").last().waitFor();
    await page.unroute("**/v1/choose");
    expect(logOf(stage.logDirectory("reviewer")).slice(before)).toEqual([]);
    await stage.direct("reviewer", { state: "idle" });
    await need.waitFor({ state: "detached" });
  });

  test("messages to one agent without proof are one entry, and one click dismisses them", async () => {
    for (let count = 0; count < 5; count++) await stage.user.call("send", { to: "scout", body: `unproved ${count}` });
    const { page: own, context, faults: ownFaults } = await stage.visit();
    const unproved = (delivery: DeliveryView): DeliveryView => ({
      ...delivery,
      state: "delivered",
      warning: "it left no trace",
    });
    await own.route("**/v1/log?*", async (route) => {
      const receipts = await stage.user.call("log", { limit: 200 });
      await route.fulfill({
        json: receipts.map((one) =>
          one.summary.startsWith("unproved") ? { ...one, deliveries: one.deliveries.map(unproved) } : one,
        ),
      });
    });
    await own.goto("about:blank");
    await own.goto(`${stage.origin}/#/waiting`);
    const need = own.locator('.need[data-kind="warning"]');
    await need.getByText("5 delivered to scout, not confirmed read").waitFor();
    expect(await need.count()).toBe(1);
    expect(await need.locator("li").allInnerTexts()).toEqual(
      [2, 3, 4].map((count) => expect.stringContaining(`unproved ${count}`) as unknown as string),
    );
    await need.getByText("and 2 before them").waitFor();
    await need.getByRole("button", { name: "Dismiss" }).click();
    await need.waitFor({ state: "detached" });
    expect(ownFaults).toEqual([]);
    await context.close();
  });

  test("plans, permissions and shutdowns of native teams are approved or denied, with words", async () => {
    const answers = askedBy(stage, [
      { type: "plan_approval_request", from: "mira", planContent: "1. look\n2. **leap**", requestId: "plan-1@mira" },
      {
        type: "permission_request",
        request_id: "perm-1",
        agent_id: "mira@crew",
        tool_name: "Bash",
        tool_use_id: "toolu_1",
        input: { command: "rm -rf <b>build</b>" },
      },
      { type: "shutdown_request", requestId: "shutdown-1@mira", from: "mira", reason: "all done" },
    ]);
    await show("#/waiting");
    const plan = page.locator('.need[data-kind="plan"]');
    await plan.locator(".markdown strong", { hasText: "leap" }).waitFor();
    await plan.getByLabel("Words for mira, if any").fill("look longer");
    await plan.getByRole("button", { name: "Deny" }).click();
    await plan.waitFor({ state: "detached" });
    const permission = page.locator('.need[data-kind="permission"]');
    expect(await permission.locator(".screen").innerText()).toContain("rm -rf <b>build</b>");
    await permission.focus();
    await page.keyboard.press("a");
    await permission.waitFor({ state: "detached" });
    const shutdown = page.locator('.need[data-kind="shutdown"]');
    await shutdown.getByText("all done").waitFor();
    await shutdown.getByRole("button", { name: "Approve" }).click();
    await shutdown.waitFor({ state: "detached" });
    await until(() => answers().length === 3, "the responses");
    expect(answers()).toMatchObject([
      { type: "plan_approval_response", requestId: "plan-1@mira", approved: false, feedback: "look longer" },
      { type: "permission_response", request_id: "perm-1", subtype: "success" },
      { requestId: "shutdown-1@mira" },
    ]);
  });

  test("waiting mail is edited and sent again", async () => {
    await stage.direct("reviewer", { state: "permission" });
    await until(async () => (await agentNamed("reviewer"))!.state === "permission", "the dialog");
    const { tag } = await stage.user.call("send", { to: "reviewer", body: "first words" });
    await show("#/queue");
    const row = page.locator(`.agent-queue [data-item][data-tag="${tag}"]`);
    await row.focus();
    await page.keyboard.press("e");
    expect(await page.locator("#compose-to").inputValue()).toBe("reviewer");
    await page.getByLabel("Message", { exact: true }).fill("better words");
    await page.keyboard.press("Control+Enter");
    await page.locator('.receipts a[data-state="queued"]', { hasText: "reviewer" }).last().waitFor();
    await row.waitFor({ state: "detached" });
    expect((await stage.world.status(tag)).deliveries[0]!.state).toBe("cancelled");
    const again = page.locator(".agent-queue [data-item]", { hasText: "better words" });
    await page.keyboard.press("Escape");
    await again.getByRole("button", { name: "Cancel" }).click();
    await again.waitFor({ state: "detached" });
    await stage.direct("reviewer", { state: "idle" });
  });

  test("what never arrived is tried again", async () => {
    const { tag } = await stage.user.call("send", { to: "scout", body: "in time?", ttlMs: 1 });
    await show("#/waiting");
    const need = page.locator(".need", { hasText: "in time?" });
    await need.getByRole("button", { name: "Retry" }).click();
    await need.waitFor({ state: "detached" });
    const { steps } = await stage.world.status(tag);
    expect(steps.map(({ verb }) => verb)).toEqual(expect.arrayContaining(["expire", "retry"]));
    await stage.user.call("cancel", { tag }).catch((error: { code?: string }) => expect(error.code).toBe("CONFLICT"));
  });

  test("one mail is read, and unread again, and the others stay", async () => {
    const first = await says(stage.world, "lead", "user", "The first report");
    await says(stage.world, "lead", "user", "The second report");
    await show("#/waiting");
    const need = (text: string) => page.locator(".need", { hasText: text });
    await need("The second report").waitFor();
    await need("The first report").getByRole("button", { name: "Mark as read" }).click();
    await need("The first report").waitFor({ state: "detached" });
    expect((await stage.world.status(first.tag)).deliveries[0]!.state).toBe("seen");
    expect(await need("The second report").count()).toBe(1);
    await page.locator(".notice", { hasText: "Marked as read" }).getByRole("button", { name: "Undo" }).click();
    await need("The first report").waitFor();
    await page.reload();
    await need("The first report").waitFor();
    await show(`#/messages/${first.tag}`);
    await page.getByRole("button", { name: "Mark as read" }).click();
    await page.getByRole("button", { name: "Mark as unread" }).waitFor();
    await show("#/waiting");
    await need("The second report").getByRole("button", { name: "Mark as read" }).click();
    await need("The second report").waitFor({ state: "detached" });
    expect(await need("The first report").count()).toBe(0);
  });

  test("nothing went wrong on the way", () => {
    expect(faults).toEqual([]);
  });
});

/** A Claude Code team on this machine, whose member asks the user for something; what it was answered. */
function askedBy({ world }: Stage, requests: readonly object[]): () => unknown[] {
  const team = join(world.dir, ".claude", "teams", "crew");
  const rows = requests.map((request) => ({
    from: "mira",
    text: JSON.stringify(request),
    timestamp: new Date().toISOString(),
    read: false,
  }));
  mkdirSync(join(team, "inboxes"), { recursive: true });
  writeFileSync(
    join(team, "config.json"),
    JSON.stringify({ name: "crew", members: [{ agentId: "mira@crew", name: "mira", agentType: "explorer" }] }),
  );
  writeFileSync(join(team, "inboxes", "user.json"), JSON.stringify(rows));
  return () =>
    (JSON.parse(readFileSync(join(team, "inboxes", "mira.json"), "utf8")) as { text: string }[]).flatMap(({ text }) =>
      text.startsWith("{") ? [JSON.parse(text) as unknown] : [],
    );
}
