import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Delivery } from "../../../model/delivery.ts";
import { isListening, logOf, scriptedAgentCommand, submittedTo } from "../../../testing/scriptedAgent.ts";
import { openStage, type ScriptedCast, type Stage } from "../../../testing/stage.ts";
import { until } from "../../../testing/until.ts";

describe("an attempt whose outcome is unknown", () => {
  let brisk: Stage;
  let bob: ScriptedCast;
  beforeEach(async () => {
    brisk = await openStage({ config: { delivery: { timeoutMs: 1_000, retries: 1 } } });
    bob = await brisk.scripted("bob");
  });
  afterEach(async () => {
    await brisk[Symbol.asyncDispose]();
  });
  const isDelivered = ({ state }: Delivery): boolean => state === "delivered";
  const bodies = (): (string | undefined)[] => submittedTo(bob.dir).map((text) => text.split("\n")[1]);

  test("is inspected before the next message covers its marks", async () => {
    await bob.direct({ swallowEnters: 100 });
    const first = await brisk.send("bob", "first");
    expect(await brisk.delivered(first)).toMatchObject({ state: "uncertain" });
    // A slow program takes what it was given at last.
    await bob.direct({ swallowEnters: 0, draft: "" });
    await brisk.delivered(await brisk.send("bob", "second"), isDelivered);
    expect(brisk.deliveries(first)).toMatchObject([{ state: "delivered", attempts: 0 }]);
    expect(bodies()).toEqual(["second"]);
  });

  test("because the program showed nothing: Enter is not pressed, and comes once a redraw shows the text", async () => {
    await bob.direct({ echoDelayMs: 3_600_000 });
    const receipt = await brisk.send("bob", "hello");
    expect(await brisk.delivered(receipt)).toMatchObject({
      state: "uncertain",
      detail: expect.stringContaining("it never showed there, so Enter was not pressed"),
    });
    expect(logOf(bob.dir)).toEqual([]);
    await bob.direct({ echoDelayMs: 0 });
    await brisk.tmux.tmux("resize-window", "-t", bob.pane, "-x", "90");
    await until(
      async () => (await brisk.tieline.statusMonitor.explain(bob.agent))?.known?.composer?.includes("hello") ?? false,
      "the text",
    );
    await brisk.tieline.courier.reconsider(bob.agent.id);
    await brisk.delivered(receipt, isDelivered);
    expect(bodies()).toEqual(["hello"]);
  });

  describe("in a program whose conversation is recorded", () => {
    const session = "7f0c2a52-5a0e-4c43-9d5c-0f7b7c1d2e3f";
    beforeEach(() => void brisk.tieline.directory.update(bob.agent.id, { sessionId: session }));

    test("is absent if the prompt stays empty and no record holds it: it is sent again, and arrives once", async () => {
      await bob.direct({ swallowPastes: 1 });
      const receipt = await brisk.send("bob", "hello");
      expect(await brisk.delivered(receipt)).toMatchObject({ state: "uncertain" });
      await brisk.delivered(receipt, isDelivered);
      const told = brisk.tieline.mailbox
        .history(receipt.message.id)!
        .steps.get(brisk.deliveries(receipt)[0]!.id)!
        .map(({ detail }) => detail);
      expect(told).toContainEqual(
        expect.stringContaining("has an empty prompt, and the conversation does not contain it"),
      );
      expect(bodies()).toEqual(["hello"]);
    });

    test("is absent also where a later message has covered its marks", async () => {
      await bob.direct({ swallowPastes: 1 });
      const first = await brisk.send("bob", "first");
      expect(await brisk.delivered(first)).toMatchObject({ state: "uncertain" });
      const later = `other:1:${Date.now()}`;
      for (const mark of ["@tieline_pasted", "@tieline_entered"])
        await brisk.tmux.tmux("set-option", "-p", "-t", bob.pane, mark, later);
      await brisk.delivered(first, isDelivered);
      expect(bodies()).toEqual(["first"]);
    });

    test("is not absent where the record holds it", async () => {
      await bob.direct({ swallowPastes: 1 });
      const receipt = await brisk.send("bob", "hello");
      expect(await brisk.delivered(receipt)).toMatchObject({ state: "uncertain" });
      const folder = join(brisk.tmux.env["HOME"]!, ".claude", "projects", "proj");
      mkdirSync(folder, { recursive: true });
      const line = {
        type: "user",
        uuid: "1",
        sessionId: session,
        message: { role: "user", content: `[${receipt.message.tag} from user]\nhello` },
      };
      writeFileSync(join(folder, `${session}.jsonl`), `${JSON.stringify(line)}\n`);
      expect(await brisk.delivered(receipt, isDelivered)).toMatchObject({ attempts: 0, proof: "submitted" });
      expect(bodies()).toEqual([]);
    });
  });

  test("is not said to be absent by the pane that its agent has come to since", async () => {
    await bob.direct({ swallowEnters: 100 });
    const first = await brisk.send("bob", "first");
    expect(await brisk.delivered(first)).toMatchObject({ state: "uncertain" });
    await brisk.tmux.tmux("kill-pane", "-t", bob.pane);
    await brisk.tieline.statusMonitor.refresh(brisk.tieline.directory.agents());
    const dir = join(brisk.root, "bob-again");
    mkdirSync(dir);
    await brisk.cast("bob", scriptedAgentCommand(dir), { provider: "claude-code", ready: () => isListening(dir) });
    await brisk.delivered(await brisk.send("bob", "second"), isDelivered);
    expect(brisk.deliveries(first)).toMatchObject([{ state: "uncertain" }]);
    expect(submittedTo(dir).map((text) => text.split("\n")[1])).toEqual(["second"]);
  });

  test("is not said to be absent once another message was typed", async () => {
    await bob.direct({ echoDelayMs: 300 });
    const first = await brisk.send("bob", "first");
    await until(
      async () => (await brisk.tmux.tmux("show-options", "-p", "-q", "-v", "-t", bob.pane, "@tieline_pasted")) !== "",
      "the paste",
    );
    await bob.direct({ draft: "not ours" });
    expect(await brisk.delivered(first)).toMatchObject({ state: "uncertain" });
    await bob.direct({ draft: "", echoDelayMs: 0 });
    await brisk.delivered(await brisk.send("bob", "second"), isDelivered);

    // A draft might be the lost text, so it is inspected.
    await bob.direct({ draft: "half a thou" });
    const third = await brisk.send("bob", "third");
    await brisk.delivered(third, ({ reason }) => reason === "draft");
    await brisk.tieline.courier.reconsider(bob.agent.id);
    await bob.direct({ draft: "" });
    await brisk.delivered(third, isDelivered);
    expect(brisk.deliveries(first)).toMatchObject([{ state: "uncertain" }]);
    expect(bodies()).toEqual(["second", "third"]);
  });
});
