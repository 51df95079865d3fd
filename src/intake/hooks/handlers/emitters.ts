import type { Emit } from "../../../model/event.ts";
import type { Agent } from "../../../model/agent.ts";
import type { HookCall } from "../../../providers/hooks/hookCall.ts";
import type { HookHandler } from "../../../providers/hooks/hookHandler.ts";

/** What a program says can be a whole file; who watches needs its beginning. */
const maxTextLength = 16_384;
const maxResponseLength = 2_000;

/** What agents do, as events. They go where every event goes: the log, the streams, and NATS. */
export function emitters(emit: Emit): readonly HookHandler[] {
  return [
    observer("nats-emit-tool", "PreToolUse", ({ tool }, about) => {
      if (tool) emit({ type: "tool.call", ...about, tool: tool.name, input: bounded(tool.input) });
    }),
    // Mail through the mailbox has its own event when it is accepted; a program's own tool bypasses it.
    observer("nats-emit-msg", "PostToolUse", ({ tool }, about) => {
      const message = tool?.name === "SendMessage" ? messageIn(tool.input) : null;
      if (message) emit({ type: "message.sent", ...about, ...message });
    }),
    observer("nats-emit-user-prompt", "UserPromptSubmit", ({ prompt }, about) => {
      if (prompt) emit({ type: "user.prompt", ...about, prompt: cut(prompt, maxTextLength) });
    }),
    observer("nats-emit-assistant-response", "Stop", ({ payload }, about) => {
      const said = payload["last_assistant_message"];
      if (typeof said === "string" && said !== "")
        emit({ type: "agent.response", ...about, summary: cut(said, maxResponseLength) });
    }),
  ];
}

type About = Pick<Agent, "name" | "team"> & { readonly agent: Agent["id"] };

function observer(name: string, event: string, tell: (call: HookCall, about: About) => void): HookHandler {
  return {
    name,
    events: [event],
    kind: "observer",
    async handle(call, { id, name: agentName, team }) {
      tell(call, { agent: id, name: agentName, team });
      return undefined;
    },
  };
}

/** Protocol messages between programs, such as a shutdown request, are not messages. */
function messageIn(input: Readonly<Record<string, unknown>>): { to: string; content: string } | null {
  const { type = "message", to, recipient, message, content } = input;
  const [receiver, text] = [to ?? recipient, message ?? content];
  if (type !== "message" && type !== "broadcast") return null;
  if (typeof text !== "string" || text === "") return null;
  if (type === "broadcast") return { to: "*", content: cut(text, maxTextLength) };
  return typeof receiver === "string" && receiver !== "" ? { to: receiver, content: cut(text, maxTextLength) } : null;
}

function bounded(input: unknown): unknown {
  const text = JSON.stringify(input) ?? "null";
  return text.length <= maxTextLength ? input : { cut: cut(text, maxTextLength) };
}

const cut = (text: string, length: number): string => (text.length <= length ? text : `${text.slice(0, length - 1)}…`);
