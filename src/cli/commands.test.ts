import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { appendFileSync, copyFileSync, existsSync, renameSync, truncateSync, writeFileSync } from "node:fs";
import { TielineError } from "../model/errors.ts";
import type { Event } from "../model/event.ts";
import { agentId } from "../model/ids.ts";
import { commandLine, textOf, type CommandLine } from "../testing/commandLine.ts";
import { fakeDaemon, type FakeDaemon } from "../testing/fakeDaemon.ts";
import { loadAll, registry } from "./registry.ts";
import { acceptedAt, agent, daemonStatus, delivery, delivered, letter, receipt, story } from "./views.fixture.ts";

let tieline: CommandLine;
let daemon: FakeDaemon;
beforeEach(() => {
  tieline = commandLine();
  daemon = fakeDaemon(tieline.home.socket);
});
afterEach(async () => {
  await daemon[Symbol.asyncDispose]();
  tieline[Symbol.dispose]();
});

/** Lists ask who calls, to show the agents of other teams as `team:name`. */
const inputs = () => daemon.calls.filter(({ name }) => name !== "whoami").map(({ input }) => input);
const jsonOf = async (args: string[]) => JSON.parse((await tieline.run([...args, "--json"])).stdout);

describe("reading messages", () => {
  test("show prints the body and nothing else", async () => {
    const body = "line one\n\ttwo  \\ no newline at the end";
    daemon.answers.show = () => ({
      id: "i",
      tag: "MSG_USER_7f3a91c2",
      from: "user",
      to: "engineer",
      team: "default",
      kind: "text",
      body,
      inReplyTo: null,
      thread: "i",
      acceptedAt,
      reader: "user",
    });
    expect(await tieline.run(["show", "MSG_USER_7f3a91c2"])).toEqual({ code: 0, stdout: body, stderr: "" });
    expect(await jsonOf(["show", "MSG_USER_7f3a91c2"])).toMatchObject({ body });
  });

  test("inbox: the caller's own, whole letters, times in ISO-8601", async () => {
    daemon.answers.inbox = () => [
      letter(),
      letter({ tag: "MSG_ANA_00000001", from: "ana", state: "queued", reason: "busy" }),
    ];
    const { stdout } = await tieline.run(["inbox"]);
    expect(stdout).toMatch(
      /^✓ MSG_ENGINEER_0a0b0c0d from engineer {3}.* ago, delivered\n {2}done\n {2}all green\n\n· MSG_ANA_00000001 from ana {3}.* ago, queued: busy\n/,
    );
    const [first] = await jsonOf(["inbox", "engineer", "--pending", "--peek", "--limit", "3"]);
    expect(first).toMatchObject({
      tag: "MSG_ENGINEER_0a0b0c0d",
      body: "done\nall green",
      at: "2026-01-02T03:04:05.000Z",
    });
    expect(Object.keys(first)).toContainValues(["id", "tag", "from", "to", "body", "state", "reason", "at"]);
    expect(inputs()).toEqual([{}, { agent: "engineer", pending: true, peek: true, limit: 3 }]);
  });

  test("what inbox took out of the queue is confirmed after it was printed", async () => {
    daemon.answers.inbox = () => [letter({ delivery: 7 }), letter(), letter({ delivery: 9 })];
    daemon.answers.collected = ({ deliveries }) => ({ seen: deliveries.length });
    expect(await tieline.run(["inbox"])).toMatchObject({ code: 0, stderr: "" });
    expect(daemon.calls.map(({ name }) => name)).toEqual(["inbox", "whoami", "collected"]);
    expect(inputs()[1]).toEqual({ deliveries: [7, 9] });
  });

  test("an empty inbox", async () => {
    daemon.answers.inbox = () => [];
    expect((await tieline.run(["inbox"])).stdout).toBe("no mail\n");
    expect(await jsonOf(["inbox"])).toEqual([]);
  });

  test("status tells the story, step by step", async () => {
    const whole = story();
    daemon.answers.status = () => ({
      ...whole,
      history: whole.history.map((step, at) => (at === 2 ? { ...step, leftOut: 12_345 } : step)),
    });
    const { stdout } = await tieline.run(["status", "MSG_USER_7f3a91c2"]);
    const [leftOut] = /^.* steps .*\n/m.exec(stdout)!;
    expect(leftOut).toBe("  … 12,345 earlier steps of waiting are not kept\n");
    const lines = stdout.replace(leftOut, "").split("\n");
    expect(lines[0]).toBe("MSG_USER_7f3a91c2   user → engineer · team default · known by user · when: turn");
    expect(lines[3]).toMatch(/\+0 ms {2}engineer {2}accept {3}→ queued$/);
    expect(lines[4]).toMatch(/engineer {2}hold {5}stays queued {3}a permission dialog is open in %14$/);
    expect(lines[6]).toMatch(/\+0\.3 s {2}engineer {2}settle {3}→ delivered {3}by tmux, proof: screen$/);
    expect(lines[8]).toStartWith("✓ MSG_USER_7f3a91c2 → engineer   delivered after 0.3 s");
    const value = await jsonOf(["status", "MSG_USER_7f3a91c2"]);
    expect(value.history).toHaveLength(4);
    expect(value.history[0].at).toBe("2026-01-02T03:04:05.000Z");
    expect(value.deliveries[0]).toMatchObject({ agent: "engineer", state: "delivered", proof: "screen" });
  });

  test("log is one line for each message", async () => {
    daemon.answers.log = () => [
      receipt({ deliveries: [delivered()] }),
      receipt({ to: "@all", deliveries: [delivered("ana"), delivery({ agent: "bob" })] }),
    ];
    const { stdout } = await tieline.run(["log", "engineer", "--since", "1h", "--grep", "a b", "--limit", "2"]);
    expect(stdout).toMatch(/^(?:.*\n){2}.*MSG_USER_7f3a91c2 {3}user → @all {7}1 delivered, 1 queued {3}please look\n$/);
    expect(inputs()[0]).toMatchObject({ agent: "engineer", grep: "a b", limit: 2 });
    expect(Date.now() - (inputs()[0]!["since"] as number)).toBeGreaterThanOrEqual(3_600_000);
  });

  test("dead, cancel and retry", async () => {
    daemon.answers = {
      dead: () => [receipt({ deliveries: [delivery({ state: "failed", reason: "the agent was removed" })] })],
      cancel: () => receipt({ deliveries: [delivery({ state: "cancelled" })] }),
      retry: () => receipt(),
    };
    expect((await tieline.run(["dead"])).stdout).toBe(
      "✗ MSG_USER_7f3a91c2 → engineer   failed: the agent was removed\n",
    );
    expect((await tieline.run(["cancel", "MSG_USER_7f3a91c2", "--agent", "engineer"])).stdout).toBe(
      "✗ MSG_USER_7f3a91c2 → engineer   cancelled\n",
    );
    expect((await tieline.run(["retry", "MSG_USER_7f3a91c2"])).stdout).toBe(
      "· MSG_USER_7f3a91c2 → engineer   queued\n",
    );
    expect(inputs()).toEqual([{}, { tag: "MSG_USER_7f3a91c2", agent: "engineer" }, { tag: "MSG_USER_7f3a91c2" }]);
  });
});

