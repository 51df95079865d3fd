/** Keeps what is known of agents true to what their programs say of themselves, where those can be listened to. */
import type { Directory } from "../agents/directory/directory.ts";
import type { Mailbox } from "../mailbox/port.ts";
import { endpointBy, isLive, type Agent } from "../model/agent.ts";
import { provesSeen, type Delivery } from "../model/delivery.ts";
import type { AgentId, DeliveryId } from "../model/ids.ts";
import type { ReportedState } from "../agents/status/reportedState.ts";
import { AgentWatches, type AgentWatchesParts } from "../agents/status/agentWatches.ts";

export interface TalkingProgram {
  /** The transport by which it also reports. */
  readonly transport: string;
  watch(agent: Agent, changed: () => void): Disposable;
  reportedState(agent: Agent): ReportedState | null;
  /** The conversation that the agent is in; null: none that is known. */
  sessionOf(agent: Agent): string | null;
}

export interface ProgramLinkParts {
  readonly program: TalkingProgram;
  readonly directory: Directory;
  readonly mailbox: Pick<Mailbox, "onTransitions" | "deliveriesIn">;
  readonly onEvent: AgentWatchesParts["onEvent"];
  /** The program said something new. */
  readonly changed: (agent: AgentId) => void;
  /** What was given to it without proof may be proved now, and so may these. */
  readonly reconsider: (agent: AgentId, delivered: readonly DeliveryId[]) => Promise<void>;
  readonly report: (context: string, fault: unknown) => void;
}

export class ProgramLink implements Disposable {
  private readonly attendance: AgentWatches;
  /** What was delivered and may still turn out to have been read. */
  private readonly unproved = new Map<AgentId, Set<DeliveryId>>();
  /** One check of an agent's mail at a time; a report during it asks for another. */
  private readonly looking = new Map<AgentId, { again: boolean }>();
  private stopListening: () => void = () => undefined;

  constructor(private readonly parts: ProgramLinkParts) {
    const { directory, onEvent, program } = parts;
    this.attendance = new AgentWatches({
      directory,
      onEvent,
      placeOf: (agent) => {
        const endpoint = endpointBy(program.transport, agent);
        return endpoint === undefined ? null : JSON.stringify(endpoint.locator);
      },
      watch: (agent) => program.watch(agent, () => this.refresh(agent.id)),
    });
  }

  start(): void {
    const { mailbox } = this.parts;
    for (const delivery of mailbox.deliveriesIn(["delivered"])) this.note(delivery);
    this.stopListening = mailbox.onTransitions((changes) => changes.forEach(({ delivery }) => this.note(delivery)));
    this.attendance.start();
  }

  [Symbol.dispose](): void {
    this.stopListening();
    this.attendance[Symbol.dispose]();
  }

  private note({ id, agent, transport, state, proof }: Delivery): void {
    const known = this.unproved.get(agent);
    if (transport !== this.parts.program.transport || state !== "delivered" || (proof !== null && provesSeen(proof))) {
      known?.delete(id);
      return;
    }
    this.unproved.set(agent, (known ?? new Set()).add(id));
  }

  private refresh(id: AgentId): void {
    const { directory, program, changed, report } = this.parts;
    const agent = directory.agent(id);
    const reported = agent !== null && isLive(agent) ? program.reportedState(agent) : null;
    if (agent === null || reported === null) return;
    const sessionId = program.sessionOf(agent);
    if (sessionId !== agent.sessionId) directory.update(id, { sessionId });
    if (agent.state !== reported.state || agent.stateReason !== reported.reason)
      directory.observe(id, reported.state, reported.reason);
    changed(id);
    void this.look(id).catch((fault: unknown) => report(`look for the mail of ${agent.name}`, fault));
  }

  private async look(id: AgentId): Promise<void> {
    const underWay = this.looking.get(id);
    if (underWay) {
      underWay.again = true;
      return;
    }
    const look = { again: true };
    this.looking.set(id, look);
    try {
      while (look.again) {
        look.again = false;
        await this.parts.reconsider(id, [...(this.unproved.get(id) ?? [])]);
      }
    } finally {
      this.looking.delete(id);
    }
  }
}
