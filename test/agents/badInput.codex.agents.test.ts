/**
 * Codex in states in which a keystroke would do harm. Nothing is approved, executed, answered or submitted by a
 * message: it waits, says why, and comes when the user is done. A Codex on its own has only its pane, where harm could
 * be done, so most of these are of that kind.
 */
import { expect } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { batch, freshHas, freshTexts, say, type ModelRequest } from "../../fixtures/model-servers/server.ts";
import { isThere, prepareBench, type Bench } from "./bench.ts";
import { asking, codexTest, embedded, interrupt, shell, untilIdle } from "./codexTest.ts";
import { choose, press } from "./user.ts";
import { Switchboard } from "./switchboard.ts";

/** Sends, sees it held for that reason, lets the user continue, and returns the request with which it came, once. */
async function waitsFor(
  board: Switchboard,
  bench: Bench,
  reason: RegExp,
  goOn: () => Promise<unknown>,
): Promise<ModelRequest> {
  const tag = await board.send("ana", "a message");
  await board.reached(tag, ({ state, reason: why }) => state === "queued" && reason.test(why ?? ""));
  const before = bench.model.requests.length;
  await goOn();
  const request = await bench.model.next((one) => freshHas(one, tag));
  expect(bench.model.requests.slice(before).filter((one) => !one.side && freshHas(one, tag))).toHaveLength(1);
  return request;
}

codexTest("an approval is open: the dialog stays, and the call is not made", async () => {
  await using board = await Switchboard.start();
  await using bench = await embedded(board, { script: [batch(asking("touch asked"))] });
  await bench.prompt("touch it");
  await bench.waitForScreen(({ text }) => text.includes(bench.recipe.permissionDialog!));
  await waitsFor(board, bench, /permission/, async () => {
    expect((await bench.capture()).text).toContain(bench.recipe.permissionDialog!);
    await interrupt(bench);
  });
  expect(isThere(bench, "asked")).toBe(false);
});

codexTest("a question is open: it is not answered", async () => {
  await using board = await Switchboard.start();
  const options = ["red", "blue"].map((label) => ({ label, description: label }));
  const question = {
    name: "request_user_input",
    input: { questions: [{ id: "colour", header: "Colour", question: "Which colour?", options }] },
  };
  await using bench = await embedded(board, {
    args: ["--enable", "default_mode_request_user_input"],
    script: [batch(question)],
  });
  await bench.prompt("ask me");
  await bench.waitForScreen(({ text }) => text.includes("Which colour?"));
  await waitsFor(board, bench, /question/, async () => {
    expect((await bench.capture()).text).toContain("(1 unanswered)");
    await interrupt(bench);
  });
});

/** Codex with a changed configuration, at one of the dialogs of its start. */
async function atStart(
  board: Switchboard,
  words: string,
  env: Record<string, string>,
  change: (place: Bench["place"], config: string) => string,
): Promise<Bench> {
  const { bench, command, launch } = await prepareBench("codex", { env });
  const file = join(bench.place.home, ".codex", "config.toml");
  writeFileSync(file, change(bench.place, readFileSync(file, "utf8")));
  await bench.open([...command, ...bench.recipe.args(bench.place, launch)], 120, 40);
  await bench.waitForScreen(({ text }) => text.includes(words));
  await board.adopt(bench);
  return bench;
}

codexTest("it asks whether to trust the folder: a message does not say yes", async () => {
  await using board = await Switchboard.start();
  await using bench = await atStart(board, "Trust this folder?", {}, ({ project }, config) => {
    // It asks about a folder that has settings of its own.
    mkdirSync(join(project, ".codex"));
    writeFileSync(join(project, ".codex", "config.toml"), "");
    return config.replace(/\[projects\..*\]\ntrust_level = "trusted"\n/, "");
  });
  const config = join(bench.place.home, ".codex", "config.toml");
  await waitsFor(board, bench, /dialog/, async () => {
    expect(readFileSync(config, "utf8")).not.toContain("trust_level");
    await choose(bench, "Trust and continue");
  });
});

