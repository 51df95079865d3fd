import { expect, test } from "bun:test";
import { kindOf, requestIn, responseTo, sameResponse, shutdownVerdict } from "./teamProtocol.ts";

const at = Date.parse("2026-11-15T10:00:00.000Z");
const timestamp = "2026-11-15T10:00:00.000Z";
const asked = (request: Record<string, unknown>) => ({
  kind: kindOf(JSON.stringify(request)),
  body: JSON.stringify(request),
});
const answer = (request: Record<string, unknown>, approve: boolean, text: string | null = null) => {
  const response = responseTo(asked(request), { approve, text }, at)!;
  return { ...response, body: JSON.parse(response.body) as unknown };
};

const permission = {
  type: "permission_request",
  request_id: "p-1",
  tool_name: "Bash",
  tool_use_id: "t-1",
  description: "clean up",
  input: { command: "rm x" },
};
const plan = { type: "plan_approval_request", requestId: "plan-1", planContent: "1. dig" };
const shutdown = {
  type: "shutdown_request",
  requestId: "shutdown-1@bob",
  from: "team-lead",
  reason: "done",
  member: "bob",
};

test.each([
  ["hello", "text"],
  ["{ not json", "text"],
  ['{"type":"something_new"}', "text"],
  ['  {"from":"bob","type":"idle_notification"}', "idle_notification"],
  ['{"type":"shutdown_approved","requestId":"1"}', "shutdown_response"],
  ['{"type":"shutdown_rejected","requestId":"1"}', "shutdown_response"],
])("%s is %s", (text, kind) => expect(kindOf(text)).toBe(kind as never));

test("shows the whole request, and nothing in it hides the rest", () => {
  expect(requestIn(asked(permission))).toEqual({
    kind: "permission_request",
    id: "p-1",
    text: 'Bash: clean up\n{\n  "command": "rm x"\n}',
  });
  expect(requestIn(asked(plan))).toEqual({ kind: "plan_approval_request", id: "plan-1", text: "1. dig" });
  expect(requestIn(asked(shutdown))).toEqual({
    kind: "shutdown_request",
    id: "shutdown-1@bob",
    text: "shut down bob: done",
  });
  expect(requestIn(asked({ ...plan, planContent: "1. \u202egid\u001b[2K\u200b" }))!.text).toBe("1. gid[2K");
  expect(requestIn({ kind: "permission_request", body: "{}" })).toBeNull();
  expect(requestIn({ kind: "text", body: JSON.stringify(permission) })).toBeNull();
});

test("responses are those of the protocol", () => {
  expect(answer(permission, true, "be quick")).toEqual({
    kind: "permission_response",
    unsaid: "be quick",
    body: {
      type: "permission_response",
      request_id: "p-1",
      tool_use_id: "t-1",
      subtype: "success",
      response: { updated_input: { command: "rm x" }, permission_updates: [] },
    },
  });
  expect(answer(permission, false)).toEqual({
    kind: "permission_response",
    unsaid: null,
    body: {
      type: "permission_response",
      request_id: "p-1",
      tool_use_id: "t-1",
      subtype: "error",
      error: "the permission was denied",
    },
  });
  const planDigest = new Bun.CryptoHasher("sha256").update("1. dig").digest("hex");
  expect(answer(plan, true, "deeper").body).toEqual({
    type: "plan_approval_response",
    requestId: "plan-1",
    approved: true,
    feedback: "deeper",
    timestamp,
    planDigest,
  });
  expect(answer(plan, false, "no").body).toEqual({
    type: "plan_approval_response",
    requestId: "plan-1",
    approved: false,
    feedback: "no",
    timestamp,
  });
  expect(answer(shutdown, true).body).toEqual({
    type: "shutdown_approved",
    requestId: "shutdown-1@bob",
    from: "bob",
    timestamp,
  });
  expect(answer(shutdown, false, "busy").body).toEqual({
    type: "shutdown_rejected",
    requestId: "shutdown-1@bob",
    from: "bob",
    reason: "busy",
    timestamp,
  });
});

test("the same answer at another time is the same answer", () => {
  const body = (approve: boolean, now: number): string => responseTo(asked(plan), { approve, text: null }, now)!.body;
  expect(sameResponse(body(true, at), body(true, at + 1))).toBe(true);
  expect(sameResponse(body(true, at), body(false, at))).toBe(false);
});

test("only an approval is consent", () => {
  expect(shutdownVerdict('{"type":"shutdown_approved","requestId":"1"}')).toEqual({
    id: "1",
    approved: true,
    reason: null,
  });
  expect(shutdownVerdict('{"type":"shutdown_response","request_id":"1","approve":true}')).toMatchObject({
    approved: true,
  });
  expect(shutdownVerdict('{"type":"shutdown_response","request_id":"1","approve":"true"}')).toMatchObject({
    approved: false,
  });
  expect(shutdownVerdict('{"type":"shutdown_rejected","requestId":"1","reason":"busy"}')).toEqual({
    id: "1",
    approved: false,
    reason: "busy",
  });
});
