/** The text of a message for one pane: which form the program there takes. */
import type { Agent } from "../../../model/agent.ts";
import type { Envelope } from "../../../model/envelope.ts";
import { isPosixShell } from "../../../os/shell.ts";
import type { ReadTtyMode } from "../../../os/tty.ts";
import type { Attempt } from "../port.ts";
import type { PaneAccess } from "./access.ts";
import type { LivePane } from "./paneStatus.ts";
import { canonicalLimit, paneText, type Taking } from "./text.ts";
import type { PaneWatch } from "./watch.ts";

export interface PaneInputParts {
  readonly watches: PaneWatch;
  readonly platform: NodeJS.Platform;
  readonly ttyMode: ReadTtyMode;
  /** How an agent runs `tieline`. */
  readonly command?: (agent: Agent) => string;
}

/** Null: the pane is so small that not even a doorbell could be checked in it. */
export async function textFor(
  { message, agent }: Attempt,
  access: PaneAccess,
  status: LivePane,
  parts: PaneInputParts,
): Promise<Envelope | null> {
  const taking = {
    ...(await takingOf(access, status, parts)),
    ...actingTraits(status),
    command: parts.command?.(agent),
  };
  return paneText(message, access.traits, taking, "user");
}

/** Whether the program takes several lines at once: tmux knows, or we saw it ask, or its terminal tells. */
async function takingOf(
  { traits, locator, manifest }: PaneAccess,
  { snapshot: { pane }, reading }: LivePane,
  { watches, platform, ttyMode }: PaneInputParts,
): Promise<Taking> {
  const framed =
    reading.composer !== undefined && (manifest.composer?.top !== undefined || manifest.composer?.side !== undefined);
  const checked = traits.collapsesAbove !== null || framed;
  const room = checked ? { columns: pane.width, rows: pane.height } : null;
  const { bracketedPaste } = traits;
  const asked =
    bracketedPaste === "always" ||
    (pane.bracketedPaste ?? watches.bracketedPaste(locator.socket, pane.id) ?? bracketedPaste);
  const collapsesFrom = manifest.composer?.pasteLines;
  if (asked === true) return { multiline: true, lineLimit: null, room, collapsesFrom };
  const canonical = (await ttyMode(pane.tty)) === "canonical";
  return {
    multiline: asked ?? !canonical,
    lineLimit: canonical ? canonicalLimit(platform) : null,
    room,
    collapsesFrom,
  };
}

/** How text is written so that it does not run: as a comment, or quoted. */
const actingTraits = ({ acting }: LivePane): Pick<Taking, "comment" | "posix"> => ({
  comment: acting?.comment ?? null,
  posix: acting?.kind === "shell" && isPosixShell(acting.name),
});
