/** What keeps an urgent message from its agent until later than its sender asked for, in words for the receipt. */
import type { Mailbox } from "../mailbox/port.ts";
import type { Agent, AgentState } from "../model/agent.ts";
import type { Delivery } from "../model/delivery.ts";
import { rankOf, type Message, type When } from "../model/message.ts";
import type { Transport } from "./transports/port.ts";
import { selectEndpoints } from "./transportSelection.ts";

export interface LatenessParts {
  readonly mailbox: Pick<Mailbox, "note">;
  readonly transportOf: (name: string) => Transport;
  /** The command that lets Tieline reach agents of a provider in mid-turn; null: there is none. */
  readonly remedyFor: (provider: string) => string | null;
}

/** In these the program does not wait for a prompt, so that urgency makes a difference. */
const inTurn: ReadonlySet<AgentState> = new Set(["working", "permission", "question", "dialog"]);

export class Lateness {
  constructor(private readonly parts: LatenessParts) {}

  /**
   * Says on the receipt of a message that waits for the end of a turn, or of a tool call, that it was meant to come
   * sooner.
   */
  async announce(agent: Agent, message: Message, delivery: Delivery): Promise<void> {
    if (!inTurn.has(agent.state)) return;
    const text = this.textFor(agent, message);
    if (text !== null) await this.parts.mailbox.note(delivery.id, "degraded", text);
  }

  /** Takes that back when a transport was there in time after all. */
  async takeBack(agent: Agent, message: Message, delivery: Delivery): Promise<void> {
    if (delivery.transport === null || !delivery.notes.some(({ code }) => code === "degraded")) return;
    const earliest = momentAt(this.parts.transportOf(delivery.transport), agent);
    if (earliest !== null && rankOf(earliest) <= rankOf(message.when))
      await this.parts.mailbox.note(delivery.id, "degraded", null);
  }

  private textFor(agent: Agent, message: Message): string | null {
    const { transportOf, remedyFor } = this.parts;
    if (message.when === "turn") return null;
    const moments = selectEndpoints(agent, message, transportOf).flatMap(
      ({ endpoint }) => momentAt(transportOf(endpoint.transport), agent) ?? [],
    );
    const earliest = moments.toSorted((a, b) => rankOf(a) - rankOf(b))[0];
    if (earliest === undefined || rankOf(earliest) <= rankOf(message.when)) return null;
    const remedy = remedyFor(agent.provider);
    const why =
      remedy === null
        ? reasons[earliest](agent.name)
        : `no hook of ${agent.name} calls Tieline; run \`${remedy}\`, then restart ${agent.name}`;
    return `--when ${message.when} works only as --when ${earliest}: ${why}`;
  }
}

const momentAt = (transport: Transport, agent: Agent): When | null =>
  transport.earliest ? transport.earliest(agent) : "turn";

const reasons: Readonly<Record<When, (name: string) => string>> = {
  interrupt: () => "",
  tool: (name) => `the tool calls of ${name} cannot be refused`,
  turn: (name) => `${name} can only be reached between turns`,
};
