import type { AgentId } from "../../../model/ids.ts";
import type { Look } from "../../../tmux/pane.ts";

/** A look that was begun while its message was still on the way to the disk. */
export interface Foreseen {
  /** When it was begun: the pane was seen then or later. */
  readonly at: number;
  /** Null: it failed. Whoever looks again learns why. */
  readonly look: Promise<Look | null>;
}

/** The looks that nobody has asked for yet. Each serves one question, and none that comes late. */
export class Foresight {
  private readonly looks = new Map<AgentId, Foreseen>();

  constructor(private readonly freshMs: number) {}

  /** One look serves all messages that come to an agent at the same moment. */
  begin(agent: AgentId, now: number, look: () => Promise<Look>): void {
    for (const [id, { at }] of this.looks) if (now - at > this.freshMs) this.looks.delete(id);
    if (!this.looks.has(agent)) this.looks.set(agent, { at: now, look: look().catch(() => null) });
  }

  take(agent: AgentId, now: number): Foreseen | null {
    const foreseen = this.looks.get(agent);
    this.looks.delete(agent);
    return foreseen && now - foreseen.at <= this.freshMs ? foreseen : null;
  }
}
