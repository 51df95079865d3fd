import type { Courier } from "../../../courier.ts";
import { personId, type Agent } from "../../../model/agent.ts";
import type { Message, When } from "../../../model/message.ts";
import { dialectOf } from "../../../providers/hookDialects.ts";
import { describeTool, type HookCall } from "../call.ts";
import type { HookHandler } from "../chain.ts";

export interface MailParts {
  readonly courier: Pick<Courier, "collect">;
  readonly text: (message: Message, call: HookCall, agent: Agent) => string;
}

/** A program takes this many characters of hook text at once; what is longer it cuts off. */
export const hookTextLimit = 9_000;

/** Which mail goes out at which moment. */
const dueAt: Readonly<Record<string, readonly When[]>> = {
  PreToolUse: ["tool"],
  PostToolUse: ["interrupt", "tool"],
  PostToolBatch: ["interrupt", "tool"],
  UserPromptSubmit: ["interrupt", "tool", "turn"],
  Stop: ["interrupt", "tool", "turn"],
};

/** The events at which queued mail of these urgencies may go out. */
export const eventsWithMail = (whens: ReadonlySet<When>, agent: Agent): string[] =>
  Object.keys(dueAt).filter((event) => dueAt[event]!.some((when) => whens.has(when)) && (event !== "PreToolUse" || speaksBefore(agent.provider, agent)));

/** Waiting mail goes to the model with what it reads next anyway: a tool's result, a prompt, the end of its turn. */
export function mailAtBoundaries({ courier, text }: MailParts): HookHandler {
  return {
    name: "waiting mail",
    events: Object.keys(dueAt),
    priority: 50,
    kind: "speaker",

    async handle(call, agent) {
      if (call.subagent !== null || (call.event === "PreToolUse" && !speaksBefore(call.provider, agent))) return undefined;
      let room = hookTextLimit;
      const collected = await courier.collect(agent, {
        transport: "hook",
        authority: "peer",
        whens: dueAt[call.event]!,
        take(message) {
          if (!goesHere(message, agent)) return false;
          room -= text(message, call, agent).length + 2;
          return room >= 0;
        },
      });
      if (collected.items.length === 0) return undefined;
      const where = call.tool === null ? `with ${call.event}` : `${call.event === "PreToolUse" ? "with" : "after"} ${describeTool(call.tool)}`;
      return {
        context: collected.items.map(({ message }) => text(message, call, agent)).join("\n\n"),
        written: () => collected.flushed({ kind: "handed", proof: "submitted", detail: where }),
        lost: () => collected.flushed({ kind: "held", hold: { reason: "busy", detail: "the hook went away before it was answered" } }),
      };
    },
  };
}

const speaksBefore = (provider: string, agent: Agent): boolean => dialectOf(provider).speaksBeforeTools && !isServed(agent);

/** At idle a person's message goes as the user's own word, which a hook's text is not; it waits for that. */
const goesHere = ({ from, when }: Message, agent: Agent): boolean => when !== "turn" || (from.id !== personId && !isServed(agent));

/** An app server takes what comes at idle as what it is; a hook's text would stand above the user's words. */
const isServed = ({ endpoints }: Agent): boolean => endpoints.some(({ transport }) => transport === "codex-server");