describe("agents", () => {
  const held = agent({
    name: "reviewer",
    state: "permission",
    presence: "idle",
    pending: 2,
    held: "a permission dialog is open in %15 and nobody has answered it so far",
    heldAt: acceptedAt,
    pane: "%15",
  });

  test("ls is a table with what waits and why", async () => {
    daemon.answers.ls = () => [agent(), held];
    const { stdout } = await tieline.run(["ls"]);
    const [head, first, second] = stdout.split("\n");
    expect(head).toMatch(/NAME {7}STATE {8}PROVIDER {3}PANE {3}MAIL {3}WHY/);
    expect(first).toMatch(/^● {3}engineer {3}idle {9}generic {4}%14 {4}–$/);
    expect(second).toMatch(
      /^○ {3}reviewer {3}permission {3}generic {4}%15 {4}2 {6}held: a permission dialog is open in %15 and nobody has answered it so far, since \d+ d$/,
    );
  });

  test("ls --json is an array with the promised names; --names only names", async () => {
    daemon.answers.ls = () => [agent(), held];
    const [first] = await jsonOf(["ls", "--all"]);
    expect(Object.keys(first)).toContainValues([
      "id",
      "name",
      "team",
      "role",
      "provider",
      "state",
      "reason",
      "presence",
      "pane",
      "pending",
    ]);
    expect((await tieline.run(["ls", "--names"])).stdout).toBe("engineer\nreviewer\n");
    expect(inputs()).toEqual([{ all: true }, {}]);
  });

  test("on a terminal the table fits its width and has colour, unless NO_COLOR says no", async () => {
    daemon.answers.ls = () => [agent(), held];
    const coloured = await tieline.runOnTerminal(["ls"]);
    const lines = coloured.stdout.split("\r\n");
    expect(coloured.stdout).toContain("\u001b[32m●\u001b[0m");
    expect(Math.max(...lines.map((line) => Bun.stringWidth(line)))).toBeLessThanOrEqual(80);
    expect(coloured.stdout).toContain("…");
    expect((await tieline.runOnTerminal(["ls"], { env: { NO_COLOR: "1" } })).stdout).not.toContain("\u001b[");
    expect((await tieline.runOnTerminal(["ls"], { env: { TERM: "dumb" } })).stdout).not.toContain("\u001b[");
  });

  test("ls --watch prints every change and ends on Ctrl-C", async () => {
    let pending = 0;
    const changed = (): void =>
      daemon.tell({ type: "agent.registered", agent: agentId("x"), name: "x", team: "default", seq: ++pending, at: 0 });
    daemon.answers.events = () => ({ events: [], last: 0, more: false });
    daemon.answers.ls = () => {
      const agents = [agent({ pending })];
      if (pending === 0) changed();
      return agents;
    };
    const watching = tieline.start(["ls", "--watch", "--json"]);
    const reader = watching.stdout.getReader();
    let text = "";
    while (text.split("\n").length < 3) text += new TextDecoder().decode((await reader.read()).value);
    watching.kill("SIGINT");
    expect(await watching.exited).toBe(0);
    expect(
      text
        .split("\n")
        .slice(0, 2)
        .map((line) => JSON.parse(line)[0].pending),
    ).toEqual([0, 1]);
  });

  test("events go on with what happens, after the number up to which they have told the past", async () => {
    const event = (seq: number): Event => ({
      type: "user.prompt",
      agent: agentId("a"),
      name: "ana",
      team: "default",
      prompt: `do ${seq}\nnow`,
      seq,
      at: 0,
    });
    daemon.answers.events = ({ after = 0, since }) => ({
      events: [event(Number(after) + 1)],
      last: Number(after) + 1,
      more: since !== undefined,
    });
    const past = await tieline.run(["events", "--since", "1h", "--type", "user,tool.call"]);
    expect(past.stdout).toMatch(
      /^\S+ \S+  user\.prompt +default:ana   do 1 ⏎ now\n\S+ \S+  user\.prompt +default:ana   do 2 ⏎ now\n$/,
    );
    expect(inputs()).toMatchObject([{ types: ["user", "tool.call"] }, { types: ["user", "tool.call"], after: 1 }]);

    daemon.tell(event(7));
    const following = tieline.start(["events", "-f", "--json"]);
    const reader = following.stdout.getReader();
    let text = "";
    while (text.split("\n").length < 3) text += new TextDecoder().decode((await reader.read()).value);
    following.kill("SIGINT");
    expect(await following.exited).toBe(0);
    expect(
      text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).seq),
    ).toEqual([1, 7]);
  });

  test("adopt --all: one that can not be adopted hides none of the others", async () => {
    const found = ["ana", "bob"].map((name, at) => ({
      pane: `%${at}`,
      name,
      session: "main",
      window: "w",
      provider: "generic",
      program: "cat",
      pid: 1,
      cwd: "/",
      foundBy: [],
      sessionId: null,
      agent: null,
      waysIn: [],
    }));
    Object.assign(daemon.answers, {
      discover: () => found,
      adopt: ({ name }: { name: string }) => {
        if (name === "bob") return agent({ name });
        throw new TielineError("PANE_UNKNOWN", "nothing runs in %0 any more", {
          remedy: "start the agent program there, then adopt it",
        });
      },
    });
    const { code, stdout, stderr } = await tieline.run(["adopt", "--all", "--yes"]);
    expect([code, stderr]).toEqual([
      4,
      "error PANE_UNKNOWN: ana: nothing runs in %0 any more\n  start the agent program there, then adopt it\n",
    ]);
    expect(stdout).toMatch(/● +bob/);
    expect(await jsonOf(["adopt", "--all", "--yes"])).toMatchObject({
      adopted: [{ name: "bob" }],
      failed: [{ agent: "ana", code: "PANE_UNKNOWN" }],
    });
  });

  test("adopt, rm and read", async () => {
    daemon.answers = {
      adopt: ({ name }) => agent({ name }),
      rm: ({ agent: name }) => ({ name, failedDeliveries: 2 }),
      read: ({ agent: name }) => ({ agent: name, pane: "%14", text: "$ make\nok\n\n\n" }),
    };
    expect(
      (
        await tieline.run([
          "adopt",
          "%14",
          "--name",
          "ana",
          "--provider",
          "generic",
          "--workspace",
          "sub",
          "--role",
          "dev",
        ])
      ).stdout,
    ).toContain("ana");
    expect(inputs()[0]).toMatchObject({ target: "%14", name: "ana", provider: "generic", role: "dev" });
    expect(inputs()[0]!["workspace"]).toMatch(/^\/.*\/sub$/);
    expect((await tieline.run(["adopt", "%14"])).stderr).toStartWith("error USAGE: --name NAME is missing\n");
    expect((await tieline.run(["rm", "ana", "--force"])).stdout).toBe(
      "✓ ana removed   2 waiting for it failed; see `tieline dead`\n",
    );
    expect((await tieline.run(["read", "ana", "-n", "5"])).stdout).toBe("$ make\nok\n");
    expect(inputs().at(-1)).toEqual({ agent: "ana", lines: 5 });
  });

  test("up and down", async () => {
    daemon.answers = {
      up: () => ({
        session: "tieline",
        socket: "/s",
        attach: "tmux -S /s attach -t tieline",
        started: [agent()],
        already: ["ana"],
        failed: [],
      }),
      down: () => ({ stopped: ["engineer"] }),
    };
    expect((await tieline.run(["up", "engineer", "ana"])).stdout).toContain(
      "\nalready there: ana\nattach: tmux -S /s attach -t tieline\n",
    );
    expect(inputs()[0]).toEqual({ only: ["engineer", "ana"] });
    expect((await tieline.run(["down"])).stdout).toBe("✓ stopped engineer\n");
  });
});

