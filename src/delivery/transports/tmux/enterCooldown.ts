import type { LivePane } from "./paneStatus.ts";

/**
 * After Enter a prompt still looks free for a moment, until the program shows that it has begun. What is typed in that
 * moment joins the turn that begins, and may be read after what comes later.
 */
export class EnterCooldown {
  private readonly enteredAt = new Map<string, number>();

  entered(mark: string, now: number): void {
    this.enteredAt.set(mark, now);
  }

  /** It was seen at work, or asks something: it has begun. */
  saw({ snapshot: { pane }, reading }: LivePane): void {
    if (reading.state !== "idle" && reading.state !== "unknown") this.enteredAt.delete(pane.entered);
  }

  /** How long to wait for a sign; 0: there was one, or there will be none. */
  waitMs({ snapshot: { pane } }: LivePane, settleMs: number, now: number): number {
    const left = (this.enteredAt.get(pane.entered) ?? Number.NEGATIVE_INFINITY) + settleMs - now;
    if (left > 0) return left;
    this.enteredAt.delete(pane.entered);
    return 0;
  }
}