codexTest("it offers an update: a message does not start it", async () => {
  await using board = await Switchboard.start();
  await using bench = await atStart(board, "Update now", { CODEX_MANAGED_BY_NPM: "1" }, ({ home }, config) => {
    const version = { latest_version: "99.0.0", last_checked_at: new Date().toISOString(), dismissed_version: null };
    writeFileSync(join(home, ".codex", "version.json"), JSON.stringify(version));
    return config.replace("check_for_update_on_startup = false", "check_for_update_on_startup = true");
  });
  await waitsFor(board, bench, /dialog/, async () => {
    expect((await bench.capture()).text).toContain("Update now");
    await choose(bench, "Skip");
  });
});

codexTest.each([
  ["a draft", "half a draft", /half a draft/],
  ["a collapsed paste", "x".repeat(3_000), /\[Pasted Content 3000 chars\]/],
  ["a shell command", "!touch executed", /^! ?touch executed/m],
])("%s in the composer: it is neither sent nor changed", async (_what, draft, shown) => {
  await using board = await Switchboard.start();
  await using bench = await embedded(board);
  await bench.draft(draft, ({ text }) => shown.test(text));
  const request = await waitsFor(board, bench, /draft/, async () => {
    expect((await bench.capture()).text).toMatch(shown);
    await press(bench, "C-c", ({ text }) => !shown.test(text));
  });
  expect(request.entries.some(({ text }) => text.includes(draft))).toBe(false);
  expect(isThere(bench, "executed")).toBe(false);
});

codexTest("copy mode without a client: it ends, and the message arrives", async () => {
  await using board = await Switchboard.start();
  await using bench = await embedded(board);
  await bench.tmux("copy-mode", "-t", bench.pane);
  const tag = await board.send("ana", "--wait", "seen", "a message");
  expect(freshTexts(await bench.model.next((one) => freshHas(one, tag)), "user").at(-1)).toStartWith(
    `[${tag} from user]\na message\n`,
  );
});

codexTest("the user goes back to an earlier message: nothing is typed there", async () => {
  await using board = await Switchboard.start();
  await using bench = await embedded(board);
  for (const words of ["first", "second"]) {
    await bench.prompt(words);
    await bench.model.next((one) => freshHas(one, words));
    await untilIdle(bench);
  }
  await press(bench, "Escape", ({ text }) => text.includes("edit previous message"));
  await press(bench, "Escape", ({ text }) => text.includes("Browsing transcript"));
  const request = await waitsFor(board, bench, /dialog/, () =>
    press(bench, "Escape", ({ text }) => !text.includes("Browsing transcript")),
  );
  expect(request.entries.filter(({ role }) => role === "user").map(({ text }) => text)).toEqual(
    expect.arrayContaining(["first", "second"]),
  );
});

codexTest("killed, with its screen still as it was: nothing is typed into the program that is there now", async () => {
  await using board = await Switchboard.start();
  const { bench, command, launch } = await prepareBench("codex");
  await using _ = bench;
  const codex = [...command, ...bench.recipe.args(bench.place, launch)];
  await bench.open(["sh", "-c", 'set -m; "$@"; cat > typed', "sh", ...codex], 120, 40);
  await bench.untilReady();
  await board.adopt(bench);
  const pid = Number((await Bun.$`pgrep -P ${bench.agentPid}`.text()).trim());
  process.kill(pid, "SIGKILL");
  const { text } = await bench.waitForScreen(({ command }) => command === "cat");
  expect(text).toMatch(/^› /m);
  const tag = await board.send("ana", "a message");
  await board.reached(tag, ({ state, reason }) => state === "queued" && /exited|foreground/.test(reason ?? ""));
  expect(readFileSync(join(bench.place.project, "typed"), "utf8")).toBe("");
});

