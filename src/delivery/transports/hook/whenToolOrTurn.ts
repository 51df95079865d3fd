import type { Courier } from "../../courier.ts";
import { userId, type Agent } from "../../../model/agent.ts";
import { notesOn, type Envelope } from "../../../model/envelope.ts";
import type { MessageId } from "../../../model/ids.ts";
import type { Message, When } from "../../../model/message.ts";
import type { HookDialect } from "../../../providers/hooks/hookDialect.ts";
import { describeTool, type HookCall } from "../../../providers/hooks/hookCall.ts";
import type { HookHandler } from "../../../providers/hooks/hookHandler.ts";
import type { HookText } from "./hookText.ts";

interface MailParts {
  readonly courier: Pick<Courier, "collect">;
  readonly text: HookText;
}

/** Which mail goes out at which moment. */
const dueAt: Readonly<Record<string, readonly When[]>> = {
  PreToolUse: ["tool"],
  PostToolUse: ["interrupt", "tool"],
  PostToolBatch: ["interrupt", "tool"],
  UserPromptSubmit: ["interrupt", "tool", "turn"],
  Stop: ["interrupt", "tool", "turn"],
};

/** The events at which queued mail of these urgencies may go out. */
export const eventsWithMail = (whens: ReadonlySet<When>, agent: Agent, dialect: HookDialect): string[] =>
  Object.keys(dueAt).filter(
    (event) =>
      dueAt[event]!.some((when) => whens.has(when)) && (event !== "PreToolUse" || speaksBefore(dialect, agent)),
  );

/** Waiting mail goes to the model with what it reads next anyway: a tool's result, a prompt, the end of its turn. */
export function whenToolOrTurn({ courier, text }: MailParts): HookHandler {
  return {
    name: "waiting mail",
    events: Object.keys(dueAt),
    kind: "speaker",

    async handle(call, agent) {
      if (call.subagent !== null || (call.event === "PreToolUse" && !speaksBefore(call.dialect, agent)))
        return undefined;
      const limit = limitAt(call, call.event);
      const most = Math.max(...Object.keys(dueAt).map((event) => limitAt(call, event)));
      const sent = new Map<MessageId, Envelope>();
      let room = limit;
      const collected = await courier.collect(agent, {
        transport: "hook",
        authority: "peer",
        whens: dueAt[call.event]!,
        take(message) {
          if (!goesHere(message, call.dialect, agent)) return false;
          const envelope = text(message, call, agent, limit);
          const bytes = Buffer.byteLength(envelope.text) + 2;
          // Another event of the turn takes it whole, or another transport at its end; and here is more room the next
          // time.
          const elsewhere = !envelope.inline && (message.when === "turn" || text(message, call, agent, most).inline);
          if (elsewhere || bytes > room) return false;
          room -= bytes;
          sent.set(message.id, envelope);
          return true;
        },
      });
      if (collected.items.length === 0) return undefined;
      const where =
        call.tool === null
          ? `with ${call.event}`
          : `${call.event === "PreToolUse" ? "with" : "after"} ${describeTool(call.tool)}`;
      return {
        context: collected.items.map(({ message }) => sent.get(message.id)!.text).join("\n\n"),
        written: () =>
          collected.flushed(({ id }) => ({
            kind: "delivered",
            proof: "submitted",
            detail: where,
            notes: notesOn(sent.get(id)!),
          })),
        lost: () =>
          collected.flushed({
            kind: "held",
            hold: { reason: "busy", detail: "the hook went away before it was answered" },
          }),
      };
    },
  };
}

const limitAt = ({ dialect, takesAll }: HookCall, event: string): number => dialect.contextLimit(event, takesAll);

const speaksBefore = (dialect: HookDialect, agent: Agent): boolean =>
  dialect.speaksBeforeTools && !dialect.takesMailAtIdle(agent);

/** At idle the user's message goes in as the user's own prompt, which a hook's text is not. It waits for that. */
const goesHere = ({ from, when }: Message, dialect: HookDialect, agent: Agent): boolean =>
  when !== "turn" || (from.id !== userId && !dialect.takesMailAtIdle(agent));
