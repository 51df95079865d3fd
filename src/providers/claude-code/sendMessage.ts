/**
 * A Claude Code agent writes with its own SendMessage tool, and need not know that Tieline is there: the message is
 * taken here, once, and the tool's result says so. An unknown name is our error with near names, not an inbox
 * that no one reads.
 */
import type { Agent } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import type { Sender } from "../../model/message.ts";
import type { Receipt } from "../../model/receipt.ts";
import type { Router } from "../../routing/router.ts";
import type { HookCall, ToolUse } from "../hooks/hookCall.ts";
import type { HookHandler } from "../hooks/hookHandler.ts";
import type { ProviderHookHandlers } from "../port.ts";

export interface SendMessageParts {
  readonly router: Pick<Router, "send">;
  /** Whether Claude Code itself knows this name: another session, a teammate. */
  readonly knownNatively: (name: string, agent: Agent) => boolean;
}

/** Not to be taken for a failed attempt, although the program shows every refusal as an error. */
const taken = "The message is sent. Tieline took it, so the tool itself was not run; do not send it again.";

export function sendMessageHandlers({ router, knownNatively }: SendMessageParts): ProviderHookHandlers {
  const subagents = new Set<string>();

  const route: HookHandler = {
    name: "SendMessage",
    events: ["PreToolUse"],
    kind: "guard",
    async handle(call, agent) {
      const draft = call.tool && draftIn(call.tool);
      if (!draft || isElsewhere(draft.to)) return undefined;
      try {
        const { receipt } = await router.send(
          { ...draft, idempotencyKey: `SendMessage ${call.tool!.id}` },
          senderOf(agent),
        );
        return { refusal: `${taken}\n${summaryOf(receipt)}` };
      } catch (thrown) {
        if (!(thrown instanceof TielineError)) throw thrown;
        if (isUnknown(thrown) && (subagents.has(draft.to) || knownNatively(draft.to, agent))) return undefined;
        return { refusal: `${thrown.code}: ${thrown.message}. ${thrown.remedy}` };
      }
    },
  };

  /** Its own helpers a session reaches by itself. */
  const remember: HookHandler = {
    name: "subagents by name",
    events: ["SubagentStart", "PreToolUse"],
    kind: "observer",
    async handle(call) {
      for (const name of namesOfSubagent(call)) subagents.add(name);
      return undefined;
    },
  };

  return { observers: [remember], guards: [route] };
}

function namesOfSubagent({ event, subagent, tool }: HookCall): string[] {
  if (event === "SubagentStart") return subagent === null ? [] : [subagent];
  const name = tool?.name === "Agent" || tool?.name === "Task" ? tool.input["name"] : undefined;
  return typeof name === "string" ? [name] : [];
}

function draftIn({ name, input }: ToolUse): { to: string; body: string; summary?: string } | null {
  const { to, message, summary } = input;
  if (name !== "SendMessage" || typeof to !== "string" || typeof message !== "string") return null;
  return { to, body: message, ...(typeof summary === "string" && summary !== "" && { summary }) };
}

/** Addresses of Claude Code's own: sockets of sessions, and its lead. */
const isElsewhere = (to: string): boolean => /^[a-z]+:[/\\]/.test(to) || to === "main";

const isUnknown = ({ code }: TielineError): boolean =>
  code === "ADDRESS_UNKNOWN" || code === "TARGET_NOT_FOUND" || code === "NAME_INVALID" || code === "USAGE";

const senderOf = ({ id, name, team }: Agent): Sender => ({ id, name, team, knownBy: "session" });

function summaryOf({ message, deliveries }: Receipt): string {
  const states = deliveries.map(
    ({ agentName, state, detail }) => `${agentName}: ${state}${detail === null ? "" : ` (${detail})`}`,
  );
  return `${message.tag} → ${states.join(", ")}. \`tieline status ${message.tag}\` shows its state.`;
}
