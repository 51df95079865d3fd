/** An agent's pane, drawn by xterm.js from the rows that the daemon sends. */
import { Terminal, type ITheme } from "@xterm/xterm";
import type { PaneFrame } from "../../src/daemon/paneStream.ts";
import { failureOf } from "../actions.ts";
import { inTeam, session } from "../api.ts";
import { watchPane } from "./paneStream.ts";
import { withStyleNonce } from "./styleNonce.ts";

export interface PaneOptions {
  readonly team: string;
  readonly agent: string;
  readonly signal: AbortSignal;
  readonly onProblem: (text: string | null) => void;
  /** The user has typed enough: Ctrl ]. */
  readonly onLeave: () => void;
  readonly attempt: (work: () => Promise<unknown>) => Promise<boolean>;
  readonly onHistory: (state: HistoryState) => void;
}

/** The lines above the screen: how many are shown here, and how many tmux has. */
export interface HistoryState {
  readonly lines: number;
  readonly size: number;
  readonly isScrolled: boolean;
}

export interface ShownPane {
  setTyping(on: boolean): void;
  /** A screen further up; asks for more lines where they are needed. */
  older(): void;
  toEnd(): void;
}

/** A frame has this many lines above the screen, and more when one scrolls to their top. */
const firstLines = 500;
const mostLines = 10_000;

export function showPane(
  box: HTMLElement,
  { team, agent, signal, onProblem, onLeave, attempt, onHistory }: PaneOptions,
): ShownPane {
  const terminal = new Terminal({
    fontSize: 13,
    fontFamily: "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace",
    lineHeight: 1.1,
    scrollback: mostLines,
    disableStdin: true,
    theme: themeOf(box),
    cursorBlink: false,
  });
  withStyleNonce(() => terminal.open(box));
  const observer = new ResizeObserver(() => fit(terminal, box));
  observer.observe(box);
  const scrollback = { wanted: firstLines, lines: 0, size: 0, isStale: false, isAsked: false, keepsLine: false };
  let before = 0;
  let reopen = new AbortController();
  let keys = "";
  let sending: Promise<unknown> | null = null;

  const onFrame = (frame: PaneFrame): void => {
    onProblem(null);
    const isResized = terminal.cols !== frame.cols || terminal.rows !== frame.rows;
    // A new frame with history is drawn from its beginning; what one reads stays where it is.
    const grown = scrollback.keepsLine ? Math.max(0, (frame.historySize ?? 0) - scrollback.size) : 0;
    const fromEnd = frame.history === undefined || distance() === 0 ? 0 : distance() + grown;
    if (frame.history === undefined) scrollback.isStale = true;
    else {
      const { length: lines } = frame.history;
      Object.assign(scrollback, { lines, size: frame.historySize ?? lines, isStale: false, isAsked: false });
    }
    draw(terminal, frame, () => {
      if (fromEnd > 0) terminal.scrollToLine(Math.max(0, terminal.buffer.active.baseY - fromEnd));
      tellHistory();
    });
    if (!isResized) return;
    fit(terminal, box);
    // The prompt is what people look for, and it is at the end.
    requestAnimationFrame(() => (box.scrollTop = box.scrollHeight));
  };
  watch().catch((thrown: unknown) => onProblem(failureOf(thrown).message));
  terminal.attachCustomKeyEventHandler((event) => {
    if (!event.ctrlKey || event.key !== "]") return true;
    if (event.type === "keydown") onLeave();
    return false;
  });
  terminal.onData((data) => {
    keys += data;
    sending ??= sendKeys().finally(() => (sending = null));
  });
  const onScroll = terminal.onScroll(scrolled);
  box.addEventListener("wheel", ({ deltaY }) => deltaY < 0 && requestAnimationFrame(scrolled), {
    signal,
    passive: true,
  });
  box.addEventListener("keydown", ({ key }) => key === "PageUp" && requestAnimationFrame(scrolled), { signal });
  signal.addEventListener("abort", () => {
    onScroll.dispose();
    observer.disconnect();
    terminal.dispose();
  });

  /** How many lines the view is above the end. */
  function distance(): number {
    const { baseY, viewportY } = terminal.buffer.active;
    return baseY - viewportY;
  }

  function tellHistory(): void {
    if (!signal.aborted) onHistory({ lines: scrollback.lines, size: scrollback.size, isScrolled: distance() > 0 });
  }

  /** Frames hold only the screen: lines that left it since are read again when one scrolls up, and more at the top. */
  function scrolled(): void {
    if (signal.aborted) return;
    const wasAtEnd = before === 0;
    before = distance();
    tellHistory();
    if (scrollback.isAsked) return;
    const isAtTop = terminal.buffer.active.viewportY === 0;
    const hasMore = scrollback.lines < Math.min(scrollback.size, mostLines);
    if (isAtTop && hasMore) scrollback.wanted = Math.min(mostLines, scrollback.lines * 4);
    else if (distance() === 0 || !scrollback.isStale) return;
    // From the end one wants the lines that just left the screen; further up, the line that one reads stays.
    scrollback.keepsLine = !wasAtEnd;
    scrollback.isAsked = true;
    reopen.abort();
  }

  /** Only while it can be seen: a stream takes one of the few connections that a browser has for all tabs. */
  async function watch(): Promise<void> {
    while (!signal.aborted) {
      await untilVisible(signal);
      reopen = new AbortController();
      const shown = whileVisible(AbortSignal.any([signal, reopen.signal]));
      const end = await watchPane({
        send: session.fetch,
        address: `${team}:${agent}`,
        history: scrollback.wanted,
        signal: shown,
        onFrame,
        onBreak: () => onProblem("The connection broke; trying again…"),
      });
      if (end) return onProblem(`${end.message}; ${end.remedy}`);
    }
  }

  /** In the order in which they were pressed, however slow the way is. */
  async function sendKeys(): Promise<void> {
    while (keys !== "" && !signal.aborted) {
      const typed = keys.slice(0, 2_000);
      keys = keys.slice(typed.length);
      await attempt(() => inTeam(team).call("typeKeys", { agent, keys: typed }));
    }
  }

  return {
    setTyping(on) {
      terminal.options.disableStdin = !on;
      terminal.options.cursorBlink = on;
      if (on) terminal.focus();
    },
    older() {
      terminal.scrollPages(-1);
      scrolled();
    },
    toEnd() {
      terminal.scrollToBottom();
      scrolled();
    },
  };
}

