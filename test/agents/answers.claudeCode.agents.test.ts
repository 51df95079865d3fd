/** What comes back from a session by its own tools, and what is known of a delivery whose daemon died. */
import { expect } from "bun:test";
import { dirname, join } from "node:path";
import {
  batch,
  freshHas,
  freshTexts,
  say,
  type ModelRequest,
  type Script,
} from "../../fixtures/model-servers/server.ts";
import type { InboxView } from "../../src/api/schema.ts";
import type { Bench } from "./bench.ts";
import { claudeTest, timesRead } from "./claudeCode.ts";
import { inPausedTool } from "./pausedTool.ts";
import { Switchboard } from "./switchboard.ts";
import { untilGone } from "../../src/testing/until.ts";
import { until } from "./until.ts";

const launcher = new URL("../../bin/tieline", import.meta.url).pathname;

claudeTest(
  "an answer by its own SendMessage to our socket reaches the agent that wrote, and answers the message",
  async () => {
    await using board = await Switchboard.start();
    await using bench = await board.claude({ permissions: "allow" });
    const bob = await board.another("bob");
    const { pid } = await board.json<{ pid: number }>("daemon", "status");
    const address = `uds:${join(dirname((await bench.registry())!.messagingSocketPath!), `${pid}.sock`)}`;
    const tag = await board.sendAs(bob, "ana", "--wait", "seen", "how far are you?");
    await bench.untilStatus("idle");
    // The user's message in between does not matter.
    await board.send("ana", "--wait", "seen", "go on");
    await bench.untilStatus("idle");
    bench.model.add(
      batch({ name: "SendMessage", input: { to: address, message: "half way", summary: "progress" } }),
      say("told"),
    );
    await bench.prompt("answer them");
    const history = await board.reached(tag, ({ state }) => state === "answered");
    expect(history.deliveries[0]).toMatchObject({ proof: "reply", transport: "claude-socket", authority: "peer" });
    const [letter] = await board.client(bob).call("inbox", { peek: true });
    expect(letter).toMatchObject({ from: "ana", body: "half way" } satisfies Partial<InboxView>);
  },
);

claudeTest(
  "a session that asks an agent which asks it is given that question by its own command, and both are answered",
  async () => {
    await using board = await Switchboard.start();
    const command = (words: string) => ({
      name: "Bash",
      input: { command: `TIELINE_HOME=${board.home} ${launcher} ${words}`, description: "scripted" },
    });
    const result = (one: ModelRequest): string => freshTexts(one, "tool").join("\n");
    const script: Script = (one) => {
      if (freshHas(one, "ask bob")) return batch(command('ask bob "which port?"'));
      const [, question, own] = /tieline reply (MSG_\w+).*ask --resume (MSG_\w+)/.exec(result(one)) ?? [];
      return question === undefined
        ? say(`ok ${one.index}`)
        : batch(command(`reply ${question} localhost`), command(`ask --resume ${own}`));
    };
    await using bench = await board.claude({ permissions: "allow", script });
    const bob = await board.another("bob");
    await bench.prompt("ask bob");
    const asking = board.tieline(["ask", "ana", "which host?", "--json"], { TIELINE_TOKEN: bob });
    const given = await bench.model.next((one) => result(one).includes("which host?"));
    expect(result(given)).toContain("QUESTION_WAITING");
    const { stdout } = await asking;
    const envelope = JSON.parse(stdout) as {
      ok: boolean;
      result: string | null;
      correlationId: string;
      questions?: { tag: string }[];
    };
    // Which of the two asked first is a matter of milliseconds; the one that is asked first answers.
    if (envelope.questions) {
      await board.tieline(["reply", envelope.questions[0]!.tag, "8080"], { TIELINE_TOKEN: bob });
      expect(
        JSON.parse(
          (await board.tieline(["ask", "--resume", envelope.correlationId, "--json"], { TIELINE_TOKEN: bob })).stdout,
        ),
      ).toMatchObject({ ok: true, result: "localhost" });
    } else {
      expect(envelope).toMatchObject({ ok: true, result: "localhost" });
      const [letter] = await board.client(bob).call("collect", { waitMs: 20_000 });
      await board.tieline(["reply", letter!.tag, "8080"], { TIELINE_TOKEN: bob });
    }
    await bench.model.next((one) => result(one).includes("8080"));
  },
);

/** Sends, and kills the daemon as soon as it has begun to write. */
async function cutShort(
  board: Switchboard,
  { body, when = "turn" }: { body: string; when?: "turn" | "tool" },
  token?: string,
): Promise<string> {
  const { pid } = await board.json<{ pid: number }>("daemon", "status");
  const client = board.client(token);
  const { tag, acceptedAt } = await client.call("send", { to: "ana", body, when });
  await client.call("wait", { tag, state: "delivered", timeoutMs: 120_000, after: acceptedAt });
  process.kill(pid, "SIGKILL");
  await untilGone(pid);
  return tag;
}

/** Until one of them was cut short in the middle; a program may have taken the others a moment sooner. */
async function untilUncertain(
  board: Switchboard,
  bench: Bench,
  way: { transport: string; authority: string },
  token?: string,
): Promise<void> {
  for (let attempt = 1; attempt <= 20; attempt++) {
    await bench.untilStatus("idle");
    const tag = await cutShort(board, { body: `for crash ${attempt}` }, token);
    const history = await board.reached(tag, ({ state }) => state === "seen");
    expect(history.deliveries[0]).toMatchObject({ proof: "transcript", ...way });
    await bench.untilStatus("idle");
    expect(timesRead(bench.model.requests.at(-1)!, `[${tag} from`)).toBe(1);
    if (history.steps.some((step) => step.to === "uncertain")) return;
  }
  throw new Error("every attempt was over before the daemon was killed");
}

claudeTest(
  "the daemon dies while it writes to the socket: the next one finds it, as peer, and it is read once",
  async () => {
    await using board = await Switchboard.start();
    await using bench = await board.claude();
    await untilUncertain(board, bench, { transport: "claude-socket", authority: "peer" }, await board.another("bob"));
  },
);

claudeTest("the daemon dies while it types: the next one finishes it, as user, and it is read once", async () => {
  await using board = await Switchboard.start();
  await using bench = await board.claude({ settings: {} });
  await untilUncertain(board, bench, { transport: "tmux", authority: "user" });
});

claudeTest(
  "the daemon dies with a message in the queue of a session at work: it stays there and is not sent again",
  async () => {
    await using board = await Switchboard.start();
    // Without hooks it goes by the socket in mid-turn.
    await using bench = await board.claude({ settings: { crossSessionInbound: "accept" }, permissions: "allow" });
    const tool = await inPausedTool(bench);
    await bench.untilStatus("busy");
    const tag = await cutShort(board, { body: "for the queue", when: "tool" });
    const queued = () =>
      bench
        .transcript()
        .then((lines) =>
          lines.some((line) => line["type"] === "queue-operation" && String(line["content"]).includes(tag)),
        );
    await board.reached(tag, ({ state }) => state === "delivered");
    await until(queued, { what: async () => "the session has it in its queue" });
    await tool.release();
    const request = await bench.model.next((one) => freshHas(one, tag));
    expect(freshTexts(request, "tool")).toEqual(["released"]);
    const history = await board.reached(tag, ({ state }) => state === "seen");
    expect(history.deliveries[0]).toMatchObject({ transport: "claude-socket", authority: "peer" });
    await bench.untilStatus("idle");
    expect(timesRead(bench.model.requests.at(-1)!, `[${tag} from`)).toBe(1);
  },
);
