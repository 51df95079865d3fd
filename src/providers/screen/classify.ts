import { composerText, findComposer, visibleRows } from "./composer.ts";
import type { ScreenManifest, ScreenState } from "./manifest.ts";
import { maxRows, type Screen } from "./parse.ts";
import { rowsAbove, ruleHolds, type View } from "./rules.ts";

export interface ScreenReading {
  state: ScreenState;
  /** Text of a user, or a mode that changes what Enter does, is in the composer. */
  draft: boolean;
  /** The name of the rule that fired; `none` when no rule did. */
  rule: string;
  why: string;
  /** `row` counts from the first of the given lines. */
  composer?: { text: string; row: number };
  /** Why its model does not answer, while the program tries again. */
  retrying?: string;
}

/**
 * The first rule that holds names the state. Pure; copy mode is the caller's to judge, the screen beneath reads the
 * same.
 */
export function classify(manifest: ScreenManifest, screen: Screen): ScreenReading {
  const rows = visibleRows(screen);
  const composer = manifest.composer && findComposer(manifest.composer, rows, screen);
  const view: View = { screen, rows, composer };
  const rule = manifest.rules.find((candidate) => ruleHolds(candidate, view));
  const state = rule?.state ?? "unknown";
  const live = state !== "done" && composer !== undefined;
  const error = state === "working" ? retryReason(manifest, view) : undefined;
  return {
    state,
    draft: rule?.draft ?? (live && composer.draft),
    rule: rule?.name ?? "none",
    why: rule?.why ?? "no rule of this program's manifest fits the screen",
    ...(error !== undefined && { retrying: error }),
    ...(live && {
      composer: { text: composerText(composer), row: composer.row + Math.max(screen.lines.length - maxRows, 0) },
    }),
  };
}

function retryReason({ retrying }: ScreenManifest, view: View): string | undefined {
  if (retrying === undefined) return undefined;
  const rows = rowsAbove(view, retrying.rows).map(({ text }) => text);
  if (!rows.some((text) => retrying.line.test(text))) return undefined;
  const said = rows
    .map((text) => (retrying.because ?? retrying.line).exec(text)?.groups?.["error"])
    .find((text) => text !== undefined);
  return said?.trim() ?? "it does not say why";
}

/** What `tieline explain --screen` answers for a capture; every piece of knowledge about the pane may be missing. */
export function explainScreen(
  manifest: ScreenManifest,
  capture: string,
  known: Omit<Screen, "lines"> = {},
): Pick<ScreenReading, "state" | "draft" | "rule" | "why"> {
  const { state, draft, rule, why } = classify(manifest, { ...known, lines: capture.replace(/\n$/, "").split("\n") });
  return { state, draft, rule, why };
}
