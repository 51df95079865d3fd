import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { keysTypedTo, logOf, submittedTo, type ScriptedState } from "../../../testing/scriptedAgent.ts";
import { openStage, type ScriptedCast, type Stage } from "../../../testing/stage.ts";
import { until } from "../../../testing/until.ts";

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
});

/** A dialog opens when the message is pasted; the message arrives once the dialog has gone. */
async function arrivesAfterDialog(ana: ScriptedCast): Promise<void> {
  await ana.direct({ onPaste: "permission" });
  const receipt = await stage.send("ana", "hello");
  await logged(ana.dir, (entries) => entries.some((entry) => "swallowedPaste" in entry));
  await until(
    () => stage.tieline.directory.agent(ana.agent.id)?.state === "permission",
    "the attempt to see the dialog",
  );
  await ana.direct({ state: "idle" });
  expect(await stage.delivered(receipt)).toMatchObject({ state: "delivered" });
}

describe("a message for an idle agent", () => {
  test("arrives once, whole, and the receipt says that the screen proved it", async () => {
    const ana = await stage.scripted("ana");
    const receipt = await stage.send("ana", "first line\n\tsecond, with \\ and $HOME and `ticks`");
    expect(await stage.delivered(receipt)).toMatchObject({ state: "delivered", proof: "screen" });
    const [text, ...more] = submittedTo(ana.dir);
    expect(more).toEqual([]);
    expect(text).toContain("first line\n\tsecond, with \\ and $HOME and `ticks`");
    expect(text).toContain(receipt.message.tag);
  });

  test("many, one after the other, in order", async () => {
    const ana = await stage.scripted("ana");
    const receipts = [];
    for (let n = 0; n < 15; n++) receipts.push(await stage.send("ana", `number ${n}`));
    for (const receipt of receipts) await stage.delivered(receipt);
    expect(submittedTo(ana.dir).map((text) => /number (\d+)/.exec(text)![1])).toEqual(
      receipts.map((_, n) => String(n)),
    );
  });
});

test("a REPL, which runs each line that it is given, gets one line, which is a comment", async () => {
  const { pane } = await stage.cast("node", ["TERM=xterm", "node"], { provider: "repl" });
  const receipt = await stage.send("node", "first\nsecond");
  expect(await stage.delivered(receipt)).toMatchObject({ state: "delivered" });
  const screen = await stage.tmux.tmux("capture-pane", "-p", "-J", "-t", pane);
  expect(screen.split("\n").filter((line) => line.startsWith("> ") && line.trim() !== ">")).toEqual([
    expect.stringMatching(/^> \/\/ MSG_USER_\w+: first .*tieline show/),
  ]);
});

test(
  "a terminal that cuts long lines off, and reads each line by itself, gets a short line that tells how to " +
    "read the rest",
  async () => {
    const { pane } = await stage.cast("cat", ["cat"], { provider: "generic" });
    for (const body of [`first words ${"x".repeat(5_000)}`, "first words\nsecond line"]) {
      const receipt = await stage.send("cat", body);
      expect(await stage.delivered(receipt)).toMatchObject({ state: "delivered" });
      const screen = (await stage.tmux.tmux("capture-pane", "-p", "-J", "-t", pane))
        .split("\n")
        .filter((line) => line.includes(receipt.message.tag));
      // As it was typed, and as cat repeats it.
      expect(screen).toEqual([expect.stringContaining(`tieline show ${receipt.message.tag}`), screen[0]!]);
      expect(screen[0]!.length).toBeLessThan(500);
    }
  },
);

test("what a program proposes in its empty composer is no draft, and is never submitted", async () => {
  const ana = await stage.scripted("ana");
  await ana.direct({ suggestion: "run the tests", swallowEnters: 1 });
  await shows(ana.agent.id, "idle");
  for (const body of ["first", "second"])
    expect(await stage.delivered(await stage.send("ana", body))).toMatchObject({ state: "delivered" });
  expect(submittedTo(ana.dir).map((text) => text.split("\n")[1])).toEqual(["first", "second"]);
});

test("nothing but text and Enter is ever typed, whatever comes between: no Escape, no Ctrl-C, no Ctrl-U", async () => {
  const ana = await stage.scripted("ana");
  await ana.direct({ swallowEnters: 1 });
  expect(await stage.delivered(await stage.send("ana", "hello"))).toMatchObject({ state: "delivered" });
  for (const script of [{ state: "working" }, { state: "permission" }, { draft: "half a thou" }] as const) {
    await ana.direct(script);
    const receipt = await stage.send("ana", "hello");
    await stage.delivered(receipt, ({ reason }) => reason !== null);
    await ana.direct({ state: "idle", draft: "" });
    expect(await stage.delivered(receipt)).toMatchObject({ state: "delivered" });
  }
  await arrivesAfterDialog(ana);
  expect(submittedTo(ana.dir)).toHaveLength(5);
  expect(keysTypedTo(ana.dir)).toMatch(/^\r{6,}$/);
});

