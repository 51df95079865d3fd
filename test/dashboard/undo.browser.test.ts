import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import type { Output } from "../../src/api/schema.ts";
import { until } from "../../src/testing/until.ts";
import { onStage } from "./onStage.ts";

/** Actions that change what others may do or get: they say so before, and they can be undone. */
await onStage("undoing on the dashboard", ({ stage, page, faults, show }) => {
  const notice = (text: string): Locator => page.locator(".notice", { hasText: text });
  /** A notice stays while the pointer is on it. */
  const keep = (text: string): Promise<void> => notice(text).hover();
  const undo = (text: string): Promise<void> => notice(text).getByRole("button", { name: "Undo" }).click();
  const edges = async (team = "web"): Promise<string[] | null> =>
    (await stage.world.json<Output<"topology">>(["topology", "show", "--team", team])).edges?.map(
      ({ from, to }) => `${from} -> ${to}`,
    ) ?? null;

  describe("the first edge of a team without a topology", () => {
    const form = (): Locator => page.getByRole("form", { name: "Add an edge" });
    const warning = (): Locator => page.getByRole("alertdialog", { name: "First edge" });
    const fill = async (): Promise<void> => {
      await form().getByLabel("From").fill("tester");
      await form().getByLabel("To").fill("reviewer");
      await form().getByRole("button", { name: "Add edge" }).click();
    };

    beforeAll(async () => {
      await stage.user.call("teamCreate", { team: "open" });
      await stage.user.call("teamJoin", { team: "open", agent: "tester" });
      await show("#/graph");
      await page.reload();
      await page.getByLabel("Team", { exact: true }).selectOption("open");
      await page.getByText("no topology, everyone may write to everyone").waitFor();
    });

    afterAll(async () => {
      await page.getByLabel("Team", { exact: true }).selectOption("");
      await stage.user.call("teamJoin", { team: "web", agent: "open:tester" });
      await stage.user.call("teamDisband", { team: "open" });
    });

    test("says what will happen, and does nothing when it is cancelled", async () => {
      await fill();
      await warning().getByText("only tester may start a message, and only to reviewer").waitFor();
      await warning().getByRole("button", { name: "Cancel" }).click();
      await warning().waitFor({ state: "detached" });
      await fill();
      await warning().getByRole("button", { name: "Add edge" }).waitFor();
      await page.keyboard.press("Escape");
      await warning().waitFor({ state: "detached" });
      expect(await edges("open")).toBeNull();
    });

    test("closes the team when it is confirmed, and Undo opens it again", async () => {
      await fill();
      await warning().getByRole("button", { name: "Add edge and close the team" }).click();
      await keep("Only listed edges count in open now");
      expect(await edges("open")).toEqual(["tester -> reviewer"]);
      await undo("Only listed edges count");
      await page.getByText("no topology, everyone may write to everyone").waitFor();
      expect(await edges("open")).toBeNull();
    });
  });

  test("a removed edge comes back by Undo, and one of tieline.yaml is named as such", async () => {
    await show("#/graph?team=web");
    for (const [line, words] of [
      ["tester to engineer", "tieline.yaml still lists it"],
      ["engineer to scout", "engineer -> scout was removed"],
    ] as const) {
      const edge = page.getByRole("button", { name: new RegExp(`^${line}`) });
      const name = line.replace(" to ", " -> ");
      await edge.press("Enter");
      await page.getByRole("button", { name: "Remove this edge" }).click();
      await keep(words);
      expect(await edges()).not.toContain(name);
      await undo(words);
      await edge.waitFor();
      await until(async () => (await edges())!.includes(name), `${name} to be back`);
    }
  });

  describe("a queued message", () => {
    const row = (tag: string): Locator => page.locator(`.agent-queue [data-item][data-tag="${tag}"]`);
    const stateOf = async (tag: string): Promise<string> => (await stage.world.status(tag)).deliveries[0]!.state;
    const queued = async (body: string): Promise<string> => {
      const { tag } = await stage.user.call("send", { to: "reviewer", body });
      await row(tag).waitFor();
      return tag;
    };

    beforeAll(async () => {
      await stage.direct("reviewer", { state: "permission" });
      await until(
        async () => (await stage.world.ls()).find(({ name }) => name === "reviewer")!.state === "permission",
        "the dialog",
      );
      await show("#/queue");
    });

    test("is queued again by Undo after it was cancelled", async () => {
      const tag = await queued("cancelled by mistake");
      await row(tag).getByRole("button", { name: "Cancel" }).click();
      await keep(`Cancelled ${tag}`);
      await row(tag).waitFor({ state: "detached" });
      expect(await stateOf(tag)).toBe("cancelled");
      await undo(`Cancelled ${tag}`);
      await row(tag).waitFor();
      expect(await stateOf(tag)).toBe("queued");
    });

    test("stays queued while its replacement is only a draft, and is cancelled when that is sent", async () => {
      const tag = await queued("first words");
      await row(tag).focus();
      await page.keyboard.press("e");
      const compose = page.locator(".panel.compose");
      await compose.getByText("stays queued for reviewer until you send this").waitFor();
      await page.keyboard.press("Escape");
      await compose.waitFor({ state: "detached" });
      expect(await stateOf(tag)).toBe("queued");
      await row(tag).getByRole("button", { name: "Edit and resend" }).click();
      await page.getByLabel("Message", { exact: true }).fill("better words");
      await page.keyboard.press("Control+Enter");
      await notice(`Sent, and cancelled ${tag}`).waitFor();
      await row(tag).waitFor({ state: "detached" });
      expect(await stateOf(tag)).toBe("cancelled");
      await page.keyboard.press("Escape");
      await page.locator(".agent-queue [data-item]", { hasText: "better words" }).waitFor();
    });

    test("that cannot be cancelled any more is named when its replacement is sent", async () => {
      const tag = await queued("gone meanwhile");
      await row(tag).getByRole("button", { name: "Edit and resend" }).click();
      await page.getByLabel("Message", { exact: true }).fill("too late");
      await stage.user.call("cancel", { tag });
      await page.keyboard.press("Control+Enter");
      await notice(`Sent, but ${tag} was not cancelled`).getByText("reviewer may get both messages").waitFor();
      await page.keyboard.press("Escape");
    });

    test("and a dismissed warning comes back by Undo", async () => {
      const { tag } = await stage.user.call("send", { to: "scout", body: "expires at once", ttlMs: 1 });
      await show("#/waiting");
      const need = page.locator(".need", { hasText: "expires at once" });
      await need.getByRole("button", { name: "Dismiss" }).click();
      await need.waitFor({ state: "detached" });
      await undo("Dismissed");
      await need.waitFor();
      expect(await stateOf(tag)).toBe("expired");
    });
  });

  test("nothing went wrong on the way", () => {
    expect(faults).toEqual([]);
  });
});
