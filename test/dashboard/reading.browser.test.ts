import { expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { until } from "../../src/testing/until.ts";
import { onStage } from "./onStage.ts";
import { says } from "./stage.ts";

const body = `# Plan

| file | state | lines |
|:-----|:-----:|------:|
| \`a.ts\` | **done** | 12 |
| b\\|c.ts | <b>open</b> | 7 |

- [x] find it
- [ ] fix it
- ~~guess~~

\`\`\`ts
const answer: number = 42; // <script>window.hit = 1</script>
\`\`\`

\`\`\`diff
--- a/a.ts
+++ b/a.ts
@@ -1 +1 @@
-old
+new
\`\`\``;
const patch = "--- a/src/session.ts\n+++ b/src/session.ts\n@@ -1 +1,2 @@\n-lax\n+strict\n+secure";

/** What agents write, as it is read: tables, tasks, code, diffs; and a list that does not move while it is read. */
await onStage("reading on the dashboard", ({ stage, page, faults, show }) => {
  test("tables, tasks and struck text are elements, and their content is text", async () => {
    const { tag } = await stage.user.call("send", { to: "scout", body });
    await show(`#/messages/${tag}`);
    const letter = page.locator(`.letter[data-tag="${tag}"] .markdown`);
    await letter.locator("table").waitFor();
    expect(await letter.locator("th").allInnerTexts()).toEqual(["file", "state", "lines"]);
    expect(await letter.locator("td").allInnerTexts()).toEqual(["a.ts", "done", "12", "b|c.ts", "<b>open</b>", "7"]);
    expect(await letter.locator("td.right").count()).toBe(2);
    expect(await letter.locator("td strong").innerText()).toBe("done");
    expect(
      await letter.locator("li.task .box").evaluateAll((all) => all.map((one) => one.getAttribute("aria-label"))),
    ).toEqual(["done", "to do"]);
    expect(await letter.locator("del").innerText()).toBe("guess");
  });

  test("code is coloured by a parser that is loaded later, without any HTML", async () => {
    const code = page.locator('.markdown .code[data-language="ts"]');
    await code.locator(".hljs-keyword", { hasText: "const" }).waitFor();
    await code.locator(".hljs-comment", { hasText: "<script>window.hit = 1</script>" }).waitFor();
    expect(await code.innerText()).toBe("const answer: number = 42; // <script>window.hit = 1</script>");
    expect(await page.evaluate(() => "hit" in window)).toBeFalse();
  });

  test("diffs are coloured line by line, also without a fence, and the list says what they change", async () => {
    const diff = page.locator('.markdown .code[data-language="diff"]');
    expect(await diff.locator(".diff-added").innerText()).toBe("+new");
    expect(await diff.locator(".diff-removed").innerText()).toBe("-old");
    const { tag, summary } = await stage.user.call("send", { to: "scout", body: patch });
    expect(summary).toBe("diff of session.ts (+2 −1)");
    await show(`#/messages/${tag}`);
    const letter = page.locator(`.letter[data-tag="${tag}"]`);
    await letter.locator(".diff-added").first().waitFor();
    expect((await letter.locator(".code").innerText()).trimEnd()).toBe(patch);
    await page.locator(`.row[data-tag="${tag}"]`, { hasText: "diff of session.ts (+2 −1)" }).waitFor();
  });

  test("mail to the user is unread, and has no Cancel", async () => {
    const { tag } = await says(stage.world, "lead", "user", "for you alone");
    await show(`#/messages/${tag}`);
    await page.locator(".history section .delivery", { hasText: "unread" }).waitFor();
    expect(await page.locator(".history").getByRole("button", { name: "Cancel" }).count()).toBe(0);
    await page.locator(`.row[data-tag="${tag}"] .delivery`, { hasText: "unread" }).waitFor();
  });

  test("a new request says so and comes last; what is read stays where it is", async () => {
    for (let at = 0; at < 12; at++)
      await says(stage.world, "lead", "user", `report number ${at}\n\n${"words ".repeat(60)}`);
    await show("#/team");
    const count = page.locator(".nav.waiting .count");
    await until(async () => Number(await count.innerText()) >= 12, "the count of what waits");
    await show("#/waiting");
    const read = page.locator(".need", { hasText: "report number 3" });
    await page.locator(".need", { hasText: "report number 11" }).waitFor();
    const top = (one: Locator): Promise<number> => one.evaluate((element) => element.getBoundingClientRect().top);
    const before = await top(read);
    await stage.direct("reviewer", { state: "permission" });
    const bar = page.getByRole("button", { name: /new requests? ↓/ });
    const dialog = page.locator('.need[data-agent="reviewer"]');
    await dialog.waitFor({ state: "attached" });
    await bar.waitFor();
    expect(await top(read)).toBe(before);
    const agents = await page
      .locator(".need")
      .evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset["agent"]));
    expect(agents.indexOf("reviewer")).toBeGreaterThanOrEqual(12);
    // Other things may have become due meanwhile; each press goes to the next.
    await until(async () => {
      if ((await bar.count()) > 0) await bar.click({ timeout: 2_000 }).catch(() => undefined);
      return dialog.evaluate((element) => element.getBoundingClientRect().top < innerHeight);
    }, "the dialog on screen");
    expect(await page.locator(".place:focus-within").count()).toBe(1);
    await stage.direct("reviewer", { state: "idle" });
    await dialog.waitFor({ state: "detached" });
  });

  test("the header is one row on a phone, also with several teams, and the search is not cut", async () => {
    await stage.user.call("teamCreate", { team: "another-team-with-a-long-name" });
    await stage.user.call("teamJoin", { team: "another-team-with-a-long-name", agent: "tester" });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.reload();
    await page.getByLabel("Team", { exact: true }).waitFor();
    for (const hash of ["#/team", "#/messages", "#/waiting", "#/queue", "#/graph", "#/numbers"]) {
      await show(hash);
      const { height, search, tops } = await page.locator(".topbar").evaluate((bar) => ({
        height: bar.getBoundingClientRect().height,
        search: bar.querySelector("#search")!.clientWidth,
        tops: [...bar.querySelectorAll("button, select, .search")]
          .filter((one) => one.checkVisibility())
          .map((one) => one.getBoundingClientRect())
          .map(({ right, left }) => left >= 0 && right <= 390),
      }));
      expect({ hash, height: height < 64, search: search >= 90, inside: tops.every(Boolean) }).toEqual({
        ...{ hash, height: true, search: true, inside: true },
      });
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test("nothing went wrong on the way", () => {
    expect(faults).toEqual([]);
  });
});
