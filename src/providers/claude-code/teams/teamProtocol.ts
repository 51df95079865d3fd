/**
 * Requests of the protocol that Claude Code's teams speak: JSON with a type and an id, written as the text of a row.
 * Each is answered once, by a response that carries its id.
 */
import { sanitise } from "../../../model/envelope.ts";
import { agentId } from "../../../model/ids.ts";
import { isRequest, type Kind, type Message, type RequestKind } from "../../../model/message.ts";
import type { RequestProtocol, TeamRequest, TeamResponse, TeamVerdict } from "../../nativeTeams.ts";

/** What the lead of a team is called in it, if the team does not say. */
export const leadName = "team-lead";

/** What the user is called there: under the name `user`, Claude Code 2.1.325 does not deliver. */
export const userMember = "the-user";

/** Written under other names than those of the messages they are. */
const kindsByType: Readonly<Record<string, Kind>> = {
  plan_approval_request: "plan_approval_request",
  plan_approval_response: "plan_approval_response",
  permission_request: "permission_request",
  permission_response: "permission_response",
  shutdown_request: "shutdown_request",
  shutdown_response: "shutdown_response",
  shutdown_approved: "shutdown_response",
  shutdown_rejected: "shutdown_response",
  idle_notification: "idle_notification",
};

/** Protocol rows are JSON with a type of their own; everything else is text. */
export function kindOf(text: string): Kind {
  const type = fieldsOf(text)?.["type"];
  return (typeof type === "string" && kindsByType[type]) || "text";
}

/** What a message asks for; null when it asks for nothing that can be approved. */
export function requestIn({ kind, body }: Pick<Message, "kind" | "body">): TeamRequest | null {
  const fields = isRequest(kind) ? fieldsOf(body) : null;
  const id = fields && idOf(fields);
  if (!isRequest(kind) || !id) return null;
  return { kind, id, text: sanitise(askedIn[kind](fields), true) };
}

/** The response in the words of the protocol; null when the message asks for nothing. */
export function responseTo(
  message: Pick<Message, "kind" | "body">,
  verdict: TeamVerdict,
  at: number,
): TeamResponse | null {
  const fields = fieldsOf(message.body);
  const request = requestIn(message);
  if (fields === null || request === null) return null;
  return responses[request.kind](fields, request.id, verdict, new Date(at).toISOString());
}

const responseKinds: Readonly<Record<RequestKind, Kind>> = {
  plan_approval_request: "plan_approval_response",
  permission_request: "permission_response",
  shutdown_request: "shutdown_response",
};

/** Two responses that differ only in when they were made say the same. */
export function sameResponse(a: string, b: string): boolean {
  return JSON.stringify({ ...fieldsOf(a), timestamp: null }) === JSON.stringify({ ...fieldsOf(b), timestamp: null });
}

/** Of a response to a shutdown request: did the member agree, and to which request? */
export function shutdownVerdict(
  body: string,
): { readonly id: string; readonly approved: boolean; readonly reason: string | null } | null {
  const fields = fieldsOf(body);
  const id = fields && idOf(fields);
  if (!id) return null;
  const approved =
    fields["type"] === "shutdown_approved" || (fields["type"] === "shutdown_response" && fields["approve"] === true);
  return { id, approved, reason: textOf(fields, "reason") };
}

/** Whether a response of the protocol approves what was asked. */
function approves(body: string): boolean {
  const fields = fieldsOf(body) ?? {};
  return fields["approved"] === true || fields["subtype"] === "success" || shutdownVerdict(body)?.approved === true;
}

/** A message of the protocol for people; null for everything that is read as it is written. */
function inWords({ kind, body }: Pick<Message, "kind" | "body">): string | null {
  const fields = kind in wordsFor ? fieldsOf(body) : null;
  return requestIn({ kind, body })?.text ?? (fields && sanitise(wordsFor[kind]!(fields), true));
}

const verdictIn = (fields: Fields): string =>
  approves(JSON.stringify(fields))
    ? "approved"
    : `denied${said(fields, "feedback")}${said(fields, "error")}${said(fields, "reason")}`;

