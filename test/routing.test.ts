import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient, type Client } from "../src/client/client.ts";
import { homeOf } from "../src/client/home.ts";
import type { InboxView, ReceiptView } from "../src/api/schema.ts";
import { obedientAgent, told as toldIn } from "../src/testing/obedientAgent.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

/** Greets the agents that it is asked to greet, and politely answers everything else. */
const polite = `#!/bin/sh
printf 'ready> '
while IFS= read -r line; do
  tag=\${line%%: *}
  case $line in
    *"greet "*) tieline send "\${line##*greet }" "good morning" ;;
    MSG_*) tieline reply "$tag" "thank you for $tag" ;;
  esac
  printf 'ready> '
done
`;

function project(agents: Record<string, string>, rest = ""): string {
  const entries = Object.entries(agents).map(([name, command]) => `  ${name}: { command: ${command}, cwd: . }\n`);
  return `team: web\nagents:\n${entries.join("")}${rest}`;
}

/** Calls as the user, without a process for each. */
function clientOf({ env, project: cwd }: World): Client {
  const home = homeOf(env);
  return createClient({ socket: home.socket }, { cwd, userToken: readFileSync(home.userToken, "utf8").trim() });
}

const delivered = (receipt: ReceiptView): boolean =>
  receipt.deliveries.every(({ state }) => ["delivered", "seen", "answered"].includes(state));

