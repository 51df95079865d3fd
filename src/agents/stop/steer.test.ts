import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { TielineError } from "../../model/errors.ts";
import { openStage, type ScriptedCast, type Stage } from "../../testing/stage.ts";
import { logOf, type ScriptedState } from "../../testing/scriptedAgent.ts";
import { until } from "../../testing/until.ts";
import { choicesOn, choose, dialogOf, interrupt } from "./steer.ts";
import { providers } from "../../compose/providers.ts";

/** What was refused, and with which words. */
async function refusal(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof TielineError)) throw new Error(`not refused: ${String(error)}`);
  return `${error.code}: ${error.message}`;
}

describe("answering and interrupting an agent", () => {
  let stage: Stage;
  let ana: ScriptedCast;
  beforeAll(async () => {
    stage = await openStage();
    ana = await stage.scripted("ana");
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  const answered = (): string[] => logOf(ana.dir).flatMap((entry) => ("answered" in entry ? [entry.answered] : []));
  const show = async (state: ScriptedState): Promise<void> => {
    await ana.direct({ state });
    await until(async () => (await stage.tieline.statusMonitor.explain(ana.agent))?.state === state, state);
  };

  test("a dialog is read with its choices, and a number takes one", async () => {
    await show("permission");
    const dialog = await dialogOf(ana.agent, stage.tieline);
    expect(dialog).toMatchObject({
      state: "permission",
      choices: [
        { place: 1, label: "Yes" },
        { place: 2, label: "No" },
      ],
    });
    expect(dialog.text).toContain("rm -rf build");
    expect(dialog.text).toContain("Do you want to proceed?");
    expect(await choose(ana.agent, "2", dialog.mark, stage.tieline)).toEqual({ place: 2, label: "No" });
    await until(() => answered().length === 1, "the key");
    expect(answered()).toEqual(["2"]);
  });

  test("the label of a choice takes it, whole or its beginning", async () => {
    await show("question");
    const { mark } = await dialogOf(ana.agent, stage.tieline);
    await choose(ana.agent, "gr", mark, stage.tieline);
    await until(() => answered().length === 2, "the key");
    expect(answered().at(-1)).toBe("2");
    await show("question");
    expect(await refusal(choose(ana.agent, "blue", mark, stage.tieline))).toContain("USAGE: ");
    expect(await refusal(choose(ana.agent, "", mark, stage.tieline))).toContain("USAGE: ");
  });

  test("a dialog that came since is not answered", async () => {
    const { mark } = await dialogOf(ana.agent, stage.tieline);
    await show("permission");
    const before = answered().length;
    expect(await refusal(choose(ana.agent, "1", mark, stage.tieline))).toStartWith(
      "CONFLICT: the screen of ana changed",
    );
    expect(answered()).toHaveLength(before);
  });

  test("a dialog that ignores keys at first is answered all the same", async () => {
    await show("idle");
    await ana.direct({ deafMs: 250 });
    await show("permission");
    const { mark } = await dialogOf(ana.agent, stage.tieline);
    expect(await choose(ana.agent, "1", mark, stage.tieline)).toEqual({ place: 1, label: "Yes" });
    expect(answered().at(-1)).toBe("1");
    await ana.direct({ deafMs: 0 });
  });

  test("a blinking bullet or title is not another dialog", async () => {
    await ana.direct({ blinks: true });
    await show("permission");
    const { text, mark } = await dialogOf(ana.agent, stage.tieline);
    await until(async () => (await dialogOf(ana.agent, stage.tieline)).text !== text, "the bullet blinks");
    expect((await dialogOf(ana.agent, stage.tieline)).mark).toBe(mark);
    await ana.direct({ deaf: true });
    const pressed = answered().length;
    expect(await refusal(choose(ana.agent, "1", mark, stage.tieline))).toStartWith(
      "NOT_IN_TIME: choice 1 (Yes) was sent to ana",
    );
    expect(answered()).toHaveLength(pressed + 1);
    await ana.direct({ deaf: false });
    expect(await choose(ana.agent, "1", mark, stage.tieline)).toEqual({ place: 1, label: "Yes" });
    await ana.direct({ blinks: false });
  });

  test("nothing is pressed in copy mode", async () => {
    await show("permission");
    const { mark } = await dialogOf(ana.agent, stage.tieline);
    const before = answered().length;
    await stage.tmux.tmux("copy-mode", "-t", ana.pane);
    expect(await refusal(choose(ana.agent, "1", mark, stage.tieline))).toStartWith("CONFLICT: ");
    await stage.tmux.tmux("copy-mode", "-q", "-t", ana.pane);
    expect(answered()).toHaveLength(before);
  });

  test("an interrupt goes to a running turn, and never to a dialog or an idle prompt", async () => {
    expect(await refusal(interrupt(ana.agent, stage.tieline))).toStartWith("CONFLICT: ana asks something (permission)");
    await show("idle");
    expect(await refusal(interrupt(ana.agent, stage.tieline))).toStartWith("CONFLICT: ana is idle");
    expect(await refusal(dialogOf(ana.agent, stage.tieline))).toStartWith("CONFLICT: ana asks nothing");
    await show("working");
    await interrupt(ana.agent, stage.tieline);
  });

  test("an interrupt does not go to a known prompt, where it might end the program", async () => {
    const { agent } = await stage.cast("node", ["node"], { provider: "repl" });
    await until(async () => (await stage.tieline.statusMonitor.explain(agent))?.state === "idle", "its prompt");
    expect(await refusal(interrupt(agent, stage.tieline))).toStartWith("CONFLICT: node is idle");
  });
});

const fixtures = join(import.meta.dir, "../../../fixtures/screens");
const shown = (file: string): string[] =>
  Bun.stripANSI(readFileSync(join(fixtures, `${file}.ansi.txt`), "utf8")).split("\n");

test.each([
  ["claude-code/permission-bash", ["Yes", "No"]],
  ["claude-code/ask-user-question", ["Red", "Blue", "Type something.", "Chat about this"]],
  ["codex/approval-exec", ["Yes, proceed (y)", "No, and tell Codex what to do differently (esc)"]],
  ["gemini/approval-shell-wide200", ["Allow once", "Allow for this session", "No, suggest changes (esc)"]],
  ["opencode/approval-shell-wide200", ["Allow once", "Allow always", "Reject"]],
])("the choices of %s", (file, labels) => {
  const keys = providers.of(file.split("/")[0]!).dialogs!;
  const choices = choicesOn(shown(file), keys);
  expect(choices.map(({ place }) => place)).toEqual(choices.map((_, at) => at + 1));
  const found = choices.map(({ label }) => label);
  for (const label of labels) expect(found).toContain(label);
});

test("the keys of a choice", () => {
  expect(providers.of("claude-code").dialogs!.keys(2)).toEqual(["2"]);
  expect(providers.of("opencode").dialogs!.keys(3)).toEqual(["Right", "Right", "Enter"]);
});
