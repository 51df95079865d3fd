/**
 * The second half of a write: our text was pasted; see it appear, press Enter, see it leave. Enter is pressed
 * only while exactly our text is in the composer, no dialog is open and no key is pressed. Whatever ends the waiting
 * is said precisely, and what cannot be told is `unknown`.
 */
import type { Outcome } from "../../../model/delivery.ts";
import type { Elapsed } from "../../../model/ids.ts";
import type { Ages } from "../../../os/ages.ts";
import { lastKeyAt } from "../../../tmux/pane.ts";
import { keyWaits, type KeyPause } from "../../../tmux/pauseKeys.ts";
import { enterGuarded, type Guards } from "../../../tmux/write.ts";
import type { PaneAccess } from "./access.ts";
import {
  lastUserActivityAt,
  userActivityAge,
  surelyPastMs,
  whyNotTyped,
  type PaneStatus,
  type LivePane,
} from "./paneStatus.ts";
import { hasComposer, sameScreen, composerContent, type ComposerContent } from "./composerContent.ts";

export interface Pasted {
  readonly access: PaneAccess;
  readonly text: string;
  readonly mark: string;
  /** The pane as it was just before the paste; null when that is not known any more. */
  readonly before: LivePane | null;
  /** The users' keys wait meanwhile. */
  readonly pause?: KeyPause | null;
}

export interface SubmitParts {
  readonly read: () => Promise<PaneStatus>;
  /** Told of each Enter. */
  readonly entered: () => void;
  readonly elapsed: Elapsed;
  readonly ages: Ages;
  readonly pause: (ms: number) => Promise<void>;
  /** Enter may be pressed again this often. */
  readonly enterRepeats: number;
  /** How long a user who types into our text may take to finish. */
  readonly userMs: number;
  /** The longest pause between two reads. */
  readonly pollMs: number;
}

/** A program that takes this long over an Enter has swallowed it. */
const enterPatienceMs = 1_000;
/** A composer that is still empty this long after a dialog was open will not show a paste from before it. */
const swallowedMs = 1_000;

export async function submit(pasted: Pasted, parts: SubmitParts, signal: AbortSignal): Promise<Outcome> {
  const { access, text, mark, before } = pasted;
  const { elapsed, ages, pause } = parts;
  const { pane } = access.locator;
  const delivered = (detail: string): Outcome => ({ kind: "delivered", proof: "screen", detail });
  const latest = elapsed() + parts.userMs;
  let presses = 0;
  let enteredAt = 0;
  let entered: LivePane | null = null;
  let dialogSeen = false;
  let emptySince: number | null = null;
  let shownSince: number | null = null;
  let leftSince: number | null = null;
  let last: { status: LivePane; content: ComposerContent } | null = null;

  // A read takes about as long as an echo, so the second one need not wait.
  for (let delayMs = 0; ; delayMs = Math.min(Math.max(1, delayMs * 1.5), parts.pollMs)) {
    const status = await parts.read();
    if (status.kind === "gone") return { kind: "unknown", detail: `it was pasted, then ${status.detail}` };
    const content = composerContent(access.manifest, access.traits, status, text, presses === 0 ? before : null);
    last = { status, content };
    dialogSeen ||= isDialog(status);
    if (dialogSeen && presses === 0 && isEmptyAndUntouched(pasted, last)) emptySince ??= elapsed();
    else if (content !== "other") emptySince = null;
    if (emptySince !== null && elapsed() - emptySince > swallowedMs) return swallowedByDialog(pane);
    // Without an echo the screen proves nothing, whatever it shows.
    if (presses > 0 && !access.traits.echo)
      return { kind: "delivered", proof: "written", detail: `typed into ${pane}, which does not show it` };
    shownSince = content === "ours" ? (shownSince ?? elapsed()) : null;
    leftSince = entered && wasTaken(access, entered, status, content) ? (leftSince ?? elapsed()) : null;
    if (leftSince !== null && elapsed() - leftSince >= access.traits.redrawMs) return delivered(`typed into ${pane}`);
    const isLongEnough = shownSince !== null && elapsed() - shownSince >= access.traits.enterGapMs;
    if (isLongEnough && mayPress(status) && safeToEnter(pasted, status) && nobodyTyped(status, pasted, ages)) {
      if ((await enterGuarded(access.server, { ...enterGuards(pasted, status), mark })).done) {
        presses++;
        parts.entered();
        enteredAt = elapsed();
        entered = status;
        delayMs = 1;
      }
    }
    if (signal.aborted && !(isWaitingForUser(last) && elapsed() < latest)) return unfinished(pasted, presses, last);
    await pause(delayMs);
  }

  /**
   * Again only where the composer is known: elsewhere the text that still shows may be the program's own echo. And only
   * if no key was pressed since: a slow program would take the first Enter for our text, and the second for theirs.
   */
  function mayPress(status: LivePane): boolean {
    if (entered === null) return true;
    return (
      (sameKeys(entered, status) || keysWait(pasted, status)) &&
      hasComposer(access.manifest, status) &&
      presses <= parts.enterRepeats &&
      elapsed() - enteredAt > enterPatienceMs * presses
    );
  }

  /** Who types into our text, or has a dialog open over it, will finish; a daemon that stops does not wait for that. */
  function isWaitingForUser({ status, content }: { status: LivePane; content: ComposerContent }): boolean {
    const timedOut = (signal.reason as { name?: string } | undefined)?.name === "TimeoutError";
    return (
      timedOut && (content === "mixed" || emptySince !== null || isDialog(status) || !nobodyTyped(status, pasted, ages))
    );
  }
}

