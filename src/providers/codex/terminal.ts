import type { Escaped } from "../../model/envelope.ts";
import type { TerminalTraits } from "../traits.ts";

/** Codex adds the skill named after a $, anywhere in the text, and the plugin of a link that begins with an @. */
export const codexMentions: Escaped = { as: { $: "$\\", "[@": "[@\\" }, from: "agents" };

export const terminal: Partial<TerminalTraits> = {
  pasteLimit: 1_000_000,
  collapsesAbove: 1_000,
  turnStartMs: 1_000,
  escaped: codexMentions,
};
