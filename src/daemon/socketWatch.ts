/**
 * Knows when the daemon's socket is no longer at its place: removed, or moved away with its home. No client can reach
 * the daemon then, and the next command starts another.
 */
import { lstatSync } from "node:fs";
import { systemTimers, type Timers } from "../os/timers.ts";

export interface SocketWatch extends Disposable {
  /** Whether what is at its place is the socket that was there at the start. */
  isThere(): boolean;
}

/** A look now and then: its directory is the mailbox's, and would tell of every write there. */
const lookMs = 5_000;

export function watchSocket(
  socket: string,
  onGone: () => void,
  timers: Pick<Timers, "every"> = systemTimers,
): SocketWatch {
  const own = identityOf(socket);
  const isThere = (): boolean => identityOf(socket) === own;
  const look = (): void => {
    if (isThere()) return;
    beat.cancel();
    onGone();
  };
  const beat = timers.every(lookMs, look, { background: true });
  return { isThere, [Symbol.dispose]: () => beat.cancel() };
}

function identityOf(path: string): string | null {
  const stats = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  return stats === undefined ? null : `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
}
