/** What a caller's words mean, or the refusal. */
import type { Mailbox } from "../mailbox/port.ts";
import type { Agent } from "../model/agent.ts";
import { TielineError } from "../model/errors.ts";
import type { Message } from "../model/message.ts";

/** For what is done to one agent at a time. */
export function onlyAgent(address: string, agents: readonly Agent[]): Agent {
  if (agents.length === 1) return agents[0]!;
  throw new TielineError("ADDRESS_AMBIGUOUS", `${address} means ${agents.length} agents`, {
    remedy: "name one agent",
    operands: { address, candidates: agents.map((agent) => agent.name) },
  });
}

export function messageCalled(tag: string, mailbox: Pick<Mailbox, "message">): Message {
  const message = mailbox.message(tag);
  if (message !== null) return message;
  throw new TielineError("MESSAGE_UNKNOWN", `there is no message ${tag}`, {
    remedy: "`tieline log` lists the messages; old ones are removed by the retention settings",
    operands: { message: tag },
  });
}
