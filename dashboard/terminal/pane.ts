/** An agent's pane, drawn by xterm.js from the rows that the daemon sends. */
import { Terminal, type ITheme } from "@xterm/xterm";
import type { PaneFrame } from "../../src/daemon/paneStream.ts";
import { inTeam } from "../api.ts";
import { withStyleNonce } from "./styleNonce.ts";

export interface PaneOptions {
  readonly team: string;
  readonly agent: string;
  readonly signal: AbortSignal;
  readonly onProblem: (text: string | null) => void;
  readonly attempt: (work: () => Promise<unknown>) => Promise<boolean>;
}

export function showPane(box: HTMLElement, { team, agent, signal, onProblem, attempt }: PaneOptions): { setTyping(on: boolean): void } {
  const terminal = new Terminal({ fontSize: 13, fontFamily: "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace", scrollback: 1_000, disableStdin: true, theme: themeOf(box), cursorBlink: false });
  withStyleNonce(() => terminal.open(box));
  let keys = "";
  let sending: Promise<unknown> | null = null;

  const source = new EventSource(`/v1/pane?${new URLSearchParams({ agent: `${team}:${agent}` })}`);
  source.addEventListener("message", ({ data }) => {
    onProblem(null);
    draw(terminal, JSON.parse(String(data)) as PaneFrame);
  });
  source.addEventListener("error", () => onProblem("The picture stopped; looking again…"));
  terminal.onData((data) => {
    keys += data;
    sending ??= sendKeys().finally(() => (sending = null));
  });
  signal.addEventListener("abort", () => {
    source.close();
    terminal.dispose();
  });

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
  };
}

function draw(terminal: Terminal, { cols, rows, cursor, changed, history }: PaneFrame): void {
  if (terminal.cols !== cols || terminal.rows !== rows) terminal.resize(cols, rows);
  const before = history === undefined ? "" : `\x1b[2J\x1b[3J\x1b[H${history.map((line) => `\x1b[0m${line}\r\n`).join("")}${"\r\n".repeat(history.length === 0 ? 0 : rows - 1)}`;
  const lines = changed.map(([row, text]) => `\x1b[${row + 1};1H\x1b[0m${text}\x1b[0m\x1b[K`).join("");
  // Without wrapping, a row that fills the width leaves the next one alone.
  terminal.write(`\x1b[?7l${before}${lines}\x1b[${cursor.y + 1};${cursor.x + 1}H`);
}

function themeOf(box: HTMLElement): ITheme {
  const style = getComputedStyle(box);
  const dark = style.colorScheme === "dark" || (style.colorScheme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  return { background: style.backgroundColor, foreground: style.color, cursor: style.color, selectionBackground: "#4c6ef566", ...(dark ? {} : lightColours) };
}

/** The bright defaults of terminals can not be read on white. */
const lightColours: ITheme = { black: "#1d1f23", red: "#b3261e", green: "#1a7f4b", yellow: "#8a5a00", blue: "#2f5bd3", magenta: "#8e3bb0", cyan: "#0b7285", white: "#5d6270", brightBlack: "#5d6270", brightRed: "#c0312b", brightGreen: "#1a7f4b", brightYellow: "#8a5a00", brightBlue: "#2f5bd3", brightMagenta: "#8e3bb0", brightCyan: "#0b7285", brightWhite: "#1d1f23" };