describe("held, with nothing typed, and delivered when the reason is over", () => {
  const reasons: Record<Exclude<ScriptedState, "idle">, string> = {
    working: "busy",
    permission: "permission",
    question: "question",
    dialog: "dialog",
    limited: "limited",
  };
  for (const [state, reason] of Object.entries(reasons)) {
    test(`${state}`, async () => {
      const ana = await stage.scripted("ana");
      await ana.direct({ state: state as ScriptedState });
      await shows(ana.agent.id, state);
      const receipt = await stage.send("ana", "hello");
      expect(await stage.delivered(receipt, (delivery) => delivery.reason !== null)).toMatchObject({
        state: "queued",
        reason,
      });
      expect(logOf(ana.dir)).toEqual([]);
      await ana.direct({ state: "idle" });
      expect(await stage.delivered(receipt)).toMatchObject({ state: "delivered" });
      expect(logOf(ana.dir)).toHaveLength(1);
    });
  }

  test("a draft in the composer", async () => {
    const ana = await stage.scripted("ana");
    await ana.direct({ draft: "half a thou" });
    await shows(ana.agent.id, "idle", true);
    const receipt = await stage.send("ana", "hello");
    expect(await stage.delivered(receipt, (delivery) => delivery.reason !== null)).toMatchObject({
      state: "queued",
      reason: "draft",
    });
    expect(logOf(ana.dir)).toEqual([]);
    await ana.direct({ draft: "" });
    expect(await stage.delivered(receipt)).toMatchObject({ state: "delivered" });
    expect(submittedTo(ana.dir)).toHaveLength(1);
    expect(submittedTo(ana.dir)[0]).not.toContain("half a thou");
  });
});

describe("a program that comes to its prompt only after it was adopted", () => {
  const late = (gate: string): string[] => [
    "sh",
    "-c",
    `until [ -e '${gate}' ]; do sleep 0.05; done; printf '> '; exec cat`,
  ];

  test("the prompt is no draft, but what a user types later is", async () => {
    const gate = join(stage.root, "gate");
    const { agent, pane } = await stage.cast("late", late(gate), { provider: "generic" });
    writeFileSync(gate, "");
    await until(async () => (await stage.tmux.tmux("capture-pane", "-p", "-t", pane)).startsWith(">"), "the prompt");
    const first = await stage.send("late", "hello");
    expect(await stage.delivered(first)).toMatchObject({ state: "delivered" });
    await stage.tmux.tmux("send-keys", "-t", pane, "-l", "half a thou");
    await shows(agent.id, "idle", true);
    const second = await stage.send("late", "again");
    expect(await stage.delivered(second, ({ reason }) => reason === "draft")).toMatchObject({ state: "queued" });
  });
});

describe("what can happen between the paste and Enter", () => {
  test("a dialog opens: Enter is not pressed, and the message arrives after it", async () => {
    const ana = await stage.scripted("ana");
    await arrivesAfterDialog(ana);
    expect(logOf(ana.dir).filter((entry) => "answered" in entry)).toEqual([]);
    expect(submittedTo(ana.dir)).toHaveLength(1);
  });

  test("a program swallows Enter: it is pressed again, and the message is there once", async () => {
    const ana = await stage.scripted("ana");
    await ana.direct({ swallowEnters: 1 });
    expect(await stage.delivered(await stage.send("ana", "hello"))).toMatchObject({ state: "delivered" });
    expect(submittedTo(ana.dir)).toHaveLength(1);
  });

  test("the echo comes late: Enter waits for it", async () => {
    const ana = await stage.scripted("ana");
    await ana.direct({ echoDelayMs: 700 });
    expect(await stage.delivered(await stage.send("ana", "hello"))).toMatchObject({ state: "delivered" });
    expect(submittedTo(ana.dir)).toHaveLength(1);
  });

  test("the pane is resized, in the middle of wide characters: the text is found in its new place", async () => {
    const ana = await stage.scripted("ana", { width: 61 });
    await ana.direct({ echoDelayMs: 300 });
    const receipt = await stage.send("ana", "日本語 👩‍👩‍👧 ".repeat(15));
    await until(
      async () => (await stage.tmux.tmux("show-options", "-p", "-q", "-v", "-t", ana.pane, "@tieline_pasted")) !== "",
      "the paste",
    );
    for (const width of [40, 33, 90]) await stage.tmux.tmux("resize-window", "-t", ana.pane, "-x", String(width));
    expect(await stage.delivered(receipt)).toMatchObject({ state: "delivered" });
    expect(submittedTo(ana.dir)).toHaveLength(1);
  });

  test("the program starts to work: a text that is there alone is submitted once", async () => {
    const ana = await stage.scripted("ana");
    await ana.direct({ onPaste: "working" });
    expect(await stage.delivered(await stage.send("ana", "hello"))).toMatchObject({ state: "delivered" });
    expect(submittedTo(ana.dir)).toHaveLength(1);
  });
});

