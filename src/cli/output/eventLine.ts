import type { Event } from "../../model/event.ts";
import type { Name } from "./names.ts";
import { mark } from "./receipts.ts";
import type { Paint } from "./terminal.ts";
import { clockTime } from "../input/times.ts";

const typeWidth = "delivery.uncertain".length;

/** `09:12:44  delivery.delivered     ✓ MSG_USER_7f3a91c2 → web:engineer   by tmux, proof: screen` */
export function eventLine(event: Event, nameOf: Name, paint: Paint, now: number): string {
  return `${paint("dim", clockTime(event.at, now))}  ${event.type.padEnd(typeWidth)}  ${told(event, nameOf, paint)}`;
}

function told(event: Event, nameOf: Name, paint: Paint): string {
  const own = (name: string): string => nameOf(event.team, name);
  switch (event.type) {
    case "message.accepted":
    case "route.routed":
      return `${paint("bold", event.tag)} ${own(event.from)} → ${recipientsIn(event, nameOf) || "no one"}`;
    case "message.sent":
      return `${own(event.name)} → ${own(event.to)}   ${cut(event.content)}`;
    case "route.denied":
      return (
        `${paint("red", "✗")} ${own(event.from)} → ${event.to}   ` +
        `${paint("dim", `allowed: ${event.allowed.join(", ")}`)}`
      );
    case "agent.registered":
    case "agent.removed":
      return own(event.name);
    case "agent.changed":
      return `${own(event.name)}   ${event.state}${event.reason === null ? "" : `: ${event.reason}`}`;
    case "tool.call":
      return `${own(event.name)}   ${event.tool} ${paint("dim", cut(JSON.stringify(event.input)))}`;
    case "user.prompt":
      return `${own(event.name)}   ${cut(event.prompt)}`;
    case "agent.response":
      return `${own(event.name)}   ${cut(event.summary)}`;
    default: {
      const how = [
        event.transport && `by ${event.transport}`,
        event.proof && `proof: ${event.proof}`,
        event.detail ?? event.reason,
      ]
        .filter(Boolean)
        .join(", ");
      return (
        `${mark(event.to, paint)} ${paint("bold", event.tag)} → ` +
        `${nameOf(event.agentTeam ?? null, event.agentName)}   ${paint("dim", how)}`
      ).trimEnd();
    }
  }
}

const recipientsIn = (
  { recipients, recipientTeams }: Event & { type: "route.routed" | "message.accepted" },
  nameOf: Name,
): string => recipients.map((name, at) => nameOf(recipientTeams?.[at] ?? null, name)).join(", ");

const cut = (text: string): string => (text.length <= 120 ? text : `${text.slice(0, 119)}…`);
