/** How long the daemon may take for an operation, as the command line sees it. */
import type { OperationName } from "../api/schema.ts";

/** Milliseconds. What waits by design adds its own time. */
export const deadlines = {
  usual: 30_000,
  /** Programs are started or ended, one after the other, or the whole mailbox is read. */
  long: 600_000,
} as const;

const startsOrEnds: readonly OperationName[] = [
  "up",
  "down",
  "spawn",
  "stop",
  "kill",
  "restart",
  "resume",
  "teamShutdown",
  "teamDisband",
];
const readsMailbox: readonly OperationName[] = ["backup", "doctor"];
const takesLong: ReadonlySet<OperationName> = new Set([...startsOrEnds, ...readsMailbox]);

export function deadlineOf(name: OperationName, input: object): number {
  const { timeoutMs = 0, waitMs = 0 } = input as { timeoutMs?: number; waitMs?: number };
  return (takesLong.has(name) ? deadlines.long : deadlines.usual) + timeoutMs + waitMs;
}
