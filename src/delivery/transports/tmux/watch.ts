import { asTielineError } from "../../../model/errors.ts";
import { elapsedFor, type Clock, type Elapsed } from "../../../model/ids.ts";
import { Ages } from "../../../os/ages.ts";
import { systemTimers, type Scheduled, type Timers } from "../../../os/timers.ts";
import { tmuxUnavailable } from "../../../tmux/failure.ts";
import { readPane, type PaneFacts } from "../../../tmux/pane.ts";
import type { TmuxServer } from "../../../tmux/server.ts";
import { watchSession, type SessionWatch } from "../../../tmux/watch.ts";
import { quietBySecond, type Quiet } from "./paneStatus.ts";

export interface PaneWatchOptions {
  readonly clock?: Clock | undefined;
  readonly timers?: Timers;
  /** Output comes in bursts; one read after the burst is enough, and one now and then while it does not end. */
  readonly burstMs?: number;
}

/**
 * One watching client per tmux session in which an agent has waiting mail or an open view; none when no mail waits.
 * It also remembers, while it lasts, when each pane last printed something and whether it asked for bracketed paste.
 */
export class PaneWatch implements Quiet {
  readonly timers: Timers;
  readonly burstMs: number;
  private readonly sessions = new Map<string, WatchedSession>();
  private readonly leaving = new Set<Promise<void>>();
  readonly elapsed: Elapsed;
  private readonly bySecond: Quiet;
  private closed = false;

  constructor(
    private readonly report: (context: string, fault: unknown) => void,
    { clock, timers = systemTimers, burstMs = 30 }: PaneWatchOptions = {},
  ) {
    this.timers = timers;
    this.burstMs = burstMs;
    this.elapsed = elapsedFor(clock);
    this.bySecond = quietBySecond(new Ages(clock));
  }

  watch(server: TmuxServer, pane: string, changed: () => void): Disposable {
    let session: WatchedSession | null = null;
    let again: Scheduled | null = null;
    let stopped = false;
    const join = (retryMs: number): void => {
      again = null;
      this.join(server, pane, changed)
        .then((joined) => {
          session = joined;
          if (stopped) this.leave(joined, pane, changed);
        })
        .catch((fault: unknown) => {
          const { code } = asTielineError(fault);
          if (code === "INTERNAL") this.report(`watch ${pane}`, fault);
          if (stopped || this.closed) return;
          // A client that could not be started now may be later, and nothing tells when.
          if (code !== "PANE_UNKNOWN")
            again = this.timers.after(retryMs, () => join(Math.min(2 * retryMs, mostRetryMs)));
          // It ended between the read and the watch; another read tells so.
          changed();
        });
    };
    join(firstRetryMs);
    return {
      [Symbol.dispose]: () => {
        stopped = true;
        again?.cancel();
        if (session) this.leave(session, pane, changed);
      },
    };
  }

  waitMs(pane: PaneFacts, quietMs: number): number {
    if (quietMs === 0) return 0;
    for (const session of this.sessions.values()) {
      if (!session.panes.has(pane.id)) continue;
      const since = session.outputAt.get(pane.id) ?? session.startedAt;
      const waitMs = Math.max(0, since + quietMs - this.elapsed());
      return Math.min(waitMs, this.bySecond.waitMs(pane, quietMs));
    }
    return this.bySecond.waitMs(pane, quietMs);
  }

  bracketedPaste(socket: string, pane: string): boolean | undefined {
    for (const [key, session] of this.sessions)
      if (key.startsWith(`${socket} `)) {
        const asked = session.watch?.bracketedPaste(pane);
        if (asked !== undefined) return asked;
      }
    return undefined;
  }

  async close(): Promise<void> {
    this.closed = true;
    const sessions = [...this.sessions.values()];
    this.sessions.clear();
    await Promise.all([...sessions.map((session) => session.close()), ...this.leaving]);
  }

