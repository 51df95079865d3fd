import { expect, test } from "bun:test";
import { createCourier } from "../../courier.ts";
import { openMailbox } from "../../../mailbox/mailbox.ts";
import { memoryStore } from "../../../mailbox/memory/store.ts";
import { userId } from "../../../model/agent.ts";
import { seal, type When } from "../../../model/message.ts";
import { anAgent } from "../../../testing/agents.ts";
import { hookCall } from "../../../testing/hookCalls.ts";
import type { HookCall } from "../../../providers/hooks/hookCall.ts";
import { createHookChain } from "../../../intake/hooks/chain.ts";
import type { HookText } from "./hookText.ts";
import { whenInterrupt } from "./whenInterrupt.ts";
import { whenToolOrTurn } from "./whenToolOrTurn.ts";

/** An agent whose only transport is its hooks. */
function aSession() {
  const agent = anAgent({ name: "ana", endpoints: [] });
  const mailbox = openMailbox(memoryStore());
  const faults: unknown[] = [];
  const report = (_context: string, fault: unknown): void => void faults.push(fault);
  const courier = createCourier({ mailbox, transports: new Map(), agent: () => agent, report });
  const text: HookText = ({ tag, body }, _call, _agent, limit) => {
    const whole = `[${tag}] ${body}`;
    return whole.length <= limit
      ? { text: whole, inline: true, changes: [] }
      : { text: `[${tag}] rings`, inline: false, changes: [] };
  };
  const urgent = whenInterrupt({ courier, mailbox, text });
  const chain = createHookChain([...urgent.observers, urgent.guard, whenToolOrTurn({ courier, text })], report);
  return {
    urgent,
    mailbox,
    faults,
    call: (change: Partial<HookCall>) => chain.run(hookCall(change), agent),
    async mail(body: string, when: When, from: "user" | "bob" = "user") {
      const id = from === "user" ? userId : anAgent({ name: "bob" }).id;
      const message = seal(
        { to: "ana", body, when },
        { id, name: from, team: "web", knownBy: "token" },
        { inReplyTo: null, hops: 1 },
      );
      const { deliveries } = await mailbox.accept(message, [agent]);
      const { id: delivery } = deliveries[0]!;
      return {
        delivery,
        tag: message.tag,
        text: `[${message.tag}] ${body}`,
        notes: () => mailbox.delivery(delivery)!.notes.map(({ code }) => code),
        state: () => mailbox.delivery(delivery)!.state,
      };
    },
  };
}
const tool = (command: string) => ({ name: "Bash", input: { command }, id: command });

test("every call of a batch is refused, also at the same moment; after the batch the next one is free", async () => {
  const session = aSession();
  const urgent = await session.mail("do not touch auth.ts", "interrupt");
  const batch = await Promise.all(["one", "two"].map((command) => session.call({ tool: tool(command) })));
  expect(batch.map(({ refusal }) => refusal)).toEqual([urgent.text, urgent.text]);
  expect(urgent.state()).toBe("claimed");
  await Promise.all(batch.map((verdict) => verdict.written()));
  expect(session.mailbox.delivery(urgent.delivery)).toMatchObject({
    state: "delivered",
    proof: "submitted",
    transport: "hook",
  });
  await session.call({ event: "PostToolBatch" });
  expect(await session.urgent.stoppedBy(urgent.delivery)).toBe("stopped Bash one, Bash two");
  expect((await session.call({ tool: tool("three") })).refusal).toBeNull();
  expect(session.faults).toEqual([]);
});

test("stops a subagent, and still informs its main thread", async () => {
  const session = aSession();
  const urgent = await session.mail("stop", "interrupt");
  const helper = await session.call({ subagent: "a7" });
  expect(helper.refusal).toStartWith(`${urgent.text}\n\nThis is for the main thread`);
  await helper.written();
  expect(urgent.state()).toBe("queued");
  const main = await session.call({});
  await main.written();
  expect([main.refusal, urgent.state()]).toEqual([urgent.text, "delivered"]);
  await session.call({ event: "PostToolBatch", subagent: "a7" });
  expect((await session.call({})).refusal).toBe(urgent.text);
  await session.call({ event: "PostToolBatch" });
  expect((await session.call({ subagent: "a7" })).refusal).toContain(urgent.text);
  await session.call({ event: "Stop" });
});

