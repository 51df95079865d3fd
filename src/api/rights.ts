/** Whose mail and screens a caller may read, and the check of every operation's access rule. */
import type { Directory } from "../agents/directory/directory.ts";
import type { Mailbox } from "../mailbox/port.ts";
import { userId, type Agent } from "../model/agent.ts";
import type { Delivery } from "../model/delivery.ts";
import { TielineError } from "../model/errors.ts";
import type { Event } from "../model/event.ts";
import { agentId, type AgentId } from "../model/ids.ts";
import type { Message, Sender } from "../model/message.ts";
import type { Receipt } from "../model/receipt.ts";
import type { Lookups } from "../routing/addresses/rules.ts";
import { partyOf } from "../routing/directoryRouting.ts";
import { permit } from "../routing/topology/topology.ts";
import { agentCalled, messageUnknown, type Resolving } from "./addressed.ts";
import type { Callers } from "./callers.ts";
import type { Call } from "./operation.ts";
import { definitions, operationNames, type Operations } from "./operations/index.ts";
import type { OperationName } from "./schema.ts";

export interface RightsParts extends Resolving {
  readonly directory: Directory;
  readonly mailbox: Pick<Mailbox, "receipt" | "message">;
  readonly lookups: Pick<Lookups, "topology">;
}

export class Rights {
  constructor(private readonly parts: RightsParts) {}

  readsEverything({ id }: Sender): boolean {
    return id === userId;
  }

  /** Itself, whom it spawned, and with `may: [read]` its team. */
  reads(from: Sender, id: AgentId): boolean {
    if (this.readsEverything(from) || from.id === id) return true;
    const { directory } = this.parts;
    const [reader, agent] = [directory.agent(from.id), directory.agent(id)];
    if (reader === null || agent === null || agent.id === userId) return false;
    return agent.startedBy === reader.id || (reader.may.includes("read") && agent.team === reader.team);
  }

  /** Those whose mail it may read, itself first. Not for who reads everything. */
  readable(from: Sender): readonly AgentId[] {
    const others = this.parts.directory.agents().filter(({ id }) => id !== from.id && this.reads(from, id));
    return [from.id, ...others.map(({ id }) => id)];
  }

  readsMessage(from: Sender, { message, deliveries }: Pick<Receipt, "message" | "deliveries">): boolean {
    return (
      this.readsEverything(from) ||
      this.reads(from, message.from.id) ||
      deliveries.some(({ agent }) => this.reads(from, agent))
    );
  }

  /**
   * The message with this tag or id. For a caller that may not read it, the error is that of a message that does not
   * exist.
   */
  messageCalled(from: Sender, tag: string): Message {
    const receipt = this.parts.mailbox.receipt(tag);
    if (receipt === null || !this.readsMessage(from, receipt)) throw messageUnknown(tag);
    return receipt.message;
  }

  /** The sender of a message sees all deliveries; a recipient sees its own. */
  shown<R extends Pick<Receipt, "message" | "deliveries">>(from: Sender, receipt: R): R {
    if (this.readsEverything(from) || this.reads(from, receipt.message.from.id)) return receipt;
    return { ...receipt, deliveries: receipt.deliveries.filter(({ agent }: Delivery) => this.reads(from, agent)) };
  }

  /** That it exists, and what it does: of those whom the caller may read or write to. */
  sees(from: Sender, agent: Agent): boolean {
    if (this.reads(from, agent.id)) return true;
    const party = partyOf(from, this.parts.directory);
    return permit(this.parts.lookups.topology(party.team), party, [agent]).permitted.length === 1;
  }

  /**
   * Of a message: callers that may read it. Of an agent's state: callers that see it. Of its activity: callers that may
   * read it.
   */
  readsEvent(from: Sender, event: Event): boolean {
    if (this.readsEverything(from)) return true;
    const { directory, mailbox } = this.parts;
    switch (event.type) {
      case "message.accepted":
      case "route.routed": {
        const receipt = mailbox.receipt(event.tag);
        return receipt !== null && this.readsMessage(from, receipt);
      }
      case "route.denied": {
        const sender = directory.roster.named(event.team, event.from);
        return sender !== null && this.reads(from, sender.id);
      }
      case "agent.registered":
      case "agent.changed": {
        const agent = directory.agent(event.agent);
        return agent !== null && this.sees(from, agent);
      }
      case "agent.removed":
      case "message.sent":
      case "tool.call":
      case "user.prompt":
      case "agent.response":
        return this.reads(from, event.agent);
      default: {
        const sender = mailbox.message(event.messageId)?.from.id;
        return this.reads(from, event.agent) || (sender !== undefined && this.reads(from, sender));
      }
    }
  }
}

/** Every operation behind its rule. The caller is identified once. */
export function guarded(operations: Operations, callers: Callers, rights: Rights, parts: RightsParts): Operations {
  const behind =
    (name: OperationName, run: (input: unknown, call: Call) => Promise<unknown>) =>
    async (input: unknown, call: Call) => {
      const named = input as Named;
      await check(name, named, call, { callers, rights, parts });
      if (named.all !== true) await callers.enter(call.caller, name);
      return run(input, call);
    };
  const entries = operationNames.map((name) => [name, behind(name, operations[name] as never)]);
  return Object.fromEntries(entries) as unknown as Operations;
}

/** What an input may name. */
interface Named {
  readonly tag?: string;
  readonly agent?: string;
  /** Every team, so the one of the caller's directory does not matter. */
  readonly all?: boolean;
}

interface Checking {
  readonly callers: Callers;
  readonly rights: Rights;
  readonly parts: RightsParts;
}

async function check(
  name: OperationName,
  { tag, agent }: Named,
  { caller }: Call,
  { callers, rights, parts }: Checking,
): Promise<void> {
  const rule = definitions[name].access;
  switch (rule) {
    case "open":
      return;
    case "everyone":
    case "own":
    case "readable":
      return void (await callers.sender(caller));
    case "user":
      return void (await callers.user(caller));
    case "message":
      return void rights.messageCalled(await callers.sender(caller), tag ?? "");
    case "agent": {
      const from = await callers.sender(caller);
      const meant = agent === undefined ? from : agentCalled(agent, from, parts);
      if (!rights.reads(from, agentId(meant.id))) throw mayNotRead(from, meant);
      return;
    }
    default:
      return void (await callers.allow(caller, rule));
  }
}

const mayNotRead = (from: Sender, { name }: Pick<Agent, "name">): TielineError =>
  new TielineError("NOT_PERMITTED", `${from.name} may not read the mail or the screen of ${name}`, {
    remedy:
      `the user can, the agent that spawned ${name}, and agents of its team with \`may: [read]\` in their ` + "profile",
    operands: { agent: name, permission: "read" },
  });