const wordsFor: Readonly<Partial<Record<Kind, (fields: Fields) => string>>> = {
  plan_approval_response: verdictIn,
  permission_response: verdictIn,
  shutdown_response: verdictIn,
  idle_notification: (fields) => `idle${said(fields, "summary")}${said(fields, "completedStatus")}`,
};

export function shutdownRequest(
  request: { readonly id: string; readonly from: string; readonly reason: string },
  at: number,
): string {
  const { id, from, reason } = request;
  return JSON.stringify({
    type: "shutdown_request",
    requestId: id,
    from,
    reason,
    timestamp: new Date(at).toISOString(),
  });
}

type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(text: string): Fields | null {
  if (!text.trimStart().startsWith("{")) return null;
  try {
    return JSON.parse(text) as Fields;
  } catch {
    // Text that only begins like JSON is text.
    return null;
  }
}

export const textOf = (fields: Fields, name: string): string | null => {
  const value = fields[name];
  return typeof value === "string" && value !== "" ? value : null;
};

const idOf = (fields: Fields): string | null => textOf(fields, "request_id") ?? textOf(fields, "requestId");

const askedIn: Readonly<Record<RequestKind, (fields: Fields) => string>> = {
  plan_approval_request: (fields) =>
    textOf(fields, "planContent") ?? textOf(fields, "plan") ?? "its plan, which it did not send along",
  permission_request: (fields) =>
    [`${textOf(fields, "tool_name") ?? "a tool"}${said(fields, "description")}`, inputIn(fields)]
      .filter((line) => line !== null)
      .join("\n"),
  shutdown_request: (fields) =>
    `shut down ${textOf(fields, "member") ?? textOf(fields, "from") ?? "the agent"}${said(fields, "reason")}`,
};

const said = (fields: Fields, name: string): string => {
  const text = textOf(fields, name);
  return text === null ? "" : `: ${text}`;
};

const inputIn = ({ input }: Fields): string | null => (input === undefined ? null : JSON.stringify(input, null, 2));

type Respond = (fields: Fields, id: string, verdict: TeamVerdict, timestamp: string) => TeamResponse;

const responses: Readonly<Record<RequestKind, Respond>> = {
  plan_approval_request(fields, requestId, { approve, text }, timestamp) {
    const plan = textOf(fields, "planContent");
    const feedback = text ?? (approve ? null : "the plan was not approved");
    // A program that asks for it takes an approval only together with what was approved.
    const planDigest = approve && plan !== null ? { planDigest: sha256(plan) } : {};
    return {
      kind: "plan_approval_response",
      body: JSON.stringify({
        type: "plan_approval_response",
        requestId,
        approved: approve,
        ...(feedback !== null && { feedback }),
        timestamp,
        ...planDigest,
      }),
      unsaid: null,
    };
  },

  permission_request(fields, request_id, { approve, text }) {
    const toolUse = textOf(fields, "tool_use_id");
    const same = { type: "permission_response", request_id, ...(toolUse !== null && { tool_use_id: toolUse }) };
    const kind = "permission_response";
    if (!approve)
      return {
        kind,
        body: JSON.stringify({ ...same, subtype: "error", error: text ?? "the permission was denied" }),
        unsaid: null,
      };
    const response = {
      ...(fields["input"] !== undefined && { updated_input: fields["input"] }),
      permission_updates: [],
    };
    return { kind, body: JSON.stringify({ ...same, subtype: "success", response }), unsaid: text };
  },

  shutdown_request(fields, requestId, { approve, text }, timestamp) {
    const from = textOf(fields, "member") ?? "user";
    const kind = "shutdown_response";
    if (approve)
      return { kind, body: JSON.stringify({ type: "shutdown_approved", requestId, from, timestamp }), unsaid: text };
    return {
      kind,
      body: JSON.stringify({
        type: "shutdown_rejected",
        requestId,
        from,
        reason: text ?? "it is still needed",
        timestamp,
      }),
      unsaid: null,
    };
  },
};

const sha256 = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex");

export const teamProtocol: RequestProtocol = {
  requestIn,
  responseTo,
  responseKinds,
  sameResponse,
  approves,
  inWords,
  agentToEnd({ body }) {
    const id = textOf(fieldsOf(body) ?? {}, "agent");
    return id === null ? null : agentId(id);
  },
};