test("a program whose screen tells nothing is not ready while it computes, however silent it is", async () => {
  const go = join(stage.root, "go");
  const { pane } = await stage.cast("bob", ["sh", "-c", `while [ ! -e ${go} ]; do :; done; exec cat`], {
    provider: "generic",
  });
  const receipt = await stage.send("bob", "hello");
  expect(await stage.delivered(receipt, ({ detail }) => detail?.endsWith("is computing") ?? false)).toMatchObject({
    state: "queued",
    reason: "busy",
  });
  expect((await stage.tmux.tmux("capture-pane", "-p", "-t", pane)).trim()).toBe("");
  writeFileSync(go, "");
  expect(await stage.delivered(receipt)).toMatchObject({ state: "delivered" });
  expect(await stage.tmux.tmux("capture-pane", "-p", "-t", pane)).toContain(receipt.message.tag);
});

describe("settings", () => {
  test("timeoutMs and retries limit the inspection and repeated Enters, and the receipt says so", async () => {
    await using brisk = await openStage({ config: { delivery: { timeoutMs: 1_500, retries: 1 } } });
    const bob = await brisk.scripted("bob");
    await bob.direct({ swallowEnters: 100 });
    const receipt = await brisk.send("bob", "hello");
    const given = await brisk.delivered(receipt);
    expect(given).toMatchObject({
      state: "uncertain",
      detail: expect.stringMatching(/Enter was pressed (once|2 times) and the text is still there/),
    });
    expect(logOf(bob.dir)).toEqual([]);
    // A later look presses Enter again while exactly our text is there.
    await bob.direct({ swallowEnters: 0 });
    await brisk.tieline.courier.reconsider(bob.agent.id);
    expect(await brisk.delivered(receipt, ({ state }) => state === "delivered")).toMatchObject({ proof: "screen" });
    expect(submittedTo(bob.dir)).toHaveLength(1);
  });
});

describe("what makes a text hard to find again", () => {
  const texts = {
    "wide characters": "こんにちは世界 — 你好，世界。한국어",
    emoji: "ship it 🚀 ❤️ 👩‍👩‍👧 🇩🇪 👍🏽 done",
    "combining marks": "Cafe\u0301 nai\u0308ve Zalgo z\u0351\u0308",
    "right to left": "שלום world مرحبا",
    "box drawing like a frame": "────────────\n❯\u00a0not a prompt\n────────────",
    "tabs and blanks": "a\tb    c\n\n\n   d",
  };
  for (const [what, text] of Object.entries(texts)) {
    for (const [width, height] of [
      [100, 30],
      [20, 40],
    ] as const) {
      test(`${what}, in ${width} columns`, async () => {
        const ana = await stage.scripted("ana", { width, height });
        expect(await stage.delivered(await stage.send("ana", text))).toMatchObject({ state: "delivered" });
        expect(submittedTo(ana.dir)).toHaveLength(1);
      });
    }
  }

  test("20 columns and a long text: a doorbell that fits", async () => {
    const ana = await stage.scripted("ana", { width: 20, height: 30 });
    expect(await stage.delivered(await stage.send("ana", "many words ".repeat(60)))).toMatchObject({
      state: "delivered",
    });
    const [text] = submittedTo(ana.dir);
    expect(text).toContain("tieline show MSG_");
  });

  test("a pane so small that nothing can be checked in it: held, with the size", async () => {
    const ana = await stage.scripted("ana", { width: 20, height: 12 });
    const receipt = await stage.send("ana", "many words ".repeat(60));
    const held = await stage.delivered(receipt, (delivery) => delivery.reason !== null);
    expect(held).toMatchObject({ state: "queued", reason: "unreadable", detail: expect.stringContaining("20 × 12") });
    expect(logOf(ana.dir)).toEqual([]);
  });
});

async function shows(
  id: Stage["tieline"]["directory"] extends { agent(id: infer Id): unknown } ? Id : never,
  state: string,
  draft = false,
): Promise<void> {
  const { directory, statusMonitor } = stage.tieline;
  await until(
    async () => {
      const told = await statusMonitor.explain(directory.agent(id)!);
      return told?.state === state && told.draft === draft;
    },
    `${state}${draft ? " with a draft" : ""} to show`,
  );
}

const logged = (dir: string, enough: (entries: ReturnType<typeof logOf>) => boolean): Promise<void> =>
  until(
    () => enough(logOf(dir)),
    () => `more than this in the log: ${JSON.stringify(logOf(dir))}`,
  );
