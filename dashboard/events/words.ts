/** An event in a line: who it is about, the message it belongs to, and what happened. */
import type { StreamedEvent } from "../../src/client/browser.ts";

export interface Party {
  readonly name: string;
  readonly team: string | null;
}

export interface EventLine {
  readonly from: Party;
  readonly to: Party | null;
  readonly tag: string | null;
  readonly words: string;
}

const mostRecipients = 3;

function recipientsOf(names: readonly string[], teams: readonly (string | null)[] | undefined, to: string): Party {
  if (names.length === 1) return { name: names[0]!, team: teams?.[0] ?? null };
  const shown = names.slice(0, mostRecipients).join(", ");
  const more = names.length - mostRecipients;
  return { name: names.length === 0 ? to : more > 0 ? `${shown} and ${more} more` : shown, team: null };
}

export function lineOf(event: StreamedEvent): EventLine {
  const { team } = event;
  switch (event.type) {
    case "message.accepted": {
      const { from, to, recipients, recipientTeams, tag, message } = event;
      return {
        from: { name: from, team },
        to: recipientsOf(recipients, recipientTeams, to),
        tag,
        words: message?.summary ?? "",
      };
    }
    case "route.routed": {
      const { from, to, recipients, recipientTeams, tag } = event;
      return { from: { name: from, team }, to: recipientsOf(recipients, recipientTeams, to), tag, words: "permitted" };
    }
    case "route.denied": {
      const { from, to, allowed } = event;
      const may = allowed.length === 0 ? "it has no edges" : `allowed: ${allowed.join(", ")}`;
      return { from: { name: from, team }, to: { name: to, team: null }, tag: null, words: `refused; ${may}` };
    }
    case "message.sent":
      return about(event, event.content, { name: event.to, team: null });
    case "agent.registered":
      return about(event, "was added");
    case "agent.removed":
      return about(event, "was removed");
    case "agent.changed":
      return about(event, event.reason === null ? event.state : `${event.state}: ${event.reason}`);
    case "tool.call":
      return about(event, `${event.tool} ${inputOf(event.input)}`);
    case "user.prompt":
      return about(event, event.prompt);
    case "agent.response":
      return about(event, event.summary);
    default: {
      const { sender, agentName, agentTeam, tag, detail, reason, transport, proof } = event;
      const how = [transport && `by ${transport}`, proof && `proof: ${proof}`, detail ?? reason].filter(Boolean);
      return {
        from: { name: sender, team },
        to: { name: agentName, team: agentTeam ?? null },
        tag,
        words: how.join(", "),
      };
    }
  }
}

const about = (
  { name, team }: { readonly name: string; readonly team: string },
  words: string,
  to: Party | null = null,
): EventLine => ({ from: { name, team }, to, tag: null, words });

const inputOf = (input: unknown): string => (typeof input === "string" ? input : (JSON.stringify(input) ?? ""));
