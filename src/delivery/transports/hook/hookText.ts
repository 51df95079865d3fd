import type { Agent } from "../../../model/agent.ts";
import { envelope, type Envelope } from "../../../model/envelope.ts";
import type { Message } from "../../../model/message.ts";
import type { HookCall } from "../../../providers/hooks/hookCall.ts";

/**
 * What the model reads of a message in a hook's answer: the whole text, or a summary if it has more than so many bytes.
 */
export type HookText = (message: Message, call: HookCall, agent: Agent, limit: number) => Envelope;

export const textOf = (
  message: Message,
  { dialect }: Pick<HookCall, "dialect">,
  inlineLimit: number,
  command?: string,
): Envelope => envelope(message, { multiline: true, inlineLimit, command }, dialect.besideTheUser ? "user" : "peer");

/** As the program has to be given a context for its model to read what was meant, which may take more room. */
export const asContext =
  (text: HookText): HookText =>
  (message, call, agent, limit) => {
    const { written } = call.dialect;
    const whole = text(message, call, agent, limit);
    const sent = Buffer.byteLength(written(whole.text)) <= limit ? whole : text(message, call, agent, 0);
    return { ...sent, text: written(sent.text) };
  };
