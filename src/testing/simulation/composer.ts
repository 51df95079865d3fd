/**
 * A program with a framed composer, drawn as Claude Code draws its own: idle, working, with a dialog, with a draft, and
 * with long pastes folded. What was submitted goes to a simulated model.
 */
import type { SimulatedProgram, SimulatedScreen, Writer } from "./program.ts";

export type Activity = "idle" | "working" | "permission" | "dialog";

const frame = (width: number): string => `\x1b[38;5;246m${"─".repeat(width)}\x1b[39m`;
const accent = (text: string): string => `\x1b[38;5;153m${text}\x1b[39m`;
/** A paste with more lines than this shows as one mark. */
const foldsAbove = 3;

export interface ComposerEvents {
  /** Enter was pressed on a text. */
  readonly submitted: (text: string, by: Writer) => void;
  /** A dialog was answered with this key. */
  readonly answered: (key: string) => void;
  /** Something changed on the screen. */
  readonly drew: () => void;
  /** Tieline wrote where nothing may be written. */
  readonly wrong: (what: string) => void;
  readonly pasted: (text: string) => void;
  readonly swallowed: (what: "Enter" | "a paste") => void;
}

interface Piece {
  readonly text: string;
  readonly fold: number;
  readonly by: Writer;
}

export class ComposerProgram implements SimulatedProgram {
  readonly bracketedPaste = true;
  readonly alternateScreen = false;
  readonly #said: string[] = [];
  /** The draft in pieces; one that came by a long paste is folded. */
  #pieces: Piece[] = [];
  #folds = 0;
  #activity: Activity = "idle";
  #before: Activity = "idle";
  #drawn: SimulatedScreen | null = null;
  /** The next keys that it loses, as a program that is busy drawing does. */
  swallowsEnter = 0;
  swallowsPaste = 0;

  constructor(
    readonly command: string,
    private readonly events: ComposerEvents,
  ) {}

  get title(): string {
    return this.#activity === "working" ? "⠂ task" : "✳ task";
  }

  get activity(): Activity {
    return this.#activity;
  }

  get draft(): string {
    return this.#pieces.map(({ text }) => text).join("");
  }

  /** A dialog may open over a running turn, and closes back into it. */
  open(dialog: "permission" | "dialog"): void {
    if (this.#takesKeys) return;
    this.#before = this.#activity;
    this.#activity = dialog;
    this.#draw();
  }

  close(): void {
    if (!this.#takesKeys) return;
    this.#activity = this.#before;
    this.#draw();
  }

  work(isWorking: boolean): void {
    const activity = isWorking ? "working" : "idle";
    if (this.#takesKeys) this.#before = activity;
    else if (this.#activity !== activity) {
      this.#activity = activity;
      this.#draw();
    }
  }

  say(line: string): void {
    this.#said.push(`● ${line}`);
    if (this.#said.length > 12) this.#said.shift();
    this.#draw();
  }

  screen(width: number, height: number): SimulatedScreen {
    return (this.#drawn ??= this.#takesKeys ? this.#dialog() : this.#composer(width, height));
  }

  paste(text: string, bracketed: boolean): void {
    if (this.#takesKeys) {
      this.events.wrong(`a paste into a dialog`);
      return this.#answer(text);
    }
    this.events.pasted(text);
    if (this.swallowsPaste > 0) {
      this.swallowsPaste--;
      return this.events.swallowed("a paste");
    }
    if (this.#pieces.length > 0) this.events.wrong(`a paste into ${JSON.stringify(this.draft.slice(0, 40))}`);
    const lines = text.split("\n").length;
    this.#pieces.push({ text, fold: bracketed && lines > foldsAbove ? ++this.#folds : 0, by: "command" });
    this.#draw();
  }

  type(text: string, by: Writer): void {
    if (this.#takesKeys) return this.#answer(text);
    if (by === "command") this.events.wrong(`typed ${JSON.stringify(text)} key by key`);
    this.#pieces.push({ text, fold: 0, by });
    this.#draw();
  }

  key(name: string, by: Writer): void {
    if (this.#takesKeys) {
      if (by === "command") this.events.wrong(`${name} in a dialog`);
      return this.#answer(name);
    }
    if (by === "command" && name !== "Enter") this.events.wrong(`${name} in the composer`);
    if (name === "Enter") this.#enter(by);
    else if (name === "BSpace") this.#pieces.pop();
    else if (name === "C-u" || name === "Escape") this.#pieces = [];
    this.#draw();
  }

  get #takesKeys(): boolean {
    return this.#activity === "permission" || this.#activity === "dialog";
  }

  #answer(key: string): void {
    this.close();
    this.events.answered(key);
  }

  #enter(by: Writer): void {
    if (by === "command" && this.#pieces.some((piece) => piece.by === "user"))
      this.events.wrong(`Enter on ${JSON.stringify(this.draft.slice(0, 60))}, which a user typed in part`);
    if (by === "command" && this.swallowsEnter > 0) {
      this.swallowsEnter--;
      return this.events.swallowed("Enter");
    }
    const text = this.draft;
    if (text.trim() === "") return;
    this.#pieces = [];
    this.#said.push(`> ${text.split("\n")[0]}`);
    if (this.#said.length > 12) this.#said.shift();
    this.events.submitted(text, by);
  }

  #draw(): void {
    this.#drawn = null;
    this.events.drew();
  }

  #composer(width: number, height: number): SimulatedScreen {
    const above = [...this.#said, ...(this.#activity === "working" ? [accent("✻ Pondering… (3s)")] : [])];
    const shown = this.#pieces.map(({ text, fold }) => (fold === 0 ? text : foldMark(text, fold))).join("");
    const [first = "", ...others] = shown.split("\n");
    const composer = [`❯\u00a0${first}`, ...others.map((line) => `  ${line}`)];
    const footer = this.#activity === "working" ? "  esc to interrupt" : "  ? for shortcuts";
    const rows = [...above, "", frame(width), ...composer, frame(width), footer].slice(-height);
    return { rows, cursor: { x: composer.at(-1)!.length, y: rows.length - 3 } };
  }

  #dialog(): SimulatedScreen {
    const question = this.#activity === "permission" ? " Do you want to proceed?" : " Choose a theme";
    const rows = [...this.#said, "", question, ` ${accent("❯")} 1. Yes`, "   2. No", "", ` ${accent("Esc to cancel")}`];
    return { rows, cursor: { x: 1, y: rows.length - 4 } };
  }
}

const foldMark = (text: string, number: number): string =>
  `[Pasted text #${number} +${text.split("\n").length - 1} lines]`;
