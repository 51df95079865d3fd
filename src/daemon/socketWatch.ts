/**
 * Knows when the daemon's socket is no longer at its place: removed, or moved away with its home. No client can reach
 * the daemon then, and the next command starts another.
 */
import { lstatSync } from "node:fs";

export interface SocketWatch extends Disposable {
  /** Whether what is at its place is the socket that was there at the start. */
  isThere(): boolean;
}

/** A look now and then: its directory is the mailbox's, and would tell of every write there. */
const lookMs = 5_000;

export function watchSocket(socket: string, onGone: () => void): SocketWatch {
  const own = identityOf(socket);
  const isThere = (): boolean => identityOf(socket) === own;
  const beat = setInterval(() => {
    if (isThere()) return;
    clearInterval(beat);
    onGone();
  }, lookMs);
  beat.unref();
  return { isThere, [Symbol.dispose]: () => clearInterval(beat) };
}

function identityOf(path: string): string | null {
  const stats = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  return stats === undefined ? null : `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
}
