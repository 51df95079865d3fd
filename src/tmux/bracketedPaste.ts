/** Follows a program's output for its requests to switch bracketed paste on or off. */
export class BracketedPasteScanner {
  /** Undefined until the program has said anything about it. */
  on: boolean | undefined;
  #tail = "";

  /** True when the state changed. */
  scan(bytes: Uint8Array): boolean {
    const before = this.on;
    const text = this.#tail + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
    for (const [sequence, modes, final] of text.matchAll(relevant)) {
      if (sequence === reset) this.on = false;
      else if (modes?.split(";").includes("2004")) this.on = final === "h";
    }
    // A sequence may be cut in two by the chunks in which it arrives.
    this.#tail = unfinished.exec(text)?.[0] ?? "";
    return this.on !== before;
  }
}

// oxlint-disable no-control-regex -- escape sequences are what is looked for
const reset = "\x1bc";
const relevant = /\x1bc|\x1b\[\?([\d;]{1,64})([hl])/g;
const unfinished = /\x1b(?:\[(?:\?[\d;]{0,64})?)?$/;
