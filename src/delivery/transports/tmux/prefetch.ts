import type { AgentId } from "../../../model/ids.ts";
import type { PaneSnapshot } from "../../../tmux/pane.ts";

/** A snapshot that was started while its message was still being written to disk. */
export interface Prefetched {
  /** When the capture started; the snapshot is as new as this or newer. */
  readonly at: number;
  /** Null: the capture failed; the next read reports why. */
  readonly snapshot: Promise<PaneSnapshot | null>;
}

/** Snapshots taken in advance. Each is used once, and only while it is fresh. */
export class Prefetch {
  private readonly snapshots = new Map<AgentId, Prefetched>();

  constructor(private readonly freshMs: number) {}

  /** One snapshot serves all messages that reach an agent at the same moment. */
  begin(agent: AgentId, now: number, capture: () => Promise<PaneSnapshot>): void {
    for (const [id, { at }] of this.snapshots) if (now - at > this.freshMs) this.snapshots.delete(id);
    if (!this.snapshots.has(agent)) this.snapshots.set(agent, { at: now, snapshot: capture().catch(() => null) });
  }

  take(agent: AgentId, now: number): Prefetched | null {
    const prefetched = this.snapshots.get(agent);
    this.snapshots.delete(agent);
    return prefetched && now - prefetched.at <= this.freshMs ? prefetched : null;
  }
}
