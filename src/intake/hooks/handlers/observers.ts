import type { Directory } from "../../../agents/directory/directory.ts";
import type { Mailbox } from "../../../mailbox/port.ts";
import type { Agent, AgentState } from "../../../model/agent.ts";
import type { HookCall } from "../../../providers/hooks/hookCall.ts";
import type { HookHandler } from "../../../providers/hooks/hookHandler.ts";

/** The session that an agent is in now. It changes when the user clears or resumes a conversation. */
export function sessionObserver(
  directory: Pick<Directory, "agent" | "update">,
  joined: (agent: Agent, call: HookCall) => void,
): HookHandler {
  return {
    name: "session",
    events: ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"],
    kind: "observer",
    async handle(call, { id }) {
      const agent = directory.agent(id);
      if (agent === null || call.subagent !== null) return undefined;
      const known = agent.sessionId === call.sessionId;
      joined(known ? agent : directory.update(id, { sessionId: call.sessionId }), call);
      return undefined;
    },
  };
}

/**
 * What each event says about what the agent does. The end of a session says nothing: a user who clears the conversation
 * ends it too, and the program runs on. That it has ended is known by its process.
 */
const stateAt: Readonly<Record<string, AgentState>> = {
  UserPromptSubmit: "working",
  PreToolUse: "working",
  PostToolUse: "working",
  PermissionRequest: "permission",
  Stop: "idle",
};

export function stateObserver(observed: (agent: Agent, state: AgentState, call: HookCall) => void): HookHandler {
  return {
    name: "state",
    events: Object.keys(stateAt),
    kind: "observer",
    async handle(call, agent) {
      if (call.subagent === null) observed(agent, stateAt[call.event]!, call);
      return undefined;
    },
  };
}

/** A prompt with the tag of a message proves that the typed text was submitted. */
export function submissionObserver(mailbox: Pick<Mailbox, "message" | "receipt" | "confirm">): HookHandler {
  return {
    name: "submitted prompts",
    events: ["UserPromptSubmit"],
    kind: "observer",
    async handle({ prompt }, agent) {
      for (const [tag] of (prompt ?? "").matchAll(/\bMSG_[A-Z0-9_]+_[0-9a-f]{8}\b/g)) {
        const delivery = mailbox
          .receipt(tag)
          ?.deliveries.find((one) => one.agent === agent.id && one.state === "delivered");
        if (delivery) await mailbox.confirm(delivery.id, "submitted", "the program took it as a prompt");
      }
      return undefined;
    },
  };
}
