import { bareText, composerHolds, type ScreenManifest } from "../../../providers/screen.ts";
import type { TerminalTraits } from "../../../providers/traits.ts";
import type { LivePane } from "./paneStatus.ts";

/** `mixed`: our text and something else beside it, such as what a user typed behind it. */
export type ComposerContent = "ours" | "mixed" | "nothing" | "other";

/** The text where a user would type: exactly our text, nothing, or something else. */
export function composerContent(
  manifest: ScreenManifest,
  traits: TerminalTraits,
  status: LivePane,
  text: string,
  before: LivePane | null,
): ComposerContent {
  if (!traits.echo) return before !== null && sameScreen(before, status) ? "ours" : "other";
  if (!hasComposer(manifest, status)) return beforeCursor(status, text);
  switch (composerHolds(manifest, status.screen, text)) {
    case "exactly":
    case "collapsed":
      return "ours";
    case "empty":
      return "nothing";
    case "other":
      return isMixed(manifest, status, text) ? "mixed" : "other";
  }
}

/** Where the composer is known, its text is known too; elsewhere a screen may repeat our text anywhere. */
export function hasComposer(manifest: ScreenManifest, { reading }: LivePane): boolean {
  return manifest.composer !== undefined && reading.composer !== undefined;
}

function isMixed(manifest: ScreenManifest, { reading }: LivePane, text: string): boolean {
  const shown = reading.composer?.text ?? "";
  return bareText(shown).includes(bareText(text)) || (manifest.composer?.paste?.test(shown) ?? false);
}

/**
 * For programs whose composer we do not know: the screen up to the cursor ends with our text, and the cursor still
 * is in its last row. White space is left out of the comparison, because wrapping and tabs show as spaces; of a
 * text that is taller than the screen, the part that still shows must be all that shows.
 */
function beforeCursor({ snapshot: { pane, plain } }: LivePane, text: string): ComposerContent {
  const rows = plain.slice(0, pane.cursor.y + 1);
  if (pane.cursor.x === 0 || (rows.at(-1) ?? "").trim() === "") return "nothing";
  const shown = bareText(rows.join("\n"));
  const wanted = bareText(text);
  if (wanted.length <= shown.length) return shown.endsWith(wanted) ? "ours" : "nothing";
  return wanted.endsWith(shown) && shown.length > 0 ? "ours" : "nothing";
}

/** Nothing at all happened between the two: same rows, same cursor, nothing scrolled away. */
export function sameScreen({ snapshot: a }: LivePane, { snapshot: b }: LivePane): boolean {
  return (
    a.pane.cursor.x === b.pane.cursor.x &&
    a.pane.cursor.y === b.pane.cursor.y &&
    a.pane.historySize === b.pane.historySize &&
    a.plain.join("\n") === b.plain.join("\n")
  );
}
