import { beforeAll, expect, test } from "bun:test";
import axe from "axe-core";
import { onStage } from "./onStage.ts";
import { says } from "./stage.ts";

const hashes = [
  ...["#/team", "#/messages", "#/waiting", "#/queue", "#/graph", "#/numbers", "#/events"],
  ...["#/terminal/web:lead", "#/agents/web:reviewer"],
];
const sizes = [
  { width: 1440, height: 900 },
  { width: 1024, height: 768 },
  { width: 390, height: 844 },
];

/** axe-core in every view: nothing serious or critical, in light and dark, at three sizes. */
await onStage("the dashboard and axe-core", ({ stage, page, faults, show }) => {
  let tag = "";

  beforeAll(async () => {
    ({ tag } = await says(
      stage.world,
      "lead",
      "engineer",
      "# Plan\n\n> quoted\n\n- [x] one\n- [ ] two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```ts\nlet x = 1;\n```",
    ));
    await says(stage.world, "lead", "user", "Shall we **deploy**?");
    await stage.direct("reviewer", { state: "permission" });
    await page.locator('.card[data-agent="reviewer"][data-state="permission"]').waitFor();
    await stage.user.call("send", { to: "reviewer", body: "later" });
  });

  /** What axe finds on the page as it is now; its own text styles are not judged. */
  const findings = async (where: object): Promise<object[]> => {
    if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(`${axe.source}; undefined`);
    const found = await page.evaluate(async () => {
      const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(document, {
        resultTypes: ["violations"],
        rules: {
          "target-size": { enabled: true },
          // Initials in the graph and hints of keys are drawn beside the name of what they belong to.
          "label-content-name-mismatch": { enabled: false },
        },
      });
      return violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => html) }));
    });
    return found
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => ({ ...where, id, nodes: nodes.slice(0, 4) }));
  };

  test.each(["light", "dark"] as const)("finds nothing serious in the %s", async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    const found: object[] = [];
    for (const viewport of sizes) {
      await page.setViewportSize(viewport);
      for (const hash of [...hashes, `#/messages/${tag}`]) {
        await show(hash);
        found.push(...(await findings({ hash, ...viewport })));
      }
      await show("#/team");
      for (const key of ["c", "s", "t", "?", "Control+k"]) {
        await page.keyboard.press(key);
        await page.getByRole("dialog").waitFor();
        found.push(...(await findings({ key, ...viewport })));
        await page.keyboard.press("Escape");
        await page.getByRole("dialog").waitFor({ state: "detached" });
      }
    }
    expect(found).toEqual([]);
  });

  test("finds a button without a name", async () => {
    await page.evaluate(() => document.querySelector("main")!.append(document.createElement("button")));
    expect(await findings({})).toMatchObject([{ id: "button-name" }]);
  });

  test("nothing went wrong on the way", () => {
    expect(faults).toEqual([]);
  });
});
