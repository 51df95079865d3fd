/**
 * What must hold in every run, checked as soon as something happens. The tables of the disk are the truth about what
 * Tieline promised; what the simulated programs and models got is the truth about what it did.
 */
import type { MemoryTables } from "../../mailbox/memory/store.ts";
import {
  mayFollow,
  provesSeen,
  strongerProof,
  type Delivery,
  type DeliveryState,
  type Proof,
  type Transition,
} from "../../model/delivery.ts";
import type { AgentId, DeliveryId } from "../../model/ids.ts";
import { wakes, type Message } from "../../model/message.ts";
import type { VirtualTime } from "./virtualTime.ts";

/** What one delivery has done to the world. */
interface Account {
  state: DeliveryState | null;
  proof: Proof | null;
  /** How often the text came into the conversation since it was last queued by the user. */
  reached: number;
  /** The model was asked with it. */
  asked: boolean;
  entered: boolean;
  /** Its place among the texts of its agent is not promised any more: the user sent it again, or it was forgotten. */
  unordered: boolean;
  claimed: { readonly at: number; readonly wallAt: number } | null;
}

const orderedMs = 10_000;

export class Violation extends Error {
  override readonly name = "Violation";

  constructor(
    readonly oracle: string,
    detail: string,
  ) {
    super(`${oracle}: ${detail}`);
  }
}

export class Oracles {
  readonly #accounts = new Map<DeliveryId, Account>();
  readonly #promised = new Set<string>();
  /** How often each text of a sender came to an agent. One text may be several messages, if Tieline takes it so. */
  readonly #texts = new Map<string, number>();
  /** Per agent, sender and urgency: the last delivery that the model has in its context. */
  readonly #lastEntered = new Map<string, DeliveryId>();
  violation: Violation | null = null;

  constructor(
    private readonly tables: MemoryTables,
    private readonly time: Pick<VirtualTime, "elapsed" | "now">,
  ) {}

  /** A sender has the receipt. */
  accepted(tag: string): void {
    this.#promised.add(tag);
    this.#mustBeKept(tag);
  }

  /** These changes are on the disk. */
  committed(transitions: readonly Transition[]): void {
    for (const transition of transitions) this.#moved(transition);
  }

  /** Tieline wrote where nothing may be written. */
  wrong(what: string): void {
    this.#fail("nothing is written into a dialog, a draft, copy mode, a shell or another program", what);
  }

  /** Tieline reported a fault that it has no words for. */
  unexpected(what: string): void {
    this.#fail("no fault is unexpected", what);
  }

