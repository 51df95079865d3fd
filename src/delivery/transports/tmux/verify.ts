import { bareText, composerHolds, type ScreenManifest } from "../../../providers/screen.ts";
import type { TerminalTraits } from "../../../providers/traits.ts";
import type { There } from "./sight.ts";

/** `mixed`: our text and something else beside it, such as what a user typed behind it. */
export type Standing = "ours" | "mixed" | "nothing" | "other";

/** What stands where a user would type: exactly our text, nothing, or something else. */
export function standing(
  manifest: ScreenManifest,
  traits: TerminalTraits,
  sight: There,
  text: string,
  before: There | null,
): Standing {
  if (!traits.echo) return before !== null && sameScreen(before, sight) ? "ours" : "other";
  if (!hasComposer(manifest, sight)) return beforeCursor(sight, text);
  switch (composerHolds(manifest, sight.screen, text)) {
    case "exactly":
    case "collapsed":
      return "ours";
    case "empty":
      return "nothing";
    case "other":
      return isMixed(manifest, sight, text) ? "mixed" : "other";
  }
}

/** Where the composer is known, what stands in it is known too; elsewhere a screen may repeat our text anywhere. */
export function hasComposer(manifest: ScreenManifest, { reading }: There): boolean {
  return manifest.composer !== undefined && reading.composer !== undefined;
}

function isMixed(manifest: ScreenManifest, { reading }: There, text: string): boolean {
  const shown = reading.composer?.text ?? "";
  return bareText(shown).includes(bareText(text)) || (manifest.composer?.paste?.test(shown) ?? false);
}

/**
 * For programs whose composer we do not know: the screen up to the cursor ends with our text, and the cursor still
 * stands in its last row. White space is left out of the comparison, because wrapping and tabs show as spaces; of a
 * text that is taller than the screen, the part that still shows must be all that shows.
 */
function beforeCursor({ look: { pane, plain } }: There, text: string): Standing {
  const rows = plain.slice(0, pane.cursor.y + 1);
  if (pane.cursor.x === 0 || (rows.at(-1) ?? "").trim() === "") return "nothing";
  const shown = bareText(rows.join("\n"));
  const wanted = bareText(text);
  if (wanted.length <= shown.length) return shown.endsWith(wanted) ? "ours" : "nothing";
  return wanted.endsWith(shown) && shown.length > 0 ? "ours" : "nothing";
}

/** Nothing at all happened between the two: same rows, same cursor, nothing scrolled away. */
export function sameScreen({ look: a }: There, { look: b }: There): boolean {
  return (
    a.pane.cursor.x === b.pane.cursor.x &&
    a.pane.cursor.y === b.pane.cursor.y &&
    a.pane.historySize === b.pane.historySize &&
    a.plain.join("\n") === b.plain.join("\n")
  );
}
