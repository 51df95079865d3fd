/** Keeps what is known of agents true to what their programs say of themselves, where those can be listened to. */
import type { Directory } from "../directory/directory.ts";
import type { Mailbox } from "../mailbox/port.ts";
import { isLive, type Agent } from "../model/agent.ts";
import { provesSeen, type Delivery } from "../model/delivery.ts";
import type { Event } from "../model/event.ts";
import type { AgentId, DeliveryId } from "../model/ids.ts";
import type { Said } from "../sensing/ownWord.ts";

export interface TalkingProgram {
  /** The way in by which it also talks. */
  readonly transport: string;
  watch(agent: Agent, changed: () => void): Disposable;
  said(agent: Agent): Said | null;
  /** The conversation that the agent is in; null: none that is known. */
  sessionOf(agent: Agent): string | null;
}

export interface ProgramLinkParts {
  readonly program: TalkingProgram;
  readonly directory: Directory;
  readonly mailbox: Pick<Mailbox, "onTransitions" | "deliveriesIn">;
  readonly onEvent: (listener: (event: Event) => void) => () => void;
  /** The program said something new. */
  readonly changed: (agent: AgentId) => void;
  /** What was given to it without proof may be proved now, and so may these. */
  readonly reconsider: (agent: AgentId, handed: readonly DeliveryId[]) => Promise<void>;
  readonly report: (context: string, fault: unknown) => void;
}

export class ProgramLink implements Disposable {
  private readonly watched = new Map<AgentId, { readonly key: string; readonly watch: Disposable }>();
  /** What was handed over and may still turn out to have been read. */
  private readonly unproved = new Map<AgentId, Set<DeliveryId>>();
  /** One look at the mail of an agent at a time; what came meanwhile asks for another. */
  private readonly looking = new Map<AgentId, { again: boolean }>();
  private readonly stack = new DisposableStack();

  constructor(private readonly parts: ProgramLinkParts) {}

  start(): void {
    const { directory, mailbox, onEvent } = this.parts;
    for (const delivery of mailbox.deliveriesIn(["handed"])) this.note(delivery);
    this.stack.defer(mailbox.onTransitions((changes) => changes.forEach(({ delivery }) => this.note(delivery))));
    this.stack.defer(
      onEvent((event) => {
        if (event.type === "agent.registered" || event.type === "agent.changed" || event.type === "agent.removed") this.attend(event.agent);
      }),
    );
    for (const { id } of directory.agents()) this.attend(id);
  }

  [Symbol.dispose](): void {
    this.stack.dispose();
    for (const { watch } of this.watched.values()) watch[Symbol.dispose]();
  }

  private note({ id, agent, transport, state, proof }: Delivery): void {
    const known = this.unproved.get(agent);
    if (transport !== this.parts.program.transport || state !== "handed" || (proof !== null && provesSeen(proof))) {
      known?.delete(id);
      return;
    }
    this.unproved.set(agent, (known ?? new Set()).add(id));
  }

  private attend(id: AgentId): void {
    const { directory, program } = this.parts;
    const agent = directory.agent(id);
    const endpoint = agent !== null && isLive(agent) ? agent.endpoints.find(({ transport }) => transport === program.transport) : undefined;
    const key = endpoint === undefined ? "" : JSON.stringify(endpoint.locator);
    const known = this.watched.get(id);
    if ((known?.key ?? "") === key) return;
    known?.watch[Symbol.dispose]();
    this.watched.delete(id);
    if (agent === null || endpoint === undefined) return;
    this.watched.set(id, { key, watch: program.watch(agent, () => this.refresh(id)) });
  }

  private refresh(id: AgentId): void {
    const { directory, program, changed, report } = this.parts;
    const agent = directory.agent(id);
    const said = agent !== null && isLive(agent) ? program.said(agent) : null;
    if (agent === null || said === null) return;
    const sessionId = program.sessionOf(agent);
    if (sessionId !== agent.sessionId) directory.update(id, { sessionId });
    if (agent.state !== said.state || agent.stateReason !== said.reason) directory.observe(id, said.state, said.reason);
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