  took(agent: AgentId, tag: string): void {
    const found = this.#deliveryOf(agent, tag);
    if (found === null) return this.#fail("only accepted messages arrive", `${tag} came to ${agent}`);
    const account = this.#accountOf(found.id);
    account.reached++;
    const text = this.#textOf(found.id);
    const times = (this.#texts.get(text) ?? 0) + 1;
    this.#texts.set(text, times);
    if (account.reached > 1 || times > 1)
      this.#fail("each text reaches a model at most once", `${tag} came to ${found.agentName} ${times} times`);
  }

  /** The conversation lost it with its process, before it was written down. */
  forgot(agent: AgentId, tag: string): void {
    const found = this.#deliveryOf(agent, tag);
    if (found === null) return;
    const account = this.#accountOf(found.id);
    account.reached--;
    const text = this.#textOf(found.id);
    this.#texts.set(text, (this.#texts.get(text) ?? 0) - 1);
    account.unordered = true;
  }

  /** The model has it in its context, behind all that entered before. */
  entered(agent: AgentId, tag: string): void {
    const found = this.#deliveryOf(agent, tag);
    const message = found && this.tables.messages.get(found.messageId);
    if (!found || !message) return;
    const account = this.#accountOf(found.id);
    account.entered = true;
    const lane = `${agent} ${message.from.id} ${found.when}`;
    const last = this.#lastEntered.get(lane);
    if (last !== undefined && last > found.id && !account.unordered && !this.#accountOf(last).unordered)
      this.#fail("messages of one sender and urgency arrive in order", `${tag} came behind delivery ${last}`);
    this.#lastEntered.set(lane, last === undefined || found.id > last ? found.id : last);
  }

  asked(agent: AgentId, tag: string): void {
    const found = this.#deliveryOf(agent, tag);
    if (found !== null) this.#accountOf(found.id).asked = true;
  }

  /** After every step. */
  check(): void {
    for (const tag of this.#promised) this.#mustBeKept(tag);
    if (this.violation !== null) throw this.violation;
  }

  /** When the faults are over and time has passed: what can be served was. */
  settled(live: (agent: AgentId) => boolean): string[] {
    return [...this.tables.deliveries.values()].flatMap((delivery) => {
      const message = this.tables.messages.get(delivery.messageId)!;
      const waits = delivery.state === "queued" && wakes(message.kind) && live(delivery.agent);
      return waits || delivery.state === "claimed" ? [this.#words(delivery, message)] : [];
    });
  }

  /** It was delivered, the model has answered behind it, and its record shows that. */
  unseen(): string[] {
    return [...this.tables.deliveries.values()].flatMap((delivery) => {
      const { asked, unordered } = this.#accountOf(delivery.id);
      const message = this.tables.messages.get(delivery.messageId)!;
      return asked && !unordered && delivery.state === "delivered" ? [this.#words(delivery, message)] : [];
    });
  }

  fail(oracle: string, detail: string): never {
    this.#fail(oracle, detail);
    throw this.violation!;
  }

  #words({ agentName, state, reason, detail }: Delivery, { tag }: Message): string {
    return `${tag} to ${agentName} is ${state}${reason ? ` (${reason})` : ""}${detail ? `: ${detail}` : ""}`;
  }

  #moved(transition: Transition): void {
    const { delivery: id, verb, from, to, proof, detail } = transition;
    const account = this.#accountOf(id);
    if (!mayFollow(from, verb, to) || account.state !== from)
      this.#fail("states follow the table", `delivery ${id} went from ${account.state} (${from}) by ${verb} to ${to}`);
    if (verb === "retry") {
      [account.reached, account.proof, account.unordered] = [0, null, true];
      this.#texts.delete(this.#textOf(id));
    }
    if (verb === "claim") account.claimed = { at: this.time.elapsed(), wallAt: this.time.now() };
    if (from === "uncertain" && to === "queued" && this.#isOld(account)) account.unordered = true;
    const goesBack = ["claimed", "uncertain"].includes(from ?? "") && verb === "settle";
    if (goesBack && (to === "queued" || to === "failed") && account.reached > 0)
      this.#fail("what is settled as absent did not arrive", `delivery ${id} became ${to} (${detail}), but it arrived`);
    if (to === "failed" && detail === null) this.#fail("what ends badly has a reason", `delivery ${id} has none`);
    if (to === "seen" && !account.asked)
      this.#fail("seen means that the model has it", `delivery ${id} is seen by ${proof}`);
    if (proof !== null && account.proof !== null && proof !== account.proof && !strongerProof(account.proof, proof))
      this.#fail("proofs never get weaker", `delivery ${id} had ${account.proof}, and has ${proof}`);
    if (account.proof !== null && provesSeen(account.proof) && verb !== "retry" && proof === null)
      this.#fail("proofs never get weaker", `delivery ${id} had ${account.proof}, and has none`);
    account.state = to;
    if (proof !== null) account.proof = proof;
  }

  /** Others wait for a delivery in doubt for ten seconds, by the clock that Tieline has. */
  #isOld({ claimed }: Account): boolean {
    if (claimed === null) return true;
    const wallMs = this.time.now() - claimed.wallAt;
    return this.time.elapsed() - claimed.at > orderedMs || wallMs > orderedMs || wallMs < 0;
  }

  #mustBeKept(tag: string): void {
    if (!this.tables.byTag.has(tag)) this.#fail("what was accepted is kept", `${tag} is gone`);
  }

  #deliveryOf(agent: AgentId, tag: string): Delivery | null {
    const message = this.tables.byTag.get(tag);
    if (message === undefined) return null;
    for (const delivery of this.tables.deliveries.values())
      if (delivery.messageId === message.id && delivery.agent === agent) return delivery;
    return null;
  }

  #textOf(id: DeliveryId): string {
    const { agent, messageId } = this.tables.deliveries.get(id)!;
    return `${agent} ${this.tables.messages.get(messageId)!.body}`;
  }

  #accountOf(id: DeliveryId): Account {
    let account = this.#accounts.get(id);
    if (account === undefined) {
      account = { state: null, proof: null, reached: 0, asked: false, entered: false, unordered: false, claimed: null };
      this.#accounts.set(id, account);
    }
    return account;
  }

  #fail(oracle: string, detail: string): void {
    this.violation ??= new Violation(oracle, detail);
  }
}
