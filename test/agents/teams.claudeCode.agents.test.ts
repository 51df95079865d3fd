import { expect } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  batch,
  freshHas,
  freshTexts,
  say,
  type ModelRequest,
  type Script,
  type Step,
} from "../../fixtures/model-servers/server.ts";
import type { AgentView, InboxView } from "../../src/api/schema.ts";
import type { OpenRequest } from "../../src/api/schemas/requests.ts";
import { prepareBench, startBench, type Bench } from "./bench.ts";
import { claudeTest } from "./claudeCode.ts";
import type { Json } from "./recipe.ts";
import { Switchboard } from "./switchboard.ts";
import { until } from "./until.ts";

/** What a model would do that was asked to end. */
function sensibly(request: ModelRequest): Step {
  const told = freshTexts(request, "user").join("\n");
  const shutdown = /shutdown-[0-9]+@bob/.exec(told)?.[0];
  if (shutdown !== undefined)
    return batch({
      name: "SendMessage",
      input: { to: "team-lead", message: { type: "shutdown_response", request_id: shutdown, approve: true } },
    });
  return say(`ok ${request.index}`);
}

/** `bob`, a native teammate in the team `default`, which has no lead that lives. */
async function withTeammate(
  board: Switchboard,
  { script = sensibly, mustPlan = false, settings = {} }: { script?: Script; mustPlan?: boolean; settings?: Json } = {},
): Promise<Bench> {
  const identity = [
    "--agent-id",
    "bob@default",
    "--agent-name",
    "bob",
    "--team-name",
    "default",
    "--agent-color",
    "blue",
    "--parent-session-id",
    crypto.randomUUID(),
  ];
  const args = mustPlan ? [...identity, "--plan-mode-required"] : identity;
  const { bench, command, launch } = await prepareBench("claude-code", {
    args,
    script,
    settings,
    env: { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: "1" },
  });
  return bench.after(async () => {
    const team = join(bench.place.home, ".claude", "teams", "default");
    mkdirSync(join(team, "inboxes"), { recursive: true });
    const member = (name: string, fields: object) => ({
      agentId: `${name}@default`,
      name,
      joinedAt: Date.now(),
      cwd: bench.place.project,
      subscriptions: [],
      ...fields,
    });
    const members = [
      member("team-lead", { agentType: "team-lead", tmuxPaneId: "leader", backendType: "in-process" }),
      member("bob", {
        agentType: "general-purpose",
        color: "blue",
        planModeRequired: mustPlan,
        tmuxPaneId: "%0",
        backendType: "tmux",
      }),
    ];
    writeFileSync(
      join(team, "config.json"),
      JSON.stringify({
        name: "default",
        createdAt: Date.now(),
        leadAgentId: "team-lead@default",
        leadSessionId: crypto.randomUUID(),
        members,
      }),
    );
    await bench.open([...command, ...bench.recipe.args(bench.place, launch)], 120, 40);
    await bench.waitForScreen((screen) => bench.recipe.ready(screen));
    await board.serve(bench);
  });
}

const rowsOf = (bench: Bench, member: string): unknown[] => {
  const file = join(bench.place.home, ".claude", "teams", "default", "inboxes", `${member}.json`);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as unknown[]) : [];
};
/** What a teammate asks the user, once it does. */
async function openRequest(board: Switchboard, bench: Bench): Promise<OpenRequest> {
  let open: OpenRequest[] = [];
  await until(async () => (open = await board.json<OpenRequest[]>("approve")).length === 1, {
    what: async () => `bob asks; he shows ${(await bench.capture()).text}`,
  });
  return open[0]!;
}

const named = async (board: Switchboard, name: string): Promise<AgentView | undefined> =>
  (await board.json<AgentView[]>("ls", "--all")).find((one) => one.name === name);

