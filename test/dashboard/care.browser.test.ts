import { beforeAll, describe, expect, test } from "bun:test";
import { until } from "../../src/testing/until.ts";
import { contrastFaults, nameless } from "./access.ts";
import { onStage } from "./onStage.ts";
import { says } from "./stage.ts";

const hashes = [
  "#/team",
  "#/messages",
  "#/waiting",
  "#/queue",
  "#/graph",
  "#/numbers",
  "#/terminal/web:lead",
  "#/events",
  "#/agents/web:lead",
];
const views = {
  t: "Team",
  m: "Messages",
  w: "Waiting for you",
  q: "Queue",
  g: "Graph",
  n: "Numbers",
  e: "Terminal",
  l: "Events",
};

/** Every way of using the page: keys, screen readers, little motion, small windows, hidden pages. */
await onStage("the accessible dashboard", ({ stage, page, faults, show }) => {
  beforeAll(async () => {
    await says(
      stage.world,
      "lead",
      "engineer",
      "Look at `session.ts` first; see [the notes](https://example.com).\n\n> quoted\n\n- one\n- two",
    );
    await says(stage.world, "lead", "user", "Shall we **deploy**?");
    await stage.direct("reviewer", { state: "permission" });
    await stage.direct("engineer", { state: "working" });
    await page.locator('.card[data-agent="reviewer"][data-state="permission"]').waitFor();
    await stage.user.call("send", { to: "reviewer", body: "later" });
  });

  const focused = (): Promise<string> =>
    page.evaluate(
      () => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent?.trim() ?? "",
    );

  test("every view is two keys away, and the keys are listed", async () => {
    for (const [key, title] of Object.entries(views)) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
      await page.keyboard.press("?");
      const help = page.getByRole("dialog", { name: "Shortcuts" });
      for (const name of Object.keys(views))
        await help
          .locator("dt", { hasText: `g${name}` })
          .first()
          .waitFor();
      if (title !== "Numbers") await help.getByRole("heading", { name: `In ${title}` }).waitFor();
      await page.keyboard.press("Escape");
      await help.waitFor({ state: "detached" });
    }
  });

  test("what the help lists for a view is there", async () => {
    const pressable = (): Promise<string[]> =>
      page.evaluate(() =>
        [...document.querySelectorAll("main [aria-keyshortcuts]")].map((element) =>
          element.getAttribute("aria-keyshortcuts")!,
        ),
      );
    const expected = {
      "#/team": ["1", "6", "o", "w", "e", "q", "m"],
      "#/waiting": ["1", "2", "e", "r", "x"],
      "#/queue": ["x", "e"],
      "#/graph": ["a"],
      "#/terminal/web:lead": ["i", "w"],
    };
    for (const [hash, keys] of Object.entries(expected)) {
      await show(hash);
      await until(async () => new Set(keys).isSubsetOf(new Set(await pressable())), `the keys of ${hash}`);
    }
  });

  test("agents are gone through and acted on by keys alone", async () => {
    await show("#/team");
    await page.locator("h1").click();
    // The agent that asks comes first, then those at work.
    await page.keyboard.press("j");
    expect(await focused()).toBe("reviewer");
    await page.keyboard.press("j");
    expect(await focused()).toBe("engineer");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await page.keyboard.press("w");
    expect(await page.locator("#compose-to").inputValue()).toBe("engineer");
    await page.keyboard.press("Escape");
    expect(await focused()).toBe("engineer");
    await page.keyboard.press("m");
    await page.locator('.card[data-agent="engineer"] .menu[open]').waitFor();
    await page.keyboard.press("Escape");
    expect(await page.locator(".menu[open]").count()).toBe(0);
    await page.locator('.card[data-agent="engineer"]').focus();
    await page.keyboard.press("e");
    await page.getByRole("heading", { level: 1, name: "Terminal" }).waitFor();
    expect(await page.getByLabel("Agent").inputValue()).toBe("web:engineer");
    await page.keyboard.press("j");
    await until(
      async () => !["", "web:engineer"].includes(await page.getByLabel("Agent").inputValue()),
      "the next agent",
    );
  });

  test("typing into a pane begins with a key and ends with one", async () => {
    await show("#/terminal/web:tester");
    await page.locator(".xterm-screen").waitFor();
    await page.locator("h1").click();
    await page.keyboard.press("i");
    expect(await page.getByRole("switch").isChecked()).toBeTrue();
    await page.keyboard.type("by keys");
    await page.locator(".xterm-rows").getByText("by keys").first().waitFor();
    await page.keyboard.press("Control+]");
    expect(await page.getByRole("switch").isChecked()).toBeFalse();
    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await page.getByRole("heading", { level: 1, name: "Team" }).waitFor();
    expect((await stage.user.call("read", { agent: "tester" })).text).not.toContain("gt");
  });

  test("a pane that ends says so", async () => {
    await show("#/terminal/web:tester");
    await page.locator(".xterm-rows").getByText("by keys").first().waitFor();
    // The page still believes in the pane, as it does for a moment when a program ends by itself.
    await page.route("**/v1/ls?*", (route) => route.abort());
    const { pane } = (await stage.world.ls()).find(({ name }) => name === "tester")!;
    await stage.world.tmux("kill-pane", "-t", pane!);
    await page.locator(".failure", { hasText: "the pane of tester can no longer be read" }).waitFor();
    await page.unroute("**/v1/ls?*");
    await stage.user.call("resume", { agents: ["tester"] });
  });

  test("the focus goes along with the eye", async () => {
    await show("#/team");
    await page.reload();
    await page.locator('.card[data-agent="lead"]').waitFor();
    const order: string[] = [];
    for (let step = 0; step < 40 && !order.includes("card"); step++) {
      await page.keyboard.press("Tab");
      order.push(
        await page.evaluate(
          () =>
            ["skip", "navigation", "topbar", "toolbar", "card"].find((part) =>
              document.activeElement?.closest(`.${part}`),
            ) ?? "elsewhere",
        ),
      );
    }
    expect(order.filter((part, at) => part !== order[at - 1])).toEqual([
      "skip",
      "navigation",
      "topbar",
      "toolbar",
      "card",
    ]);
  });

  test.each(["light", "dark"] as const)("everything has a name and can be read in the %s", async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    for (const viewport of [
      { width: 1440, height: 900 },
      { width: 1024, height: 768 },
      { width: 390, height: 844 },
    ]) {
      await page.setViewportSize(viewport);
      for (const hash of hashes) {
        await show(hash);
        expect({ hash, viewport, nameless: await page.evaluate(nameless) }).toEqual({ hash, viewport, nameless: [] });
        expect({ hash, viewport, weak: await page.evaluate(contrastFaults) }).toEqual({ hash, viewport, weak: [] });
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(viewport.width);
      }
      await show("#/team");
      for (const key of ["c", "s", "t", "?"]) {
        await page.keyboard.press(key);
        await page.locator(".panel").waitFor();
        expect({
          key,
          viewport,
          nameless: await page.evaluate(nameless),
          weak: await page.evaluate(contrastFaults),
        }).toEqual({ key, viewport, nameless: [], weak: [] });
        await page.keyboard.press("Escape");
        await page.locator(".panel").waitFor({ state: "detached" });
      }
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: null });
  });

  test("the check of contrast and names can fail", async () => {
    await page.evaluate(() => {
      const bad = document.createElement("button");
      bad.id = "bad";
      document.querySelector("main")!.append(bad);
      const pale = document.createElement("p");
      pale.id = "pale";
      pale.textContent = "pale words";
      pale.className = "muted";
      document.querySelector("main")!.append(pale);
    });
    await page.addStyleTag({
      url: await page.evaluate(() => document.querySelector<HTMLLinkElement>("link[rel=stylesheet]")!.href),
    });
    await page.evaluate(() =>
      [...document.styleSheets]
        .at(-1)!
        .insertRule("#pale { color: #aaa; background: #bbb; }", [...document.styleSheets].at(-1)!.cssRules.length),
    );
    expect((await page.evaluate(nameless)).length).toBe(1);
    expect(await page.evaluate(contrastFaults)).toEqual([expect.stringContaining("pale words")]);
    await page.reload();
    await page.locator(".connection.live").waitFor();
  });

  test("nothing moves for those who do not want it", async () => {
    await page.emulateMedia({ reducedMotion: "reduce" });
    await show("#/team");
    await page.locator('.card[data-agent="engineer"][data-state="working"]').waitFor();
    const running = (): Promise<number> =>
      page.evaluate(
        () =>
          document.getAnimations().filter((one) => one instanceof CSSAnimation || one instanceof CSSTransition).length,
      );
    expect(await running()).toBe(0);
    await show("#/graph");
    await page.locator(".node").first().waitFor();
    await page.evaluate(() => {
      const moved: boolean[] = [];
      Object.assign(window, { moved });
      new MutationObserver((changes) => {
        for (const node of changes.flatMap(({ addedNodes }) => [...addedNodes])) {
          if (!(node instanceof Element) || !node.classList.contains("spark")) continue;
          const frames = node.getAnimations().flatMap((one) => (one.effect as KeyframeEffect).getKeyframes());
          moved.push(new Set(frames.map(({ transform }) => transform)).size !== 1);
        }
      }).observe(document.querySelector(".sparks")!, { childList: true });
    });
    await stage.user.call("send", { to: "scout", body: "without motion" });
    await until(() => page.evaluate(() => (window as unknown as { moved: boolean[] }).moved.length > 0), "a spark");
    expect(await page.evaluate(() => (window as unknown as { moved: boolean[] }).moved)).toEqual([false]);
    await page.emulateMedia({ reducedMotion: null });
    await show("#/team");
    await until(async () => (await running()) > 0, "the mark of an agent at work");
  });

  test("colours are switched on a phone, and by a key", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    const theme = (): Promise<string | undefined> => page.evaluate(() => document.documentElement.dataset["theme"]);
    await page.getByRole("button", { name: "Change to light" }).click();
    expect(await theme()).toBe("light");
    await page.keyboard.press("l");
    expect(await theme()).toBe("dark");
    await page.keyboard.press("l");
    expect(await theme()).toBeUndefined();
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  describe("hidden", () => {
    test("the title counts, unless that is not wanted", async () => {
      await show("#/waiting");
      await until(async () => /^\(\d+\) Waiting/.test(await page.title()), "the count in the title");
      await page.getByLabel("Count in the title").uncheck();
      await until(async () => (await page.title()) === "Waiting for you · Tieline", "the title alone");
      await page.getByLabel("Count in the title").check();
      await until(async () => (await page.title()).startsWith("("), "the count again");
    });

    test("desktop notifications come only if they are on and the page is hidden", async () => {
      const { context: own, page: hidden } = await stage.visit({ permissions: ["notifications"] });
      await hidden.addInitScript(() => {
        const told: string[] = [];
        class Told extends EventTarget {
          static permission = "granted";
          static requestPermission(): Promise<string> {
            return Promise.resolve("granted");
          }
          constructor(title: string, { body }: { body: string }) {
            super();
            told.push(`${title}: ${body}`);
          }
        }
        Object.assign(window, { told, Notification: Told });
        Object.defineProperty(document, "hidden", { get: () => sessionStorage.getItem("hidden") === "yes" });
      });
      await hidden.goto(`${stage.origin}/#/waiting`);
      await hidden.reload();
      await hidden.locator(".connection.live").waitFor();
      const told = (): Promise<string[]> => hidden.evaluate(() => (window as unknown as { told: string[] }).told);
      const sayAndSee = async (words: string): Promise<void> => {
        await says(stage.world, "lead", "user", words);
        await hidden.locator(".need", { hasText: words }).waitFor();
      };
      await hidden.evaluate(() => sessionStorage.setItem("hidden", "yes"));
      await sayAndSee("not wanted yet");
      expect(await told()).toEqual([]);
      await hidden.getByLabel("Desktop notifications").check();
      await sayAndSee("wanted now");
      expect(await told()).toEqual(["Tieline: lead wrote to you"]);
      await hidden.evaluate(() => sessionStorage.setItem("hidden", "no"));
      await sayAndSee("looked at");
      expect(await told()).toHaveLength(1);
      await own.close();
    });
  });

  test("nothing went wrong on the way", () => {
    expect(faults).toEqual([]);
  });
});
