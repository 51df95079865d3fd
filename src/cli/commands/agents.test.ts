import { describe, expect, test } from "bun:test";
import { TielineError } from "../../model/errors.ts";
import type { Event } from "../../model/event.ts";
import { agentId } from "../../model/ids.ts";
import { commandLineWithDaemon } from "../../testing/commandLineWithDaemon.ts";
import { acceptedAt, agent } from "./views.fixture.ts";

const tieline = commandLineWithDaemon();

describe("agents", () => {
  const held = agent({
    name: "reviewer",
    state: "permission",
    presence: "idle",
    pending: 2,
    held: "a permission dialog is open in %15 and is not answered yet",
    heldAt: acceptedAt,
    pane: "%15",
  });

  test("ls is a table with what waits and why", async () => {
    tieline.daemon.answers.ls = () => [agent(), held];
    const { stdout } = await tieline.run(["ls"]);
    const [head, first, second] = stdout.split("\n");
    expect(head).toMatch(/NAME {7}STATE {8}PROVIDER {3}PANE {3}MAIL {3}WHY/);
    expect(first).toMatch(/^● {3}engineer {3}idle {9}generic {4}%14 {4}–$/);
    expect(second).toMatch(/^○ {3}reviewer {3}permission {3}generic {4}%15 {4}2 {6}held: a permission dialog is open/);
    expect(second).toMatch(/ held: a permission dialog is open in %15 and is not answered yet \(for \d+ d\)$/);
  });

  test("ls --json is an array with the promised names; --names only names", async () => {
    tieline.daemon.answers.ls = () => [agent(), held];
    const [first] = await tieline.json(["ls", "--all"]);
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
    expect(tieline.inputs()).toEqual([{ all: true }, {}]);
  });

  test("on a terminal the table fits its width and has colour, unless NO_COLOR says no", async () => {
    tieline.daemon.answers.ls = () => [agent(), held];
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
      tieline.daemon.tell({
        type: "agent.registered",
        agent: agentId("x"),
        name: "x",
        team: "default",
        seq: ++pending,
        at: 0,
      });
    tieline.daemon.answers.events = () => ({ events: [], last: 0, more: false });
    tieline.daemon.answers.ls = () => {
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

  test("events continue with new ones, after the last number of the past", async () => {
    const event = (seq: number): Event => ({
      type: "user.prompt",
      agent: agentId("a"),
      name: "ana",
      team: "default",
      prompt: `do ${seq}\nnow`,
      seq,
      at: 0,
    });
    tieline.daemon.answers.events = ({ after = 0, since }) => ({
      events: [event(Number(after) + 1)],
      last: Number(after) + 1,
      more: since !== undefined,
    });
    const past = await tieline.run(["events", "--since", "1h", "--type", "user,tool.call"]);
    expect(past.stdout).toMatch(
      /^\S+ \S+  user\.prompt +default:ana   do 1 ⏎ now\n\S+ \S+  user\.prompt +default:ana   do 2 ⏎ now\n$/,
    );
    expect(tieline.inputs()).toMatchObject([
      { types: ["user", "tool.call"] },
      { types: ["user", "tool.call"], after: 1 },
    ]);

    tieline.daemon.tell(event(7));
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

  test("adopt --all: one that cannot be adopted hides none of the others", async () => {
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
      endpoints: [],
    }));
    Object.assign(tieline.daemon.answers, {
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
    expect(await tieline.json(["adopt", "--all", "--yes"])).toMatchObject({
      adopted: [{ name: "bob" }],
      failed: [{ agent: "ana", code: "PANE_UNKNOWN" }],
    });
  });

  test("adopt, rm and read", async () => {
    tieline.daemon.answers = {
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
    expect(tieline.inputs()[0]).toMatchObject({ target: "%14", name: "ana", provider: "generic", role: "dev" });
    expect(tieline.inputs()[0]!["workspace"]).toMatch(/^\/.*\/sub$/);
    expect((await tieline.run(["adopt", "%14"])).stderr).toStartWith("error USAGE: --name NAME is missing\n");
    expect((await tieline.run(["rm", "ana", "--force"])).stdout).toBe(
      "✓ ana removed   2 waiting for it failed; see `tieline dead`\n",
    );
    expect((await tieline.run(["read", "ana", "-n", "5"])).stdout).toBe("$ make\nok\n");
    expect(tieline.inputs().at(-1)).toEqual({ agent: "ana", lines: 5 });
  });

  test("up and down", async () => {
    tieline.daemon.answers = {
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
      "\nalready running: ana\nattach: tmux -S /s attach -t tieline\n",
    );
    expect(tieline.inputs()[0]).toEqual({ only: ["engineer", "ana"] });
    expect((await tieline.run(["down"])).stdout).toBe("✓ stopped engineer\n");
  });
});
