import type { Agent } from "../model/agent.ts";
import type { Outcome } from "../model/delivery.ts";
import { lowestRank, type Attempt, type Readiness, type Transport } from "../delivery/transports/port.ts";

/** A transport whose recipient the test plays. */
export class PlayedTransport implements Transport {
  readonly name = "tmux";
  traits: Transport["traits"] = { bestProof: "screen", authority: "user", rank: lowestRank };
  readonly written: string[] = [];
  readonly prefetched: string[] = [];
  readiness: Readiness = { kind: "ready" };
  outcome: Outcome | (() => Promise<Outcome>) = { kind: "delivered", proof: "screen" };
  inspected: Outcome = { kind: "unknown", detail: "?" };
  watchers = 0;
  looks = 0;
  inFlight = 0;
  mostInFlight = 0;
  private changed: () => void = () => undefined;

  prefetch({ name }: Agent): void {
    this.prefetched.push(`${name} after ${this.looks} looks`);
  }

  ready(): Promise<Readiness> {
    this.looks++;
    return Promise.resolve(this.readiness);
  }

  async deliver({ message }: Attempt): Promise<Outcome> {
    this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight);
    this.written.push(message.body);
    try {
      return typeof this.outcome === "function" ? await this.outcome() : this.outcome;
    } finally {
      this.inFlight--;
    }
  }

  inspect(): Promise<Outcome> {
    return Promise.resolve(this.inspected);
  }

  watch(_agent: Agent, _endpoint: unknown, changed: () => void): Disposable {
    this.watchers++;
    this.changed = changed;
    return { [Symbol.dispose]: () => void this.watchers-- };
  }

  open(): void {
    this.readiness = { kind: "ready" };
    this.changed();
  }
}