function untilVisible(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (!document.hidden || signal.aborted) resolve();
  document.addEventListener("visibilitychange", () => document.hidden || resolve(), { signal });
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise;
}

/** Aborted with the signal, or when the page is hidden. */
function whileVisible(signal: AbortSignal): AbortSignal {
  const over = new AbortController();
  const both = AbortSignal.any([signal, over.signal]);
  document.addEventListener("visibilitychange", () => document.hidden && over.abort(), { signal: both });
  return both;
}

function draw(terminal: Terminal, { cols, rows, cursor, changed, history }: PaneFrame, done: () => void): void {
  if (terminal.cols !== cols || terminal.rows !== rows) terminal.resize(cols, rows);
  const past = history?.map((line) => `\x1b[0m${line}\r\n`).join("");
  const scrolled = "\r\n".repeat(history === undefined || history.length === 0 ? 0 : rows - 1);
  const before = past === undefined ? "" : `\x1b[2J\x1b[3J\x1b[H${past}${scrolled}`;
  const lines = changed.map(([row, text]) => `\x1b[${row + 1};1H\x1b[0m${text}\x1b[0m\x1b[K`).join("");
  // Without wrapping, a row that fills the width leaves the next one alone.
  terminal.write(`\x1b[?7l${before}${lines}\x1b[${cursor.y + 1};${cursor.x + 1}H`, done);
}

/** As large as the whole picture fits into the box, within what can be read. */
function fit(terminal: Terminal, box: HTMLElement): void {
  const style = getComputedStyle(box);
  const room = {
    width: box.clientWidth - 2 * parseFloat(style.paddingLeft) - 14,
    height: box.clientHeight - 2 * parseFloat(style.paddingTop),
  };
  const size = Math.min(room.width / (terminal.cols * 0.61), room.height / (terminal.rows * 1.32));
  terminal.options.fontSize = Math.max(11, Math.min(15, Math.floor(size * 2) / 2));
}

function themeOf(box: HTMLElement): ITheme {
  const { backgroundColor: background, color: foreground } = getComputedStyle(box);
  return { background, foreground, cursor: foreground, selectionBackground: "#4c6ef566" };
}