describe("daemon", () => {
  test("status of one that runs", async () => {
    daemon.answers.daemonStatus = () => daemonStatus();
    expect(await jsonOf(["daemon", "status"])).toMatchObject({
      running: true,
      pid: 4242,
      version: "0.1.0",
      socket: "/x/daemon.sock",
    });
    expect((await tieline.run(["daemon", "start"])).stdout).toStartWith("✓ the daemon runs   pid 4242");
  });

  test("status and stop when none runs say so, succeed, and start none", async () => {
    await daemon[Symbol.asyncDispose]();
    expect(await jsonOf(["daemon", "status"])).toEqual({
      running: false,
      pid: null,
      version: null,
      socket: tieline.home.socket,
    });
    expect(await tieline.run(["daemon", "stop"])).toEqual({
      code: 0,
      stdout: "the daemon is not running\n",
      stderr: "",
    });
    expect(existsSync(tieline.home.log)).toBe(false);
  });

  test("stop waits until the process has ended", async () => {
    const process = Bun.spawn(["sleep", "600"]);
    daemon.answers = {
      daemonStatus: () => daemonStatus({ pid: process.pid }),
      daemonStop: () => {
        process.kill();
        return { stopping: true };
      },
    };
    expect((await tieline.run(["daemon", "stop"])).stdout).toBe("✓ the daemon stopped\n");
    expect(process.killed).toBe(true);
  });

  test("logs prints the last lines, and follows the log when it moves aside", async () => {
    writeFileSync(tieline.home.log, "one\ntwo\nthree\n");
    expect((await tieline.run(["daemon", "logs", "-n", "2"])).stdout).toBe("two\nthree\n");
    const following = tieline.start(["daemon", "logs", "-f"]);
    const reader = following.stdout.getReader();
    let text = "";
    const until = async (end: string) => {
      while (!text.endsWith(end)) text += new TextDecoder().decode((await reader.read()).value);
    };
    await until("three\n");
    appendFileSync(tieline.home.log, "four\n");
    await until("four\n");
    appendFileSync(tieline.home.log, "five\n");
    renameSync(tieline.home.log, `${tieline.home.log}.1`);
    writeFileSync(tieline.home.log, "six\n");
    await until("six\n");
    appendFileSync(tieline.home.log, "seven\n");
    copyFileSync(tieline.home.log, `${tieline.home.log}.1`);
    truncateSync(tieline.home.log);
    await until("seven\n");
    appendFileSync(tieline.home.log, "8\n");
    await until("8\n");
    following.kill("SIGINT");
    expect(await following.exited).toBe(0);
    expect(text).toBe("one\ntwo\nthree\nfour\nfive\nsix\nseven\n8\n");
  });

  test("doctor fails with 5 when a check failed, and names the remedy", async () => {
    daemon.answers.doctor = () => [
      { name: "tmux", status: "ok", detail: "3.4", remedy: null },
      { name: "disk", status: "failed", detail: "full", remedy: "free some space" },
    ];
    const { code, stdout } = await tieline.run(["doctor"]);
    expect(code).toBe(5);
    expect(stdout).toMatch(/^✓ tmux +3\.4\n✗ disk +full\n +free some space\n$/);
    daemon.answers.doctor = () => [{ name: "tmux", status: "warning", detail: "3.2", remedy: "update" }];
    expect((await tieline.run(["doctor", "--json"])).code).toBe(0);
  });
});