codexTest("a hooks file that is not JSON: setup does not touch it, and mail comes without hooks", async () => {
  await using board = await Switchboard.start();
  await using bench = await embedded(board);
  const file = join(bench.place.home, ".codex", "hooks.json");
  writeFileSync(file, "{ broken");
  const { code, stderr } = await board.tieline(["setup", "--hooks", "codex"], bench.env);
  expect([code === 0, readFileSync(file, "utf8")]).toEqual([false, "{ broken"]);
  expect(stderr).toContain(file);
  await bench.tmux("respawn-pane", "-k", "-t", bench.pane);
  await bench.untilReady();
  await board.adopt(bench);
  const tag = await board.send("ana", "--wait", "seen", "a message");
  await bench.model.next((one) => freshHas(one, tag));
});

codexTest("its record is taken away: what is typed then is delivered once, and never reported as seen", async () => {
  await using board = await Switchboard.start();
  await using bench = await embedded(board);
  await board.send("ana", "--wait", "seen", "the first");
  await untilIdle(bench);
  for (const path of new Bun.Glob(bench.recipe.transcripts!).scanSync({ cwd: bench.place.home, dot: true }))
    rmSync(join(bench.place.home, path));
  const tag = await board.send("ana", "the second");
  await bench.model.next((one) => freshHas(one, tag));
  await board.reached(tag, ({ state }) => state === "delivered");
  const third = await board.send("ana", "the third");
  const last = await bench.model.next((one) => freshHas(one, third));
  expect(last.entries.filter(({ text }) => text.includes("the second"))).toHaveLength(1);
  expect((await board.status(tag)).deliveries[0]!.state).toBe("delivered");
});

codexTest("the daemon is gone: its hooks stop nothing and say nothing, and the next daemon delivers", async () => {
  await using board = await Switchboard.start();
  await using bench = await embedded(board, {
    hooks: true,
    permissions: "allow",
    script: [batch(shell("touch made")), say("done")],
  });
  await board.killDaemon();
  await bench.prompt("make it");
  await bench.model.next((one) => freshHas(one, "make it"));
  await bench.model.next((one) => freshTexts(one, "tool").length > 0);
  expect(isThere(bench, "made")).toBe(true);
  await untilIdle(bench);
  expect((await bench.capture()).text).not.toMatch(/hook.*(?:failed|error)/i);
  const tag = await board.send("ana", "--wait", "seen", "a message");
  await bench.model.next((one) => freshHas(one, tag));
});

const bodies = {
  "a leading !": "!touch executed",
  "a leading /": "/quit\nand more",
  "bidi marks": "a\u202eb\u2066c\u2069 \u200fשלום",
  "200 KB": "0123456789".repeat(20_000),
};

codexTest("a leading ! or /, bidi marks and 200 KB are text, typed or by its server, and arrive whole", async () => {
  await using board = await Switchboard.start();
  await using served = await board.codex();
  for (const body of Object.values(bodies)) await expectText(board, served, body);
  await using other = await Switchboard.start();
  await using typed = await embedded(other);
  for (const body of Object.values(bodies)) await expectText(other, typed, body);
  expect([served, typed].map((bench) => isThere(bench, "executed"))).toEqual([false, false]);
});

async function expectText(board: Switchboard, bench: Bench, body: string): Promise<void> {
  const file = join(board.root, "body");
  writeFileSync(file, body);
  const tag = await board.send("ana", "--wait", "seen", "--file", file);
  const request = await bench.model.next((one) => freshHas(one, tag));
  const read = `${body}\n[end ${tag} · reply: ${board.command} reply ${tag}]`;
  const [given = ""] = freshTexts(request, "user").filter((text) => text.startsWith(`[${tag} from user]`));
  expect(given).toEndWith(read);
  expect(existsSync(join(bench.place.project, "executed"))).toBe(false);
  await untilIdle(bench);
}