test("keeps the message queued when the answer is not written", async () => {
  const session = aSession();
  const urgent = await session.mail("stop", "interrupt");
  await (await session.call({})).lost();
  expect(session.mailbox.delivery(urgent.delivery)).toMatchObject({ state: "queued", attempts: 0 });
  const again = await session.call({});
  await again.written();
  expect([again.refusal, urgent.state()]).toEqual([urgent.text, "delivered"]);
});

test("tool mail goes with a result, turn mail of agents at the end, the user's with the prompt", async () => {
  const session = aSession();
  const [tooled, turn, users] = [
    await session.mail("a", "tool"),
    await session.mail("b", "turn", "bob"),
    await session.mail("c", "turn"),
  ];
  expect((await session.call({})).refusal).toBeNull();
  const result = await session.call({ event: "PostToolUse" });
  await result.written();
  expect([result.context, tooled.state(), turn.state()]).toEqual([tooled.text, "delivered", "queued"]);
  expect((await session.call({ event: "Stop", subagent: "a7" })).context).toBeNull();
  const stop = await session.call({ event: "Stop" });
  await stop.written();
  expect([stop.context, turn.state(), users.state()]).toEqual([turn.text, "delivered", "queued"]);
});

test("splits mail that is too long for one hook answer, and loses none", async () => {
  const session = aSession();
  const mails = [];
  for (let n = 0; n < 5; n++) mails.push(await session.mail(`${n}`.repeat(3_000), "tool"));
  const portions: string[] = [];
  const next = () => session.call({ provider: "codex", event: "PostToolUse" });
  for (let verdict = await next(); verdict.context !== null; verdict = await next()) {
    portions.push(verdict.context);
    await verdict.written();
  }
  expect(portions.every((portion) => portion.length <= 9_900)).toBe(true);
  expect(portions.join("\n\n")).toBe(mails.map((mail) => mail.text).join("\n\n"));
});

test("Codex gets mail with its next call after a command that continues in the background", async () => {
  const session = aSession();
  const tooled = await session.mail("a", "tool");
  expect((await session.call({ provider: "claude-code" })).context).toBeNull();
  const next = await session.call({ provider: "codex" });
  await next.written();
  expect([next.refusal, next.context, tooled.state()]).toEqual([null, tooled.text, "delivered"]);
});

test(
  "a text that the program would cut waits for a transport that takes it whole; an urgent one is summed up, " +
    "and said to be",
  async () => {
    const session = aSession();
    const [long, tool] = [
      await session.mail("x".repeat(20_000), "turn", "bob"),
      await session.mail("w".repeat(20_000), "tool", "bob"),
    ];
    const longer = await session.mail("y".repeat(1_000_000), "tool", "user");
    const prompt = await session.call({ event: "UserPromptSubmit" });
    expect(prompt.context).toBe(`[${longer.tag}] rings`);
    await prompt.written();
    expect([long.state(), tool.state(), longer.state(), longer.notes()]).toEqual([
      "queued",
      "queued",
      "delivered",
      ["summary-only"],
    ]);
    const result = await session.call({ event: "PostToolUse" });
    expect(result.context).toBe(tool.text);
    await result.written();
    const stop = await session.call({ event: "Stop" });
    expect(stop.context).toBe(long.text);
    await stop.written();
    expect([long.notes(), tool.notes()]).toEqual([[], []]);
  },
);

test("of a long urgent message only the first call of a batch carries the text", async () => {
  const session = aSession();
  const urgent = await session.mail("z".repeat(20_000), "interrupt");
  const batch = await Promise.all(["one", "two"].map((command) => session.call({ tool: tool(command) })));
  expect(batch[0]!.refusal).toBe(urgent.text);
  expect(batch[1]!.refusal).toContain(urgent.tag);
  expect(batch[1]!.refusal!.length).toBeLessThan(300);
  await Promise.all(batch.map((verdict) => verdict.written()));
  expect([urgent.state(), urgent.notes()]).toEqual(["delivered", []]);
});

test("urgent messages that do not fit into one refusal together are summed up from there on", async () => {
  const session = aSession();
  const mail = [
    await session.mail("a".repeat(40_000), "interrupt"),
    await session.mail("b".repeat(40_000), "interrupt", "bob"),
  ];
  const { refusal, written } = await session.call({ provider: "codex", tool: tool("one") });
  expect(refusal).toBe(`${mail[0]!.text}\n\n[${mail[1]!.tag}] rings`);
  await written();
  expect(mail.map(({ notes }) => notes())).toEqual([[], ["summary-only"]]);
});
