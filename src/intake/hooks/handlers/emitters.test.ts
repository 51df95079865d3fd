import { describe, expect, test } from "bun:test";
import { userAgent } from "../../../agents/directory/roster.ts";
import type { Agent } from "../../../model/agent.ts";
import type { Fact } from "../../../model/event.ts";
import { agentId } from "../../../model/ids.ts";
import { readHookCall } from "../../../providers/hooks/hookCall.ts";
import { createHookChain } from "../chain.ts";
import { emitters } from "./emitters.ts";
import { speaking } from "../../../testing/hookCalls.ts";

const ana: Agent = { ...userAgent, id: agentId("a"), name: "ana", team: "web", kind: "program" };

async function told(payload: object): Promise<Fact[]> {
  const facts: Fact[] = [];
  const fail = (context: string, fault: unknown): never => {
    throw new Error(context, { cause: fault });
  };
  const chain = createHookChain(
    emitters((fact) => void facts.push(fact)),
    fail,
  );
  const verdict = await chain.run(readHookCall(speaking("claude-code"), { session_id: "s", ...payload })!, ana);
  expect(verdict).toMatchObject({ refusal: null, context: null });
  return facts;
}

const about = { agent: ana.id, name: "ana", team: "web" };
const sendMessage = (input: object) =>
  told({ hook_event_name: "PostToolUse", tool_name: "SendMessage", tool_input: input });

describe("the emitters", () => {
  test("have their names and events", () => {
    expect(emitters(() => undefined).map(({ name, events, kind }) => [name, ...events, kind])).toEqual([
      ["nats-emit-tool", "PreToolUse", "observer"],
      ["nats-emit-msg", "PostToolUse", "observer"],
      ["nats-emit-user-prompt", "UserPromptSubmit", "observer"],
      ["nats-emit-assistant-response", "Stop", "observer"],
    ]);
  });

  test("tell tools, prompts and responses", async () => {
    expect(await told({ hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "ls" } })).toEqual([
      { type: "tool.call", ...about, tool: "Bash", input: { command: "ls" } },
    ]);
    expect(await told({ hook_event_name: "UserPromptSubmit", prompt: "do it" })).toEqual([
      { type: "user.prompt", ...about, prompt: "do it" },
    ]);
    expect(await told({ hook_event_name: "Stop", last_assistant_message: "done" })).toEqual([
      { type: "agent.response", ...about, summary: "done" },
    ]);
    expect(await told({ hook_event_name: "Stop" })).toEqual([]);
    expect(await told({ hook_event_name: "PostToolUse", tool_name: "Bash", tool_input: {} })).toEqual([]);
  });

  test("tell a program's own messages, in either of its spellings, and no protocol between programs", async () => {
    expect(await sendMessage({ to: "bob", message: "hi" })).toEqual([
      { type: "message.sent", ...about, to: "bob", content: "hi" },
    ]);
    expect(await sendMessage({ type: "message", recipient: "bob", content: "hi" })).toEqual([
      { type: "message.sent", ...about, to: "bob", content: "hi" },
    ]);
    expect(await sendMessage({ type: "broadcast", content: "all" })).toEqual([
      { type: "message.sent", ...about, to: "*", content: "all" },
    ]);
    expect(await sendMessage({ type: "shutdown_response", recipient: "bob", content: "ok" })).toEqual([]);
    expect(await sendMessage({ to: "bob", message: { type: "shutdown_request" } })).toEqual([]);
  });

  test("cut what is as long as a file", async () => {
    const [fact] = await told({
      hook_event_name: "PreToolUse",
      tool_name: "Write",
      tool_input: { content: "x".repeat(1_000_000) },
    });
    expect(JSON.stringify(fact).length).toBeLessThan(20_000);
  });
});
