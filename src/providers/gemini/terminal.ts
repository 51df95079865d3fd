import type { TerminalTraits } from "../traits.ts";

export const terminal: Partial<TerminalTraits> = {
  // It silently drops what is submitted while a turn is ending, although its prompt is free again.
  quietMs: 300,
  bracketedPaste: "always",
  collapsesAbove: 500,
  enterGapMs: 100,
  redrawMs: 100,
  stripInvisible: true,
  // It attaches a file whose name merely begins with what follows an @, and writes the whole name into the text.
  escaped: { as: { "@": "\\@" }, from: "anyone" },
};
