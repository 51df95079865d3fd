/** What is said on NATS about an event, and under which subjects. */
import type { Event, Fact } from "../../model/event.ts";
import type { MessageId } from "../../model/ids.ts";

export interface Publication {
  readonly subject: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Longer texts are cut: a server takes no more than a megabyte at once. */
const maxTextLength = 256 * 1024;

/**
 * The publications of an event; none for those that have no subject. `contentOf` gives a message's text, if it is still
 * there.
 */
export function publicationsOf(
  event: Event,
  prefix: string,
  contentOf: (id: MessageId) => string | null,
): readonly Publication[] {
  const { type: _type, ...facts } = event;
  const common = { timestamp: new Date(event.at).toISOString(), seq: event.seq, team: event.team };
  const at = (...tokens: string[]): string => [prefix, ...tokens].join(".");
  switch (event.type) {
    case "tool.call": {
      const { name: agent, tool, input } = event;
      return [
        {
          subject: at("tool", subjectToken(agent), "call"),
          payload: { ...common, kind: "tool_call", agent, text: tool, toolName: tool, input },
        },
      ];
    }
    case "user.prompt": {
      const { name: agent, prompt } = event;
      return [
        {
          subject: at("user", subjectToken(agent), "prompt"),
          payload: { ...common, kind: "user", agent, text: prompt },
        },
      ];
    }
    case "agent.response": {
      const { name: agent, summary } = event;
      return [
        {
          subject: at("agent", subjectToken(agent), "response"),
          payload: { ...common, kind: "assistant", agent, text: summary },
        },
      ];
    }
    case "message.accepted": {
      const content = cut(contentOf(event.id) ?? "");
      return event.recipients.map((to) =>
        said(at("msg", subjectToken(to)), event.from, to, content, { ...common, tag: event.tag }),
      );
    }
    case "message.sent":
      return [said(at("msg", subjectToken(event.to)), event.name, event.to, cut(event.content), common)];
    case "route.routed":
    case "route.denied":
      return [
        {
          subject: at("route", subjectToken(event.team), event.type === "route.routed" ? "routed" : "denied"),
          payload: { ...facts, ...common },
        },
      ];
    case "agent.registered":
    case "agent.removed":
    case "agent.changed":
      return [];
    default:
      return [{ subject: at("delivery", subjectToken(event.agentName), event.to), payload: { ...facts, ...common } }];
  }
}

function said(subject: string, from: string, to: string, content: string, more: object): Publication {
  return { subject, payload: { ...more, kind: "message", from, to, content, agent: from, peer: to } };
}

const cut = (text: string): string => (text.length <= maxTextLength ? text : text.slice(0, maxTextLength));

/**
 * Any text as one token of a subject: what is no letter, digit, `_` or `-` becomes `~` and the hexadecimal of its
 * bytes.
 */
export function subjectToken(text: string): string {
  if (text === "") return "~";
  const bytes = new TextEncoder();
  return text.replaceAll(/[^A-Za-z0-9_-]/gu, (character) =>
    Array.from(bytes.encode(character), (byte) => `~${byte.toString(16).padStart(2, "0")}`).join(""),
  );
}

export function fromSubjectToken(token: string): string {
  if (token === "~") return "";
  return decodeURIComponent(token.replaceAll("~", "%"));
}

/** Events that are published to NATS. */
export const isPublished = ({ type }: Fact): boolean =>
  type !== "agent.registered" && type !== "agent.removed" && type !== "agent.changed";