describe("the command line itself", () => {
  test("an unknown command names the nearest", async () => {
    const { code, stdout, stderr } = await tieline.run(["sned"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toStartWith('error USAGE: unknown command "sned"; did you mean "send"?\n');
    expect((await tieline.run(["help", "sned"])).stderr).toBe(stderr);
    expect(await jsonOf(["constructor"])).toMatchObject({ error: { code: "USAGE" } });
  });

  test.each(Object.keys(registry))("%s --help shows usage and examples", async (name) => {
    const { code, stdout, stderr } = await tieline.run([name, "--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`Usage\n  tieline ${name}`));
    expect(stdout).toContain("\nExamples\n");
  });

  test("each name in the registry is that of its command", async () => {
    expect((await loadAll()).map(({ name }) => name)).toEqual(Object.keys(registry));
  });

  test.each([[[]], [["help"]], [["--help"]], [["-h"]]])("tieline %j lists every command", async (args) => {
    const { code, stdout } = await tieline.run(args);
    expect(code).toBe(0);
    for (const name of Object.keys(registry)) expect(stdout).toContain(`  ${name} `);
  });

  test("version", async () => {
    expect((await tieline.run(["--version"])).stdout).toMatch(/^tieline \d+\.\d+\.\d+ \(Bun .*\)\n$/);
  });

  test("a reader that has seen enough is no error", async () => {
    daemon.answers.read = ({ agent: name }) => ({ agent: name, pane: "%1", text: "x\n".repeat(500_000) });
    const reading = tieline.start(["read", "engineer"]);
    const reader = reading.stdout.getReader();
    await reader.read();
    await reader.cancel();
    expect(await reading.exited).toBe(0);
    expect(await textOf(reading.stderr)).toBe("");
  });

  test("an error keeps its exit code through every layer", async () => {
    daemon.answers.read = () => {
      throw new TielineError("TMUX_UNAVAILABLE", "tmux is not installed", { remedy: "install tmux 3.2 or newer" });
    };
    expect(await tieline.run(["read", "engineer"])).toEqual({
      code: 5,
      stdout: "",
      stderr: "error TMUX_UNAVAILABLE: tmux is not installed\n  install tmux 3.2 or newer\n",
    });
  });
});