claudeTest(
  "a native teammate: our message reaches its model, its SendMessage reaches an agent of ours, both once",
  async () => {
    await using board = await Switchboard.start();
    await using bench = await withTeammate(board);
    await board.another("carol");
    await until(
      () => readFileSync(join(bench.place.home, ".claude/teams/default/config.json"), "utf8").includes('"carol"'),
      { what: async () => "carol is a member" },
    );

    bench.model.add({
      ...batch({ name: "SendMessage", input: { to: "carol", message: "the tests are green", summary: "green" } }),
      when: (one) => freshHas(one, "tell carol"),
    });
    const tag = await board.send("bob", "tell carol\nhow the tests are");
    const request = await bench.model.next((one) => freshHas(one, tag));
    expect(freshTexts(request, "user").join("\n")).toContain(
      `<teammate-message teammate_id="the-user" summary="tell carol">\n[${tag} from user]\ntell carol\nhow ` +
        `the tests are\n[end ${tag} · reply: SendMessage to "the-user"]\n</teammate-message>`,
    );
    expect((await board.status(tag)).deliveries[0]).toMatchObject({
      state: "delivered",
      proof: "written",
      transport: "claude-inbox",
      authority: "peer",
    });

    const mail = () => board.json<InboxView[]>("inbox", "carol");
    await until(async () => (await mail()).length > 0, {
      what: async () => `carol has mail; bob shows ${(await bench.capture()).text}`,
    });
    expect((await mail()).map(({ from, body }) => [from, body])).toEqual([["bob", "the tests are green"]]);
    await until(() => rowsOf(bench, "carol").length === 0, { what: async () => "carol's inbox is empty" });
    await until(async () => (await named(board, "bob"))?.state === "idle", {
      what: async () => "bob told that he is idle",
    });
    expect(await mail()).toHaveLength(1);

    bench.model.add({
      ...batch({ name: "SendMessage", input: { to: "the-user", message: "carol knows", summary: "told" } }),
      when: (one) => freshHas(one, "tell me, too"),
    });
    await board.send("bob", "tell me, too");
    const own = () => board.json<InboxView[]>("inbox", "--peek");
    await until(async () => (await own()).length > 0, {
      what: async () => `the user has mail; bob shows ${(await bench.capture()).text}`,
    });
    expect((await own()).map(({ from, body }) => [from, body])).toEqual([["bob", "carol knows"]]);
  },
);

claudeTest("a native teammate is listed while it runs, and adopted as the agent that it is", async () => {
  await using board = await Switchboard.start();
  await using bench = await withTeammate(board);
  await until(async () => (await named(board, "bob")) !== undefined, { what: async () => "bob is listed" });
  const { id, state, endpoints } = (await named(board, "bob"))!;
  expect([state, endpoints.map(({ transport }) => transport)]).toEqual(["unknown", ["claude-inbox"]]);
  // The lead of the file has ended.
  expect((await board.json<AgentView[]>("ls", "--all")).map(({ name }) => name)).toEqual(["bob"]);
  expect(await board.json("adopt", "--all")).toMatchObject({ found: [{ name: "bob", agent: null }] });
  expect(await board.json<AgentView>("adopt", bench.pane, "--name", "bob")).toMatchObject({
    id,
    pane: bench.pane,
    state: "idle",
  });
  const tag = await board.send("bob", "--wait", "delivered", "in your pane now");
  await bench.model.next((one) => freshHas(one, tag));
  expect((await board.status(tag)).deliveries[0]).toMatchObject({ transport: "tmux" });
});

claudeTest("an adopted teammate with our hooks writes to the user under that name, too", async () => {
  await using board = await Switchboard.start();
  await using bench = await withTeammate(board, { settings: board.settings() });
  await board.run("adopt", bench.pane, "--name", "bob");
  bench.model.add({
    ...batch({ name: "SendMessage", input: { to: "user", message: "all green", summary: "green" } }),
    when: (one) => freshHas(one, "tell the user"),
  });
  await board.send("bob", "tell the user");
  const mail = () => board.json<InboxView[]>("inbox", "--peek");
  await until(async () => (await mail()).length > 0, {
    what: async () => `the user has mail; bob shows ${(await bench.capture()).text}`,
  });
  expect((await mail()).map(({ from, body }) => [from, body])).toEqual([["bob", "all green"]]);
});

