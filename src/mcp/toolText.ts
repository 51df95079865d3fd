/** What tools say, in words for a model: short, and with the next step where there is one. */
import type { AgentView, InboxView, Output, ReceiptView, HistoryView } from "../api/schema.ts";
import type { TielineError } from "../model/errors.ts";
import { authorOf, bodyText } from "../model/envelope.ts";
import { oneLine } from "../model/visible.ts";

/** Longer bodies would crowd out everything else that the model has in mind. */
const longestBody = 20_000;

const messageUri = (tag: string): string => `tieline://message/${tag}`;

export function letterText({ tag, from, kind, body, when, expectsReply, answers }: InboxView): string {
  const marks = [
    when === "interrupt" && "urgent",
    answers && `answers ${answers}`,
    expectsReply && "expects a reply",
    kind !== "text" && kind,
  ].filter(Boolean);
  return framed({ tag, from }, marks.map((mark) => ` · ${mark}`).join(""), shortened(body, tag));
}

export function answerText({ tag, from, body }: Pick<InboxView, "tag" | "from" | "body">): string {
  return framed({ tag, from }, " · the answer", shortened(body, tag));
}

/** A message with its whole text. */
export const messageText = ({ tag, from, body }: Pick<InboxView, "tag" | "from" | "body">): string =>
  framed({ tag, from }, "", bodyText(body));

/** The user and Tieline itself have names that no agent can have. */
function framed({ tag, from }: Pick<InboxView, "tag" | "from">, marks: string, body: string): string {
  return [`[${tag} from ${from}${marks}${authorOf(from, "peer")}]`, body, `[end ${tag}]`].join("\n");
}

export const isShownWhole = (body: string): boolean => bodyText(body).length <= longestBody;

function shortened(given: string, tag: string): string {
  const body = bodyText(given);
  if (body.length <= longestBody) return body;
  return (
    `${body.slice(0, longestBody)}\n[${body.length - longestBody} more characters: read the resource ` +
    `${messageUri(tag)}, or run \`tieline show ${tag}\`]`
  );
}

export function receiptText({ tag, deliveries, successful, failed = [], notice }: ReceiptView): string {
  const to = successful ?? deliveries.map(({ agent }) => agent);
  const lines = [to.length > 0 ? `${tag} is accepted for ${to.join(", ")}` : `${tag} has no recipients`];
  for (const { agent, reason } of deliveries) if (reason !== null) lines.push(`waiting for ${agent}: ${reason}`);
  for (const { agent, notes } of deliveries) for (const { text } of notes) lines.push(`${agent}: ${text}`);
  for (const { agent, code, message } of failed) lines.push(`refused for ${agent}: ${code}, ${message}`);
  if (notice !== undefined) lines.push(notice);
  return lines.map(oneLine).join("\n");
}

export function historyText({ tag, deliveries }: HistoryView): string {
  return deliveries
    .map(
      ({ agent, state, proof, reason, warning, notes }) =>
        `${tag} to ${agent}: ${state}${proof ? ` (proof: ${proof})` : ""}${reason ? `: ${reason}` : ""}` +
        [...(warning ? [`warning: ${warning}`] : []), ...notes.map(({ text }) => text)]
          .map((part) => `; ${part}`)
          .join(""),
    )
    .map(oneLine)
    .join("\n");
}

export function agentLines(me: Output<"whoami">, agents: readonly AgentView[]): string {
  const others = agents.filter(({ name, team }) => name !== me.name || team !== me.team);
  const own = `you are ${me.name} in team ${me.team}${me.role ? ` (${me.role})` : ""}`;
  if (others.length === 0) return `${own}\nnobody else is here but user, the user`;
  return [own, ...others.map((agent) => agentLine(agent, me.team)), "user: the user"].join("\n");
}

function agentLine({ name, team, role, kind, state, reason, note }: AgentView, ownTeam: string): string {
  const label = [role, kind === "object" && "object"].filter(Boolean).join(", ");
  const address = team === ownTeam ? name : `${team}:${name}`;
  return oneLine(
    `${address}${label ? ` (${label})` : ""}: ` +
      `${state}${reason ? `, ${reason}` : ""}${note ? ` · it says: ${note}` : ""}`,
  );
}

export function errorText({ code, message, remedy }: Pick<TielineError, "code" | "message" | "remedy">): string {
  return `error ${code}: ${oneLine(message)}\nWhat to do: ${oneLine(remedy)}`;
}