describe("as an agent", () => {
  let world: World;

  beforeAll(async () => {
    const agents = {
      coder: "[sh, ./obedient.sh]",
      reviewer: "[sh, ./obedient.sh]",
      hermit: "[sh, ./obedient.sh]",
      tester: "[cat]",
    };
    const topology =
      "topology: [coder -> reviewer, coder -> ghost, reviewer -> coder]\naliases: { crew: [reviewer, tester] }\n";
    world = await startWorld({ files: { "tieline.yaml": project(agents, topology), "obedient.sh": obedientAgent } });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const told = (agent: string, command: string): Promise<string> => toldIn(world, agent, command);

  test("mail starts it, from outside tmux and without a session", async () => {
    expect(await told("coder", "echo $TIELINE_AGENT in $TIELINE_TEAM")).toBe("coder in web\nexit 0\n");
  });

  test("a reply is in the log and in the inbox under its reader's name", async () => {
    const [tag] = /MSG_CODER_\w+/.exec(await told("coder", "tieline send reviewer 'a question'")) ?? [""];
    await told("reviewer", `tieline reply ${tag} 'an answer'`);
    const receipts = await world.json<ReceiptView[]>(["log", "--thread", tag]);
    expect(receipts.map(({ from, to }) => `${from} → ${to}`)).toEqual(["coder → reviewer", "reviewer → coder"]);
    expect((await world.inbox("coder")).find(({ body }) => body === "an answer")?.to).toBe("coder");
  });

  test("it may not write to everyone on the host, and the error names what it may use", async () => {
    const output = await told("coder", "tieline send '*' hello");
    expect(output).toContain(
      "error ROUTE_DENIED: coder may not write to * (every live agent on this host); " +
        "@all means the agents it may write to",
    );
    expect(output).not.toContain("topology");
    expect(output).toEndWith("exit 3\n");
  });

  test("a send that the topology denies names the allowed targets and is recorded", async () => {
    const output = await told("coder", "tieline send tester hello");
    expect(output).toContain("error ROUTE_DENIED: the topology of team web does not let coder write to tester");
    expect(output).toContain("coder may write to: reviewer, ghost, user");
    expect(output).toEndWith("exit 3\n");
    const events = await world.tieline(["events", "--json"]);
    expect(events.stdout).toContain('"type":"route.denied"');
  });

  test("a name in the topology with nothing behind it is TARGET_NOT_FOUND, a slip is ADDRESS_UNKNOWN", async () => {
    expect(await told("coder", "tieline send ghost hello")).toContain("error TARGET_NOT_FOUND");
    expect(await told("coder", "tieline send reviewr hello")).toContain('did you mean "reviewer"?');
  });

  test("an agent cannot write to itself", async () => {
    expect(await told("coder", "tieline send coder hello")).toContain(
      "error ROUTE_DENIED: coder cannot write to itself",
    );
  });

  test("a broadcast reports each recipient, and exits with 6 when some were refused", async () => {
    const output = await told("coder", "tieline send @crew --json hello");
    expect(output).toEndWith("exit 6\n");
    const receipt = JSON.parse(output.split("\n")[0]!) as ReceiptView;
    expect(receipt.successful).toEqual(["reviewer"]);
    expect(receipt.failed).toEqual([expect.objectContaining({ agent: "tester", code: "ROUTE_DENIED" })]);
  });

  test("@all is the out-edges; one without a target fails, and no agent is started", async () => {
    const output = await told("coder", "tieline broadcast --json hello");
    const receipt = JSON.parse(output.split("\n")[0]!) as ReceiptView;
    expect(receipt.successful).toEqual(["reviewer"]);
    expect(receipt.failed).toEqual([expect.objectContaining({ agent: "ghost", code: "TARGET_NOT_FOUND" })]);
    expect((await world.ls()).find(({ name }) => name === "tester")).toBeUndefined();
  });

  test("an agent without an edge may broadcast, reaches no one, and sees that", async () => {
    const output = await told("hermit", "tieline broadcast hello there");
    expect(output).toContain("the broadcast reached no one: there is no agent you may write to");
    expect(output).toEndWith("exit 0\n");
  });

  test("changing the topology, teams and others' notes needs the user or a right", async () => {
    for (const command of ['topology add "hermit -> coder"', "team create other", "team shutdown web", "team leave"]) {
      expect(await told("hermit", `tieline ${command}`)).toContain("error NOT_PERMITTED");
    }
    expect(await told("hermit", "tieline note --agent coder lazy")).toContain("error NOT_PERMITTED");
  });

  test("a note is shown by ls", async () => {
    expect(await told("hermit", "tieline note thinking")).toBe("hermit: thinking\nexit 0\n");
    expect((await world.ls()).find(({ name }) => name === "hermit")).toMatchObject({ note: "thinking" });
  });

  test("replies need no edge, and a thread is one conversation", async () => {
    const question = await world.json<ReceiptView>(["send", "hermit", "do: true"]);
    const answered = await told("hermit", `tieline reply ${question.tag} yes`);
    expect(answered).toEndWith("exit 0\n");
    const thread = await world.json<ReceiptView[]>(["log", "--thread", question.tag]);
    expect(thread.map(({ from }) => from)).toEqual(["user", "hermit"]);
    const [letter] = (await world.json<InboxView[]>(["inbox"])).filter(({ from }) => from === "hermit");
    expect(letter).toMatchObject({ answers: question.tag });
  });

  test("run-time edges hold at once, are shown as such, and can be taken away", async () => {
    expect((await world.tieline(["topology", "add", "hermit -> coder"])).stdout).toMatch(/hermit -> coder +run time/);
    expect(await told("hermit", "tieline send coder hello")).toEndWith("exit 0\n");
    await world.json(["topology", "rm", "hermit -> coder"]);
    expect(await told("hermit", "tieline send coder hello")).toContain("error ROUTE_DENIED");
    expect(await world.tieline(["topology", "add", "hermit -> codr"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean "coder"?'),
    });
    const check = await world.tieline(["topology", "check"]);
    expect(check).toMatchObject({
      code: 2,
      stdout: expect.stringContaining(`${world.project}/tieline.yaml:7:40: no agent or role "ghost" in team web`),
    });
  });

  test("resolve explains its rules", async () => {
    const { stdout } = await world.tieline(["resolve", "coder", "--explain"]);
    expect(stdout).toMatch(/✓ profile +a project profile, and its live agent/);
    expect(await world.tieline(["resolve", "codr"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('did you mean "coder"?'),
    });
  });
});

describe("asking", () => {
  test("prints the answer; as JSON the envelope, also in vain", async () => {
    await using world = await startWorld({
      files: { "tieline.yaml": project({ ana: "[sh, ./polite.sh]", mute: "[cat]" }), "polite.sh": polite },
    });
    const answer = await world.tieline(["ask", "ana", "are you there?"]);
    expect(answer).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^thank you for MSG_USER_[0-9a-f]{8}\n$/),
      stderr: "",
    });
    const envelope = await world.json<Record<string, unknown>>(["ask", "ana", "again?"]);
    expect(envelope).toEqual({
      ok: true,
      result: `thank you for ${String(envelope["correlationId"])}`,
      error: null,
      timeout: false,
      correlationId: expect.any(String),
      durationMs: expect.any(Number),
    });
    expect(await world.json<InboxView[]>(["inbox", "--pending"])).toEqual([]);

    const late = await world.tieline(["ask", "mute", "--timeout", "1s", "--json", "hello?"]);
    expect(late.code).toBe(4);
    expect(JSON.parse(late.stdout)).toMatchObject({
      ok: false,
      result: null,
      timeout: true,
      error: { code: "NOT_IN_TIME", type: "transient" },
    });
    const unknown = await world.tieline(["ask", "unknown", "--json", "hello?"]);
    expect(unknown.code).toBe(3);
    expect(JSON.parse(unknown.stdout)).toMatchObject({
      ok: false,
      timeout: false,
      correlationId: null,
      error: { code: "ADDRESS_UNKNOWN", type: "permanent" },
    });
  });
});

test("two agents in panes that ask each other at once answer each other, and both get their answers", async () => {
  const agents = { ana: "[sh, ./obedient.sh]", ben: "[sh, ./obedient.sh]" };
  await using world = await startWorld({ files: { "tieline.yaml": project(agents), "obedient.sh": obedientAgent } });
  // Each answers what it is asked first, and then waits for the answer to its own question.
  world.file(
    "ask.sh",
    `tieline ask $1 "a question for $1" >answer.$TIELINE_AGENT 2>asked.$TIELINE_AGENT
echo "exit $?"
own=$(sed -n 's/.*ask --resume \\(MSG_[A-Z_0-9a-f]*\\).*/\\1/p' asked.$TIELINE_AGENT)
theirs=$(sed -n 's/.*tieline reply \\(MSG_[A-Z_0-9a-f]*\\).*/\\1/p' asked.$TIELINE_AGENT)
tieline reply $theirs "from $TIELINE_AGENT" >/dev/null && tieline ask --resume $own --json`,
  );
  await world.json(["up"]);
  const outputs = await Promise.all(
    [
      ["ana", "ben"],
      ["ben", "ana"],
    ].map(([me, other]) => toldIn(world, me!, `sh ./ask.sh ${other}`)),
  );
  for (const [at, [me, other]] of [
    ["ana", "ben"],
    ["ben", "ana"],
  ].entries()) {
    const [asked, envelope, code] = outputs[at]!.trim().split("\n");
    expect([asked, code]).toEqual(["exit 7", "exit 0"]);
    expect(JSON.parse(envelope!)).toMatchObject({ ok: true, result: `from ${other}`, error: null, timeout: false });
    // Scripts take what is on stdout for an answer.
    expect(readFileSync(join(world.project, `answer.${me}`), "utf8")).toBe("");
    const words = readFileSync(join(world.project, `asked.${me}`), "utf8");
    expect(words).toMatch(
      new RegExp(`MSG_${other!.toUpperCase()}_[0-9a-f]{8} from ${other} .*new\\n  a question for ${me}\\n`),
    );
    expect(words).toMatch(
      /^error QUESTION_WAITING: \w+ asks you something while you wait for the answer to MSG_\w+, which stays open$/m,
    );
  }
});

describe("agents that are started by their mail", () => {
  test("200 messages to 20 offline agents are 20 starts, and everything arrives", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `agent${index}`);
    const files = { "tieline.yaml": project(Object.fromEntries(names.map((name) => [name, "[cat]"]))) };
    await using world = await startWorld({ files, config: { spawn: { perMinute: 100, readyTimeoutMs: 60_000 } } });
    await world.json(["daemon", "start"]);
    const client = clientOf(world);
    const sent = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        client.call("send", { to: names[index % 20]!, body: `message ${index}` }),
      ),
    );
    await until(
      async () => (await client.call("log", { limit: 500 })).every(delivered),
      "every message to be delivered",
      120_000,
    );
    expect(await client.call("log", { limit: 500 })).toHaveLength(sent.length);
    const panes = (await world.tmux("list-panes", "-a", "-F", "#{pane_current_command}"))
      .split("\n")
      .filter((command) => command === "cat");
    expect(panes).toHaveLength(20);
  }, 180_000);

  test("a program that ends at once is started again only after growing pauses, and status says why", async () => {
    const files = { "tieline.yaml": project({ ana: "[sh, ./crash.sh]" }), "crash.sh": "echo started >>starts\n" };
    await using world = await startWorld({ files });
    const { tag } = await world.json<ReceiptView>(["send", "ana", "hello"]);
    const reasons = async (): Promise<string[]> =>
      (await world.status(tag)).steps.flatMap(({ reason }) => reason ?? []);
    await until(
      async () => (await reasons()).some((reason) => reason.endsWith("the next start is in 5 s")),
      "the second pause",
    );
    expect(await reasons()).toContainEqual(
      expect.stringMatching(/^ana is not running: .*exited .*the next start is in 1 s$/),
    );
    expect(readFileSync(join(world.project, "starts"), "utf8")).toBe("started\nstarted\n");
    expect((await world.status(tag)).deliveries[0]).toMatchObject({ state: "queued", attempts: 0 });
  });

  test("one that is not ready in time keeps its mail queued, and status says so", async () => {
    const files = {
      "tieline.yaml": project({ ana: "[sh, ./slow.sh]" }),
      "slow.sh": "while :; do echo busy; sleep 0.1; done\n",
    };
    await using world = await startWorld({ files, config: { spawn: { readyTimeoutMs: 1_000 } } });
    const { tag } = await world.json<ReceiptView>(["send", "ana", "hello"]);
    const said = "ana was started, but is not ready after 1 s";
    await until(async () => (await world.status(tag)).steps.some(({ reason }) => reason?.startsWith(said)), said);
    expect((await world.status(tag)).deliveries[0]).toMatchObject({ state: "queued" });
  });
});

test("two agents that answer each other politely come to an end", async () => {
  const files = {
    "tieline.yaml": project({ ana: "[sh, ./polite.sh]", bob: "[sh, ./polite.sh]" }),
    "polite.sh": polite,
  };
  await using world = await startWorld({ files });
  await world.json(["up"]);
  await world.json(["send", "ana", "greet bob"]);
  const screens = async (): Promise<string> =>
    (await Promise.all((await world.ls()).map(({ pane }) => world.screen(pane!)))).join("\n");
  await until(async () => (await screens()).includes("HOP_LIMIT"), "the limit", 60_000);
  const log = await world.json<ReceiptView[]>(["log", "--limit", "100"]);
  expect(log.map(({ from }) => from)).toEqual(["user", "ana", "bob", "ana", "bob", "ana", "bob", "ana", "bob"]);
}, 90_000);