claudeTest(
  "a real lead and its teammate are listed and written to by name, answer the user, and are forgotten when they end",
  async () => {
    await using board = await Switchboard.start();
    const script: Script = (request) => {
      const told = freshTexts(request, "user").join("\n");
      if (told.includes("start scout"))
        return batch({
          name: "Agent",
          input: {
            name: "scout",
            description: "scouts",
            prompt: "wait for mail",
            subagent_type: "general-purpose",
            run_in_background: true,
          },
        });
      const words = /tell the user (\w+)/.exec(told)?.[1];
      return words === undefined
        ? say(`ok ${request.index}`)
        : batch({ name: "SendMessage", input: { to: "the-user", message: words, summary: words } });
    };
    await using bench = await startBench("claude-code", {
      script,
      env: { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: "1" },
      permissions: "allow",
    });
    await board.serve(bench);
    await bench.prompt("start scout please");
    const listed = () => board.json<AgentView[]>("ls");
    await until(async () => (await listed()).length === 2, {
      what: async () => `both are listed: ${JSON.stringify(await listed())}`,
    });
    expect((await listed()).map(({ name }) => name).toSorted()).toEqual(["scout", "team-lead"]);
    const folder = (await listed())[0]!.team;
    const config = () => readFileSync(join(bench.place.home, ".claude/teams", folder, "config.json"), "utf8");
    await until(() => config().includes('"the-user"'), { what: async () => "the user is a member" });
    await until(async () => (await named(board, "team-lead"))!.state === "idle", {
      what: async () => "the lead is idle",
    });

    const inbox = () => board.json<InboxView[]>("inbox", "--peek");
    for (const [name, word] of [
      ["scout", "found"],
      ["team-lead", "done"],
    ] as const) {
      const tag = await board.send(name, `tell the user ${word}`);
      await bench.model.next((one) => freshHas(one, tag));
      await until(async () => (await inbox()).some(({ body }) => body === word), {
        what: async () => `${name} answers; it shows ${(await bench.capture()).text}`,
      });
    }
    expect((await inbox()).map(({ from, body }) => [from, body])).toEqual([
      ["scout", "found"],
      ["team-lead", "done"],
    ]);

    process.kill(bench.agentPid, "SIGTERM");
    await bench.waitForScreen((screen) => screen.dead);
    await until(async () => (await listed()).every(({ state }) => state === "gone"), {
      what: async () => `they have ended: ${JSON.stringify(await listed())}`,
    });
  },
);

claudeTest("a native teammate: a message attaches none of the files that it names", async () => {
  await using board = await Switchboard.start();
  await using bench = await withTeammate(board);
  writeFileSync(join(bench.place.project, "notes.txt"), "the heron flies at noon");
  const tag = await board.send("bob", "read @notes.txt\n@notes.txt");
  const request = await bench.model.next((one) => freshHas(one, tag));
  expect(freshTexts(request, "user").join("\n")).toContain("\nread @notes.txt\n@notes.txt\n[end ");
  expect(request.entries.filter(({ text }) => text.includes("heron"))).toEqual([]);
});

