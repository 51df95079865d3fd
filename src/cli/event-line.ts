import type { Event } from "../model/event.ts";
import { mark } from "./receipts.ts";
import type { Paint } from "./terminal.ts";
import { clockTime } from "./times.ts";

const typeWidth = "delivery.uncertain".length;

/** `09:12:44  delivery.handed     ✓ MSG_USER_7f3a91c2 → engineer   by tmux, proof: screen` */
export function eventLine(event: Event, paint: Paint, now: number): string {
  return `${paint("dim", clockTime(event.at, now))}  ${event.type.padEnd(typeWidth)}  ${told(event, paint)}`;
}

function told(event: Event, paint: Paint): string {
  switch (event.type) {
    case "message.accepted":
    case "route.routed":
      return `${paint("bold", event.tag)} ${event.from} → ${event.recipients.join(", ") || "nobody"}`;
    case "message.sent":
      return `${event.name} → ${event.to}   ${cut(event.content)}`;
    case "route.denied":
      return `${paint("red", "✗")} ${event.from} → ${event.to}   ${paint("dim", `allowed: ${event.allowed.join(", ")}`)}`;
    case "agent.registered":
    case "agent.removed":
      return `${event.name}   ${paint("dim", event.team)}`;
    case "agent.changed":
      return `${event.name}   ${event.state}${event.reason === null ? "" : `: ${event.reason}`}`;
    case "tool.call":
      return `${event.name}   ${event.tool} ${paint("dim", cut(JSON.stringify(event.input)))}`;
    case "user.prompt":
      return `${event.name}   ${cut(event.prompt)}`;
    case "agent.response":
      return `${event.name}   ${cut(event.summary)}`;
    default: {
      const how = [event.transport && `by ${event.transport}`, event.proof && `proof: ${event.proof}`, event.detail ?? event.reason].filter(Boolean).join(", ");
      return `${mark(event.to, paint)} ${paint("bold", event.tag)} → ${event.agentName}   ${paint("dim", how)}`.trimEnd();
    }
  }
}

const cut = (text: string): string => (text.length <= 120 ? text : `${text.slice(0, 119)}…`);
