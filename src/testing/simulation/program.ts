/** A program in a simulated pane: it draws a screen and takes keys. What it does with them is its own business. */
export interface SimulatedScreen {
  /** With SGR sequences, one string per row. */
  readonly rows: readonly string[];
  readonly cursor: { readonly x: number; readonly y: number };
}

/** Who writes: a user at a terminal, or a command of tmux, which is Tieline. */
export type Writer = "user" | "command";

export interface SimulatedProgram {
  /** As `#{pane_current_command}` names it. */
  readonly command: string;
  readonly title: string;
  readonly bracketedPaste: boolean;
  readonly alternateScreen: boolean;
  screen(width: number, height: number): SimulatedScreen;
  /** Text that arrives as one paste; brackets only where it asked for them. */
  paste(text: string, bracketed: boolean): void;
  /** One key by tmux's name for it. */
  key(name: string, by: Writer): void;
  /** Literal text. */
  type(text: string, by: Writer): void;
}

/** A shell, an editor, or whatever else takes the place of an agent. Nothing of Tieline's may reach it. */
export class ForeignProgram implements SimulatedProgram {
  readonly title = "";
  readonly bracketedPaste = true;
  readonly alternateScreen = false;

  constructor(
    readonly command: string,
    /** Told what Tieline wrote into it. */
    private readonly wrong: (what: string) => void,
  ) {}

  screen = (): SimulatedScreen => ({ rows: [`$ `], cursor: { x: 2, y: 0 } });
  paste = (text: string): void => this.wrong(`pasted ${JSON.stringify(text.slice(0, 40))} into ${this.command}`);
  key(name: string, by: Writer): void {
    if (by === "command") this.wrong(`pressed ${name} in ${this.command}`);
  }
  type(text: string, by: Writer): void {
    if (by === "command") this.wrong(`typed ${JSON.stringify(text.slice(0, 40))} into ${this.command}`);
  }
}
