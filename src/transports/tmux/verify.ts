import { composerHolds, type ScreenManifest } from "../../providers/screen.ts";
import type { TerminalTraits } from "../../providers/traits.ts";
import type { There } from "./sight.ts";

export type Standing = "ours" | "nothing" | "other";

/** What stands where a person would type: exactly our text, nothing, or something else. */
export function standing(manifest: ScreenManifest, traits: TerminalTraits, sight: There, text: string, before: There | null): Standing {
  if (!traits.echo) return before !== null && sameScreen(before, sight) ? "ours" : "other";
  if (manifest.composer && sight.reading.composer) {
    const held = composerHolds(manifest, sight.screen, text);
    if (held === "exactly" || held === "collapsed") return "ours";
    if (held === "empty") return "nothing";
    return "other";
  }
  return beforeCursor(sight, text);
}

/**
 * For programs whose composer we do not know: the screen up to the cursor ends with our text, and the cursor still
 * stands in its last row. White space is left out of the comparison, because wrapping and tabs show as spaces; of a
 * text that is taller than the screen, the part that still shows must be all that shows.
 */
function beforeCursor({ look: { pane, plain } }: There, text: string): Standing {
  const rows = plain.slice(0, pane.cursor.y + 1);
  if (pane.cursor.x === 0 || (rows.at(-1) ?? "").trim() === "") return "nothing";
  const shown = squeeze(rows.join("\n"));
  const wanted = squeeze(text);
  if (wanted.length <= shown.length) return shown.endsWith(wanted) ? "ours" : "nothing";
  return wanted.endsWith(shown) && shown.length > 0 ? "ours" : "nothing";
}

const squeeze = (text: string): string => text.normalize("NFC").replaceAll(/\s+/g, "");

function sameScreen(before: There, now: There): boolean {
  return before.look.plain.join("\n") === now.look.plain.join("\n");
}