export function guardedBy(
  { locator }: PaneAccess,
  { snapshot: { pane } }: LivePane,
): { pane: string; panePid: number; guards: Guards } {
  const { title, cursor, currentCommand: command, keysAt, pasted } = pane;
  return {
    pane: locator.pane,
    panePid: locator.panePid,
    guards: { serverPid: locator.serverPid, title, cursor, command, keysAt, pasted },
  };
}

/** A key was pressed since the paste, and has not reached the program. */
function keysWait({ pause = null }: Pasted, { snapshot: { pane } }: LivePane): boolean {
  return pause !== null && pane.paused === keyWaits(pause);
}

/** While keys wait, their time says nothing; that they still wait is what counts. */
function enterGuards(pasted: Pasted, status: LivePane): ReturnType<typeof guardedBy> {
  const write = guardedBy(pasted.access, status);
  if (!keysWait(pasted, status)) return write;
  const { keysAt: _, ...guards } = write.guards;
  return { ...write, guards: { ...guards, paused: status.snapshot.pane.paused } };
}

function wasTaken({ manifest }: PaneAccess, entered: LivePane, now: LivePane, content: ComposerContent): boolean {
  // A dialog that covers the composer hides whether our text is still in it.
  if (content === "mixed" || isDialog(now)) return false;
  if (content !== "ours") return true;
  return !hasComposer(manifest, now) && !sameScreen(entered, now);
}

/** A dialog can open between the paste and Enter; the paste is ignored by it, and Enter would answer it. */
function safeToEnter({ access }: Pasted, status: LivePane): boolean {
  return !status.snapshot.pane.inMode && !isDialog(status) && whyNotTyped(status, access.traits) === null;
}

export function isDialog({ reading }: LivePane): boolean {
  return ["permission", "question", "dialog", "limited", "done"].includes(reading.state);
}

/** No key since the read before the paste, or none for a while: what a user types now is not ours to submit. */
function nobodyTyped(status: LivePane, pasted: Pasted, ages: Ages): boolean {
  const { before } = pasted;
  if (keysWait(pasted, status)) return true;
  if (userActivityAge(status, ages) >= surelyPastMs) return true;
  return before !== null && lastUserActivityAt(status) === lastUserActivityAt(before);
}

function sameKeys({ snapshot: a }: LivePane, { snapshot: b }: LivePane): boolean {
  return lastKeyAt(a.pane, a.clients) === lastKeyAt(b.pane, b.clients);
}

function unfinished(
  { access }: Pasted,
  presses: number,
  { status, content }: { status: LivePane; content: ComposerContent },
): Outcome {
  const { pane } = access.locator;
  const unknown = (detail: string): Outcome => ({ kind: "unknown", detail: `it was pasted into ${pane}; ${detail}` });
  if (presses > 0 && isDialog(status)) return unknown("Enter was pressed, and a dialog opened at the same moment");
  if (presses > 0)
    return unknown(`Enter was pressed ${presses === 1 ? "once" : `${presses} times`} and the text is still there`);
  if (isDialog(status)) return unknown("a dialog opened over it, so Enter was not pressed");
  switch (content) {
    case "mixed":
      return unknown("the pane was in use, so Enter was not pressed");
    case "ours":
      return unknown("the pane kept changing, so Enter was not pressed");
    case "nothing":
      return unknown("it never showed there, so Enter was not pressed");
    case "other":
      return unknown("it could not be found on the screen, so Enter was not pressed");
  }
}

/** Enter was not pressed, neither by us nor by a user: what is not in the composer was never submitted. */
function isEmptyAndUntouched(
  pasted: Pasted,
  { status, content }: { status: LivePane; content: ComposerContent },
): boolean {
  const { access, before } = pasted;
  if (content !== "nothing" || before === null || !hasComposer(access.manifest, status)) return false;
  return sameKeys(before, status) || keysWait(pasted, status);
}

const swallowedByDialog = (pane: string): Outcome => ({
  kind: "absent",
  detail: `a dialog opened in ${pane} at the same moment and swallowed the paste`,
});
