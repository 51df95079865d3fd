/** Outcomes of an attempt in a pane, in words. */
import type { Outcome } from "../../../model/delivery.ts";
import { notesOn, type Envelope } from "../../../model/envelope.ts";
import { leaveMode } from "../../../tmux/write.ts";
import type { PaneAccess } from "./access.ts";
import { claimedAt } from "./marks.ts";
import type { LivePane } from "./paneStatus.ts";

export const unanswered = (detail: string) => ({ kind: "held", hold: { reason: "error", detail } }) as const;

/** Leaving copy mode redraws the pane; the next read decides about typing. */
export async function leaveCopyMode({ server, locator }: PaneAccess, status: LivePane): Promise<Outcome> {
  await leaveMode(server, { pane: locator.pane, panePid: status.snapshot.pane.pid });
  return {
    kind: "held",
    hold: { reason: "copy-mode", detail: `${locator.pane} was in copy mode and no client showed it` },
  };
}

export function changed({ locator }: PaneAccess, failed: readonly string[]): Outcome {
  return {
    kind: "held",
    hold: { reason: "busy", detail: `${locator.pane} changed just before the paste (${failed.join(", ")})` },
  };
}

/**
 * Each paste replaces the mark of the one before: under a later one nothing is known of an earlier attempt. Nor does a
 * pane that the agent came to afterwards know anything about it.
 */
export function unmarked(mark: string, pasted: string, since = 0): Outcome {
  if (claimedAt(mark) < since)
    return { kind: "unknown", detail: "the program that it was typed into is not there any more" };
  if (claimedAt(pasted) > claimedAt(mark)) return { kind: "unknown", detail: "another message was typed there since" };
  return { kind: "absent", detail: "nothing was typed" };
}

/** How the text that was pasted differs from the message. */
export function withNotes(outcome: Outcome, sent: Envelope | null): Outcome {
  return sent && (outcome.kind === "delivered" || outcome.kind === "unknown")
    ? { ...outcome, notes: notesOn(sent) }
    : outcome;
}

export function tooSmall({ snapshot: { pane } }: LivePane): Outcome {
  return {
    kind: "held",
    hold: {
      reason: "unreadable",
      detail: `${pane.id} is too small to check what is typed there (${pane.width} × ${pane.height})`,
    },
  };
}