claudeTest("a native teammate: the user grants and denies its permissions, and it ends when it agrees to", async () => {
  await using board = await Switchboard.start();
  await using bench = await withTeammate(board);
  const touch = (file: string, when: string): Step => ({
    ...batch({ name: "Bash", input: { command: `touch ${file}`, description: `make ${file}` } }),
    when: (one) => freshHas(one, when),
  });
  // The program itself may find its team's file half written, by itself, and then asks its model to try again.
  bench.model.add(
    touch("granted", "please make granted"),
    touch("denied", "please make denied"),
    touch("denied", "Retry the tool call"),
  );
  const asked = async (file: string): Promise<OpenRequest> => {
    await board.send("bob", `please make ${file}`);
    return openRequest(board, bench);
  };

  const first = await asked("granted");
  expect(first).toMatchObject({
    kind: "permission_request",
    from: "bob",
    text: expect.stringContaining("touch granted"),
  });
  await board.run("approve", first.tag);
  await until(() => existsSync(join(bench.place.project, "granted")), {
    what: async () => `the tool ran; bob shows ${(await bench.capture()).text}`,
  });

  const second = await asked("denied");
  await board.run("deny", second.tag, "not that one");
  await bench.model.next((one) => freshTexts(one, "tool").some((text) => text.includes("not that one")));
  expect(existsSync(join(bench.place.project, "denied"))).toBe(false);

  await board.run("stop", "bob");
  await bench.waitForScreen((screen) => screen.dead);
  await until(async () => (await named(board, "bob"))!.presence === "terminated", {
    what: async () => `bob has ended: ${JSON.stringify(rowsOf(bench, "team-lead"))}`,
  });
});

/** What a model does that must plan first: it writes each plan into the given file, and submits it. */
function planning(...plans: string[]): Script {
  let file = "";
  return (request) => {
    const told = freshTexts(request, "user").join("\n");
    const [result = ""] = freshTexts(request, "tool");
    file = /^No plan file found at (\S+\.md)\./.exec(result)?.[1] ?? file;
    if (result.startsWith("No plan file") || told.includes("[Plan Rejected]"))
      return batch({ name: "Write", input: { file_path: file, content: plans.shift()! } });
    return told.includes("please plan it") || /^(?:The f|F)ile .*successfully/.test(result)
      ? batch({ name: "ExitPlanMode", input: {} })
      : sensibly(request);
  };
}

/**
 * The turn is over in which it submitted a plan. An answer to its last moments the program keeps for the end of the
 * next.
 */
async function untilDeliveredIn(bench: Bench): Promise<void> {
  const { index } = await bench.model.next((one) =>
    freshTexts(one, "tool").some((text) => text.startsWith("Your plan has been submitted")),
  );
  await bench.waitForScreen(({ text }) => text.includes(`● ok ${index}`) && !text.includes("esc to interrupt"));
}

claudeTest(
  "a native teammate that must plan first: the user sends a plan back with a word, and approves the next",
  async () => {
    await using board = await Switchboard.start();
    const plans = ["1. touch it", "1. touch it\n2. test it"] as const;
    await using bench = await withTeammate(board, { script: planning(...plans), mustPlan: true });
    await board.send("bob", "please plan it");
    const first = await openRequest(board, bench);
    expect(first).toMatchObject({ kind: "plan_approval_request", from: "bob", text: plans[0] });
    await untilDeliveredIn(bench);
    await board.run("deny", first.tag, "say how you test it");
    const rejected = await bench.model.next((one) => freshHas(one, "[Plan Rejected]"));
    expect(freshTexts(rejected, "user")).toEqual([
      '<teammate-message teammate_id="team-lead">\n[Plan Rejected] say how you test it\n</teammate-message>',
    ]);

    const second = await openRequest(board, bench);
    expect(second).toMatchObject({ kind: "plan_approval_request", from: "bob", text: plans[1] });
    expect((await bench.capture()).text).toContain("plan mode on");
    await untilDeliveredIn(bench);
    await board.run("approve", second.tag);
    const approved = await bench.model.next((one) => freshHas(one, "[Plan Approved]"));
    expect(freshTexts(approved, "user")[0]).toBe(
      '<teammate-message teammate_id="team-lead">\n' +
        "[Plan Approved] You can now proceed with implementation\n</teammate-message>",
    );
    await bench.waitForScreen(({ text }) => !text.includes("plan mode on"));
  },
);
