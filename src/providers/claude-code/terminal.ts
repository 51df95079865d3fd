import type { Escaped } from "../../model/envelope.ts";
import type { TerminalTraits } from "../traits.ts";

/** Claude Code attaches any file named after an @, anywhere in the text, without asking. */
export const claudeFiles: Escaped = { as: { "@": "\\@" }, from: "agents" };

export const terminal: Partial<TerminalTraits> = {
  pasteLimit: 1_000_000,
  stripInvisible: true,
  expandsTabs: true,
  escaped: claudeFiles,
};