  private async join(server: TmuxServer, pane: string, changed: () => void): Promise<WatchedSession> {
    const { sessionName } = await readPane(server, pane);
    if (this.closed) throw tmuxUnavailable("nothing is watched any more");
    const key = `${server.socketPath} ${sessionName}`;
    let session = this.sessions.get(key);
    if (session === undefined) {
      session = new WatchedSession(key, this, () => this.ended(key, server, sessionName));
      this.sessions.set(key, session);
      session.start(server, sessionName);
    }
    session.add(pane, changed);
    try {
      await session.started;
    } catch (fault) {
      if (this.sessions.get(key) === session) this.sessions.delete(key);
      throw fault;
    }
    return session;
  }

  private leave(session: WatchedSession, pane: string, changed: () => void): void {
    session.remove(pane, changed);
    if (session.panes.size > 0) return;
    this.sessions.delete(session.key);
    const leaving = session.close().catch((fault: unknown) => this.report(`stop watching ${session.key}`, fault));
    this.leaving.add(leaving);
    void leaving.then(() => this.leaving.delete(leaving));
  }

  /**
   * The session is over, or another client detached us, as `attach -d` does. Waiters for one of its panes should look
   * again, and while there are any we attach again.
   */
  private ended(key: string, server: TmuxServer, name: string, retryMs = comeBackMs): void {
    const session = this.sessions.get(key);
    if (session === undefined) return;
    session.tellAll();
    this.timers.after(retryMs, () => {
      if (this.sessions.get(key) !== session) return;
      session.start(server, name);
      session.started.then(
        () => session.tellAll(),
        (fault: unknown) => {
          if (asTielineError(fault).code === "PANE_UNKNOWN" || retryMs > mostRetryMs) this.sessions.delete(key);
          else this.ended(key, server, name, 2 * retryMs);
        },
      );
    });
  }
}

const firstRetryMs = 500;
const mostRetryMs = 30_000;
/** A user who keeps detaching all clients is not fought. */
const comeBackMs = 250;
/** Output that continues for this long is read although it has not ended. */
const endlessMs = 250;

interface WatchedSessionParts {
  readonly elapsed: Elapsed;
  readonly timers: Pick<Timers, "after">;
  readonly burstMs: number;
}

class WatchedSession {
  readonly panes = new Map<string, Set<() => void>>();
  readonly outputAt = new Map<string, number>();
  /** What was printed before is not known. */
  startedAt = 0;
  watch: SessionWatch | null = null;
  started: Promise<void> = Promise.resolve();
  private readonly cooldown = new Map<string, { since: number; timer: Scheduled }>();

  constructor(
    readonly key: string,
    private readonly parts: WatchedSessionParts,
    private readonly onEnded: () => void,
  ) {}

  start(server: TmuxServer, session: string): void {
    this.startedAt = this.parts.elapsed();
    this.outputAt.clear();
    const watching = watchSession(server, session, (change) => {
      if (change.type === "ended") return this.onEnded();
      if (change.type === "output") this.outputAt.set(change.pane, this.parts.elapsed());
      if ("pane" in change) this.settle(change.pane);
      else this.tellAll();
    });
    this.started = watching.then((watch) => {
      this.watch = watch;
    });
  }

  add(pane: string, changed: () => void): void {
    const listeners = this.panes.get(pane) ?? new Set();
    this.panes.set(pane, listeners.add(changed));
  }

  remove(pane: string, changed: () => void): void {
    const listeners = this.panes.get(pane);
    listeners?.delete(changed);
    if (listeners?.size === 0) this.panes.delete(pane);
  }

  tellAll(): void {
    for (const listeners of this.panes.values()) for (const changed of listeners) changed();
  }

  async close(): Promise<void> {
    for (const { timer } of this.cooldown.values()) timer.cancel();
    await this.started.catch(() => undefined);
    await this.watch?.close();
  }

  private settle(pane: string): void {
    if (!this.panes.has(pane)) return;
    const now = this.parts.elapsed();
    const waiting = this.cooldown.get(pane);
    waiting?.timer.cancel();
    const since = waiting?.since ?? now;
    const ms = Math.max(0, Math.min(this.parts.burstMs, since + endlessMs - now));
    this.cooldown.set(pane, { since, timer: this.parts.timers.after(ms, () => this.tell(pane)) });
  }

  private tell(pane: string): void {
    this.cooldown.delete(pane);
    for (const changed of this.panes.get(pane) ?? []) changed();
  }
}
