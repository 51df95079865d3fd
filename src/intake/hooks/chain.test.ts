import { expect, test } from "bun:test";
import { anAgent } from "../../testing/agents.ts";
import { hookCall, speaking } from "../../testing/hookCalls.ts";
import { describeTool, readHookCall } from "../../providers/hooks/hookCall.ts";
import { createHookChain } from "./chain.ts";
import type { HandlerAnswer, HandlerKind, HookHandler } from "../../providers/hooks/hookHandler.ts";
import { answerFor } from "./wire.ts";

const agent = anAgent({ name: "ana" });
const faults: string[] = [];
const report = (context: string) => void faults.push(context);

function handler(name: string, kind: HandlerKind, handle: () => Promise<HandlerAnswer | undefined>): HookHandler {
  return { name, events: ["PreToolUse"], kind, handle };
}
const silent = async (): Promise<undefined> => undefined;
const broken = async (): Promise<undefined> => {
  throw new Error("out of order");
};

test("asks handlers in the order of the array, and only for their events", async () => {
  const asked: string[] = [];
  const noting = (name: string) =>
    handler(name, "observer", async () => {
      asked.push(name);
      return undefined;
    });
  const chain = createHookChain([noting("first"), { ...noting("never"), events: ["Stop"] }, noting("last")], report);
  expect(await chain.run(hookCall(), agent)).toMatchObject({ refusal: null, context: null });
  expect(asked).toEqual(["first", "last"]);
});

test("an observer and a speaker fail open, a guard fails closed, and each fault is reported", async () => {
  faults.length = 0;
  const open = createHookChain([handler("eye", "observer", broken), handler("voice", "speaker", broken)], report);
  expect((await open.run(hookCall(), agent)).refusal).toBeNull();
  const closed = createHookChain([handler("gate", "guard", broken)], report);
  expect((await closed.run(hookCall(), agent)).refusal).toContain("out of order");
  expect(faults).toEqual([
    "hook handler eye, PreToolUse",
    "hook handler voice, PreToolUse",
    "hook handler gate, PreToolUse",
  ]);
});

test("asks no handler after a refusal, and drops what earlier ones had to say", async () => {
  const fates: string[] = [];
  const fate = (name: string) => ({
    written: async () => void fates.push(`${name} written`),
    lost: async () => void fates.push(`${name} lost`),
  });
  const chain = createHookChain(
    [
      handler("speaks", "speaker", async () => ({ context: "some news", ...fate("news") })),
      handler("refuses", "guard", async () => ({ refusal: "stop", ...fate("stop") })),
      handler("late", "speaker", async () => ({ context: "more", ...fate("more") })),
    ],
    report,
  );
  const verdict = await chain.run(hookCall(), agent);
  expect(verdict).toMatchObject({ refusal: "stop", context: null });
  await verdict.written();
  expect(fates.toSorted()).toEqual(["news lost", "stop written"]);
});

test("a call whose program does not wait reaches the observers only", async () => {
  const asked: string[] = [];
  const noting = (kind: HandlerKind) =>
    handler(kind, kind, async () => {
      asked.push(kind);
      return undefined;
    });
  await createHookChain([noting("observer"), noting("speaker"), noting("guard")], report).observe(hookCall(), agent);
  expect(asked).toEqual(["observer"]);
  expect(await silent()).toBeUndefined();
});

test("writes verdicts in the format of each program", () => {
  const context = { refusal: null, context: "news" };
  const at = (event: string, provider = "claude-code") => ({ event, ...speaking(provider) });
  expect(answerFor(at("PreToolUse"), { refusal: "stop", context: null })).toEqual({
    hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "stop" },
  });
  expect(answerFor(at("PostToolUse"), context)).toEqual({
    hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext: "news" },
  });
  expect(answerFor(at("Stop"), context)).toEqual({
    hookSpecificOutput: { hookEventName: "Stop", additionalContext: "news" },
  });
  expect(answerFor(at("Stop", "codex"), context)).toEqual({ decision: "block", reason: "news" });
  expect(answerFor(at("PreToolUse", "gemini"), { refusal: "stop", context: null })).toEqual({
    decision: "deny",
    reason: "stop",
  });
  expect(answerFor(at("PostToolUse", "gemini"), context)).toEqual({
    hookSpecificOutput: { hookEventName: "AfterTool", additionalContext: "news" },
  });
  expect(answerFor(at("Stop"), { refusal: "stop", context: null })).toBeNull();
  expect(answerFor(at("PreToolUse"), { refusal: null, context: null })).toBeNull();
});

test("reads a payload with its tool, and ignores one that makes no sense", () => {
  const payload = {
    hook_event_name: "PreToolUse",
    session_id: "s",
    agent_id: "a7",
    tool_name: "Edit",
    tool_input: { file_path: "src/auth.ts" },
    tool_use_id: "t",
  };
  const call = readHookCall(speaking("claude-code"), payload)!;
  expect(call).toMatchObject({ event: "PreToolUse", sessionId: "s", subagent: "a7", tool: { name: "Edit", id: "t" } });
  expect(describeTool(call.tool!)).toBe("Edit src/auth.ts");
  expect(readHookCall(speaking("claude-code"), { ...payload, session_id: 7 })).toBeNull();
  expect(readHookCall(speaking("claude-code"), "text")).toBeNull();
  expect(readHookCall(speaking("gemini"), { ...payload, hook_event_name: "BeforeTool" })).toMatchObject({
    event: "PreToolUse",
  });
  expect(
    readHookCall(speaking("codex"), { hook_event_name: "UserPromptSubmit", session_id: "s", prompt: "hello" }),
  ).toMatchObject({ tool: null, prompt: "hello", subagent: null });
});
