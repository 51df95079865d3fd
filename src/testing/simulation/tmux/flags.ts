/** The flags of the commands that Tieline uses, as tmux reads them. */
import { CommandFailure } from "./state.ts";

/** Flags of commands: those that stand alone, and those with a value. */
const booleans: Readonly<Record<string, string>> = {
  "display-message": "p",
  "list-panes": "as",
  "capture-pane": "pe",
  "paste-buffer": "prd",
  "send-keys": "lH",
  "set-option": "pu",
  "show-options": "pqv",
  "copy-mode": "q",
  if: "F",
  "if-shell": "F",
  "bind-key": "r",
  "unbind-key": "aq",
  "wait-for": "LUS",
  "new-window": "adP",
  "new-session": "dP",
  "respawn-pane": "k",
  "run-shell": "b",
};
const values: Readonly<Record<string, string>> = {
  "display-message": "t",
  "list-sessions": "F",
  "list-windows": "tF",
  "list-panes": "tF",
  "list-clients": "tF",
  "capture-pane": "tSE",
  "set-buffer": "b",
  "delete-buffer": "b",
  "paste-buffer": "bt",
  "send-keys": "t",
  "set-option": "t",
  "show-options": "t",
  "copy-mode": "t",
  if: "t",
  "if-shell": "t",
  "bind-key": "TN",
  "unbind-key": "T",
  "list-keys": "T",
  "switch-client": "ctT",
  "kill-pane": "t",
  "new-window": "tFnce",
  "new-session": "sFnxyce",
  "respawn-pane": "tce",
  "rename-window": "t",
  "run-shell": "d",
  "refresh-client": "AB",
  "set-environment": "t",
  "select-window": "t",
};

export class Flags {
  readonly words: string[] = [];
  readonly #values = new Map<string, string>();
  readonly #set = new Set<string>();

  constructor(name: string, rest: readonly string[]) {
    const [alone, valued] = [booleans[name] ?? "", values[name] ?? ""];
    for (let at = 0; at < rest.length; at++) {
      const word = rest[at]!;
      if (word === "--") {
        this.words.push(...rest.slice(at + 1));
        return;
      }
      if (!/^-[A-Za-z]/.test(word) || this.words.length > 0) {
        this.words.push(...rest.slice(at));
        return;
      }
      for (const letter of word.slice(1)) {
        if (alone.includes(letter)) this.#set.add(letter);
        else if (valued.includes(letter)) this.#values.set(letter, rest[++at] ?? "");
        else throw new CommandFailure(`unknown flag -${letter}`);
      }
    }
  }

  has(letter: string): boolean {
    return this.#set.has(letter);
  }

  get(letter: string): string | undefined {
    return this.#values.get(letter);
  }
}
