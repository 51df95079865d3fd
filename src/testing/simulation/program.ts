/** A program in a simulated pane: it draws a screen and takes keys. What it does with them is its own business. */
export interface SimulatedScreen {
  /** With SGR sequences, one string per row. */
  readonly rows: readonly string[];
  readonly cursor: { readonly x: number; readonly y: number };
}

export interface SimulatedProgram {
  /** As `#{pane_current_command}` names it. */
  readonly command: string;
  readonly title: string;
  readonly bracketedPaste: boolean;
  readonly alternateScreen: boolean;
  screen(width: number, height: number): SimulatedScreen;
  /** Text that arrives as one paste; brackets only where it asked for them. */
  paste(text: string, bracketed: boolean): void;
  /** One key by tmux's name for it, or literal text. */
  key(name: string): void;
  type(text: string): void;
}
