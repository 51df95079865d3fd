import { asTielineError } from "../model/errors.ts";
import { BracketedPasteScanner } from "./bracketedPaste.ts";
import { ControlClient } from "./control.ts";
import { Floods } from "./floods.ts";
import type { Notification } from "./notification.ts";
import { commandLine } from "./quote.ts";
import type { TmuxServer } from "./server.ts";

/** What can change without any output. */
export interface WatchedFacts {
  dead: boolean;
  currentCommand: string;
}

export type SessionChange =
  /** At once. A character may be split between two of these, and a pane that prints very much is not heard out. */
  | { type: "output"; pane: string; bytes: Uint8Array }
  | { type: "bracketedPaste"; pane: string; on: boolean }
  /** tmux looks for these once a second; the first comes soon after the watch begins. */
  | { type: "facts"; pane: string; facts: WatchedFacts }
  | { type: "mode"; pane: string }
  /** Windows or panes came, went or moved: list them again. */
  | { type: "layout" }
  /** A client attached or detached. */
  | { type: "people" }
  /** Nothing follows. The session ended, or another client detached us; the owner decides whether to watch again. */
  | { type: "ended"; reason: string };

export interface SessionWatch extends AsyncDisposable {
  readonly session: string;
  /** As the program asked since the watch began; undefined where it said nothing. */
  bracketedPaste(pane: string): boolean | undefined;
  /** Ends the watch without an `ended`. */
  close(): Promise<void>;
}

/**
 * Watches all panes of one session with a client of its own; costs tmux a format per pane and second while it lasts.
 */
export async function watchSession(
  server: TmuxServer,
  session: string,
  onChange: (change: SessionChange) => void,
): Promise<SessionWatch> {
  const scanners = new Map<string, BracketedPasteScanner>();
  const facts = new Map<string, string>();
  let client: ControlClient | undefined;
  let home: string | undefined;
  let closing = false;

  const { timers } = server.clientOptions;
  const floods = new Floods({
    ...(timers && { timers }),
    pass(pane, passed) {
      // What it asks for meanwhile is not heard, so what it asked for before is not known any more.
      scanners.delete(pane);
      void client?.command(output([pane], passed ? "continue" : "pause")).catch(ignoreEnd);
    },
    rested: (pane) => onChange({ type: "output", pane, bytes: new Uint8Array() }),
  });

  function onOutput(pane: string, bytes: Uint8Array): void {
    const scanner = scanners.get(pane) ?? new BracketedPasteScanner();
    scanners.set(pane, scanner);
    const switched = scanner.scan(bytes);
    onChange({ type: "output", pane, bytes });
    floods.heard(pane, bytes.length);
    if (switched) onChange({ type: "bracketedPaste", pane, on: scanner.on === true });
  }

  function onFacts(listed: string): void {
    for (const [, pane = "", told = "", dead, currentCommand = ""] of listed.matchAll(watched)) {
      if (facts.get(pane) === told) continue;
      facts.set(pane, told);
      onChange({ type: "facts", pane, facts: { dead: dead === "1", currentCommand } });
    }
  }

  function onNotification(notification: Notification): void {
    switch (notification.type) {
      case "output":
        return onOutput(notification.pane, notification.bytes);
      case "subscription-changed":
        return onFacts(notification.value);
      case "pane-mode-changed":
        return onChange({ type: "mode", pane: notification.pane });
      case "window-add":
        void client?.command(subscription([notification.window])).catch(ignoreEnd);
        return onChange({ type: "layout" });
      case "window-close":
      case "layout-change":
        return onChange({ type: "layout" });
      case "session-window-changed":
      case "client-moved":
        return onChange({ type: "people" });
      case "session-changed":
        // tmux may move a client whose session ended to another one, which is not watched.
        home ??= notification.session;
        if (notification.session !== home) void client?.close();
    }
  }

  client = await ControlClient.attach({
    ...server.clientOptions,
    session,
    flags: ["ignore-size", "read-only"],
    onNotification,
  });
  void client.closed.then((reason) => {
    floods[Symbol.dispose]();
    if (!closing) onChange({ type: "ended", reason });
  });
  const windows = await client.command(commandLine([["list-windows", "-F", "#{window_id}"]]));
  await client.command(subscription(windows));

  /**
   * tmux 3.3a ends with a fault, and every pane with it, when a pane prints while a client is detaching with
   * output still to be written. Pausing a pane drops what is still to be written.
   */
  async function pauseOutput(watching: ControlClient): Promise<void> {
    const panes = await watching.command(commandLine([["list-panes", "-s", "-F", "#{pane_id}"]]));
    await watching.command(output(panes, "pause"));
  }

  async function close(): Promise<void> {
    closing = true;
    floods[Symbol.dispose]();
    if (client?.isOpen) await pauseOutput(client).catch(ignoreEnd);
    await client?.close();
  }
  return {
    session,
    bracketedPaste: (pane) => scanners.get(pane)?.on,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function output(panes: readonly string[], how: "pause" | "continue"): string {
  return commandLine([["refresh-client", ...panes.flatMap((pane) => ["-A", `${pane}:${how}`])]]);
}

/** A client that ended meanwhile has nothing left to be written. */
function ignoreEnd(fault: unknown): void {
  if (!["TMUX_UNAVAILABLE", "PANE_UNKNOWN"].includes(asTielineError(fault).code)) throw fault;
}

/**
 * One subscription for each window. tmux 3.3a ends with a fault when the session of a client that subscribed to all
 * panes ends before the client has left; named windows it looks for by themselves.
 */
function subscription(windows: readonly string[]): string {
  return commandLine([
    ["refresh-client", ...windows.flatMap((window) => ["-B", `${window}:${window}:${watchedFormat}`])],
  ]);
}

/** The base name of a command holds no `/`. */
const watchedFormat = "#{P:#{pane_id} #{?pane_dead,1,0} #{b:pane_current_command}/}";
const watched = /(%\d+) (([01]) ([^/]*))\//g;
