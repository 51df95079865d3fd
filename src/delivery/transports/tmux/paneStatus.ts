import type { Agent, AgentState } from "../../../model/agent.ts";
import { asTielineError } from "../../../model/errors.ts";
import type { Hold, HoldReason } from "../../../model/delivery.ts";
import { Ages } from "../../../os/ages.ts";
import { actingIn, actingWords, type Acting } from "../../../providers/acting.ts";
import type { Providers } from "../../../providers/providers.ts";
import { classify, type ScreenReading, type Screen, type ScreenManifest } from "../../../providers/screen.ts";
import type { TerminalTraits } from "../../../providers/traits.ts";
import { isSilence } from "../../../tmux/failure.ts";
import { cursorLine, isVisible, lastKeyAt, snapshotPane, type PaneSnapshot } from "../../../tmux/pane.ts";
import { foreground, type ProcessFacts, type Processes } from "../../../os/processes.ts";
import { isBareShell, isShell } from "../../../os/shell.ts";
import type { TmuxServer } from "../../../tmux/server.ts";
import type { PaneLocator } from "../paneEndpoint.ts";
import { claimedAt } from "./marks.ts";

/** What was found where an agent should be. */
export type PaneStatus =
  /**
   * `done`: the program ended. `gone`: its pane ended, or is not its own any more. `silent`: only tmux itself does not
   * answer.
   */
  | { readonly kind: "gone"; readonly state: "done" | "gone"; readonly detail: string; readonly silent?: true }
  | {
      readonly kind: "live";
      readonly snapshot: PaneSnapshot;
      readonly reading: ScreenReading;
      readonly screen: Screen;
      readonly computing: boolean;
      /** What would act on text there; null: nothing, or it was not checked. */
      readonly acting: Acting | null;
    };

/** Told what a pane showed about its agent. */
export type Observed = (
  agent: Agent,
  seen: { readonly state: AgentState; readonly reason: string | null; readonly draft: boolean },
) => void;

export type LivePane = Extract<PaneStatus, { kind: "live" }>;

/** Reads the pane, and makes sure that it is still the agent that lives there and has the terminal. */
export async function readPaneStatus(
  server: TmuxServer,
  processes: Processes,
  seenFor: ReadTarget,
  ages = new Ages(),
): Promise<PaneStatus> {
  let seen: PaneSnapshot;
  try {
    seen = await snapshotPane(server, seenFor.locator.pane);
  } catch (thrown) {
    const { code, message } = asTielineError(thrown);
    if (code === "PANE_UNKNOWN") return gone(`pane ${seenFor.locator.pane} is closed`);
    if (isSilence(thrown)) return { kind: "gone", state: "gone", detail: message, silent: true };
    if (code === "TMUX_UNAVAILABLE") return gone(message);
    throw thrown;
  }
  return interpretSnapshot(processes, seenFor, seen, ages);
}

/** The agent that a pane is read for. */
export interface ReadTarget {
  readonly locator: PaneLocator;
  readonly manifest: ScreenManifest;
  readonly traits: Pick<TerminalTraits, "mayAct">;
  readonly providers: Pick<Providers, "ofProgram">;
}

/** What a snapshot shows, provided that it shows this agent. */
export async function interpretSnapshot(
  processes: Processes,
  { locator, manifest, traits, providers }: ReadTarget,
  seen: PaneSnapshot,
  ages: Ages,
): Promise<PaneStatus> {
  const { pane } = seen;
  const why = whyNotItsPane(locator, pane);
  if (why !== null) return gone(why);
  if (pane.dead) return ended(locator);
  const agent = await processes.read(locator.agentPid);
  if (agent?.startMark !== locator.agentStartMark) return ended(locator);
  const front = await foreground(processes, locator.panePid);
  // Just after its start no program has the terminal yet; the pane's own program is the one that will.
  const inFront =
    front === undefined ? locator.agentPid === locator.panePid : front.processGroup === agent.processGroup;
  if (!inFront && manifest.provider !== "shell") {
    return gone(`${front?.command ?? "another program"} is in the foreground of ${locator.pane}`);
  }
  // `agent; exec bash`: the shell that comes after is the same process.
  const { computing } = front ?? agent;
  const shell = manifest.provider === "shell" ? null : await bareShell(front ?? agent, processes);
  if (shell !== null)
    return { kind: "gone", state: "done", detail: `only a bare shell (${shell}) is left in ${locator.pane}` };
  const screen = { ...screenOf(seen, inFront && manifest.provider !== "shell"), resuming: isResuming(locator, ages) };
  const reading = classify(manifest, screen);
  // Only where something could be typed: the process tree changes while an agent lives, and is not read for nothing.
  const acting =
    traits.mayAct && (reading.state === "idle" || reading.state === "unknown")
      ? await actingIn(front ?? agent, processes, providers)
      : null;
  return { kind: "live", snapshot: seen, screen, reading, computing, acting };
}

/**
 * The name of the bare shell that this process is, or null. It may become another program between two reads: `sh -c
 * "exec cat"`.
 */
async function bareShell({ pid, command }: ProcessFacts, processes: Processes): Promise<string | null> {
  while (isShell({ command }) && isBareShell({ command }, await processes.argv(pid))) {
    const now = await processes.read(pid);
    if (now === undefined || now.command === command) return command;
    ({ command } = now);
  }
  return null;
}

/** Why the pane with an agent's number is not the agent's; null: it is. */
export function whyNotItsPane(
  locator: PaneLocator,
  pane: Pick<PaneSnapshot["pane"], "pid" | "serverPid" | "serverStartedAt">,
): string | null {
  if (pane.serverPid !== locator.serverPid || pane.serverStartedAt !== locator.serverStartedAt) {
    return `the tmux server was restarted; ${locator.pane} is another pane now`;
  }
  return pane.pid === locator.panePid ? null : `another program was started in ${locator.pane}`;
}

/**
 * A program that is a shell script, or is started by one, looks like a shell to tmux; its process tells that it is not.
 */
function screenOf({ pane, styled }: PaneSnapshot, commandIsKnown: boolean): Screen {
  const { title, cursor, cursorVisible, currentCommand, alternateOn, inMode, width, height } = pane;
  const command = commandIsKnown ? {} : { command: currentCommand };
  return {
    lines: styled,
    title,
    cursor,
    cursorHidden: !cursorVisible,
    alternate: alternateOn,
    copyMode: inMode,
    width,
    height,
    ...command,
  };
}

/** A conversation that is gone on with shows within this time, or will not: a user may have cleared the screen. */
const resumesWithinMs = 60_000;

const isResuming = ({ socket, pane, resumes = false, since = 0 }: PaneLocator, ages: Ages): boolean =>
  resumes && ages.of(`${socket} ${pane} since`, since) < resumesWithinMs;

export type TypingVerdict =
  | { readonly kind: "ready"; readonly leaveMode: boolean }
  | { readonly kind: "held"; readonly hold: Hold; readonly againInMs?: number };

/** tmux knows the time of a key, and of output, to the second; this much later it is surely half a second ago. */
export const surelyPastMs = 1_500;

/** A paste without its Enter, perhaps by another home, shows within this time, or was removed. */
export const showsWithinMs = 5_000;

/** How soon a program that computes is checked again. */
const computingAgainMs = 50;

/** May something be typed now? The checks go from what would do most harm to what would do least. */
export function mayType(seen: LivePane, traits: TerminalTraits, quiet: Quiet, ages: Ages): TypingVerdict {
  const { reading } = seen;
  const { pane, clients } = seen.snapshot;
  const held = (reason: HoldReason, detail: string, againInMs?: number): TypingVerdict => ({
    kind: "held",
    hold: { reason, detail },
    ...(againInMs !== undefined && { againInMs }),
  });
  // Each stamp is read each time, so that its age is known when it matters.
  const typingMs = pane.pasted === pane.entered ? 0 : showsWithinMs - ages.of(pane.pasted, claimedAt(pane.pasted));
  const keyAt = lastKeyAt(pane, clients);
  const keyMs = keyAt === undefined ? 0 : surelyPastMs - ages.of(`${keyOf(pane)} key`, keyAt);
  const stirMs = surelyPastMs - userActivityAge(seen, ages);
  const quietInMs = quiet.waitMs(pane, traits.quietMs);
  switch (reading.state) {
    case "permission":
      return held("permission", `a permission dialog is open in ${pane.id}`);
    case "question":
      return held("question", `a question is open in ${pane.id}`);
    case "dialog":
      return held("dialog", `a dialog is open in ${pane.id}`);
    case "limited":
      return held("limited", `the program in ${pane.id} waits for its rate limit`);
    case "unknown":
      return held("unreadable", `the screen of ${pane.id} cannot be read (${reading.why})`);
    case "working":
      return held("busy", `the program in ${pane.id} is working`);
    case "done":
      return held("offline", `the program in ${pane.id} has exited`);
  }
  const wouldAct = whyNotTyped(seen, traits);
  if (wouldAct !== null) return held("unreadable", wouldAct);
  if (holdsDraft(seen, traits)) return held("draft", `the composer of ${pane.id} has a draft`);
  if (asksForAnswer(seen, traits)) return held("question", `a question is open in ${pane.id}`);
  if (typingMs > 0) return held("busy", `another message is being typed into ${pane.id}`, typingMs);
  if (mayHoldPaste(seen, traits))
    return held("draft", `an earlier message may still be unsent in ${pane.id}; send it or clear it there`);
  if (keyMs > 0) return held("typing", `${pane.id} is in use`, keyMs);
  if (stirMs > 0) return held("typing", `${pane.id} is on screen and may be in use`, stirMs);
  if (pane.synchronized) return held("unreadable", `the panes around ${pane.id} are synchronized`);
  if (pane.inMode && (traits.copyMode === "hold" || isVisible(pane, clients))) {
    return held("copy-mode", `${pane.id} is in copy mode`);
  }
  // Silence says little of a program whose screen tells nothing: one that has not come to its first line is silent,
  // too.
  if (traits.quietMs > 0 && seen.computing)
    return held("busy", `the program in ${pane.id} is computing`, computingAgainMs);
  if (quietInMs > 0) return held("busy", `${pane.id} is still printing output`, quietInMs);
  return { kind: "ready", leaveMode: pane.inMode };
}

/**
 * When a user who has the pane open pressed a key, or any client attached to their session; undefined: no client. A
 * write is guarded by that second, so a key that follows within it would not refuse the write.
 */
export function lastUserActivityAt({ snapshot: { pane, clients } }: LivePane): number | undefined {
  const keyAt = lastKeyAt(pane, clients);
  return keyAt === undefined ? undefined : Math.max(keyAt, pane.keysAt);
}

/** How long ago that was; Infinity: no client. */
export function userActivityAge(seen: LivePane, ages: Ages): number {
  const stirredAt = lastUserActivityAt(seen);
  return stirredAt === undefined ? Infinity : ages.of(`${keyOf(seen.snapshot.pane)} stir`, stirredAt);
}

const keyOf = ({ serverPid, id }: PaneSnapshot["pane"]): string => `${serverPid} ${id}`;

/** An unsent draft is where the text would be typed. */
export function holdsDraft(seen: LivePane, traits: TerminalTraits): boolean {
  return seen.reading.draft || (seen.reading.state === "idle" && exceedsRest(seen, traits));
}

/**
 * Text is typed only where nothing acts on it: into a shell or an interpreter as what it does not run, if the user
 * wants that.
 */
export function whyNotTyped(
  { acting, reading, snapshot: { pane } }: LivePane,
  { shell, interpreter, trusted }: TerminalTraits,
): string | null {
  if (acting === null) return interpreter ? `no interpreter is seen in ${pane.id}` : null;
  if (acting.apart && trusted && reading.composer !== undefined) return null;
  if (shell && (acting.kind === "shell" || acting.kind === "remote")) return null;
  if (interpreter && acting.kind === "interpreter" && acting.behind === null && acting.comment !== null) return null;
  return `${actingWords(acting)} (${pane.id})`;
}

/**
 * A paste of ours that never got its Enter. Where the composer is known, it shows whether that is still there;
 * elsewhere only the line at rest proves that it does not.
 */
function mayHoldPaste(seen: LivePane, { restingLine }: TerminalTraits): boolean {
  const { pane } = seen.snapshot;
  if (pane.pasted === pane.entered || seen.reading.composer !== undefined) return false;
  return restingLine === null || cursorLine(seen.snapshot) !== restingLine;
}

/** For programs whose composer is not known: the line at rest, and something behind it. */
function exceedsRest({ snapshot: seen, reading }: LivePane, { restingLine, prompt }: TerminalTraits): boolean {
  if (restingLine === null || prompt !== null || reading.composer) return false;
  const line = cursorLine(seen);
  if (restingLine === "" && looksLikePrompt(line, seen.pane.cursor.x)) return false;
  return line.length > restingLine.length && line.startsWith(restingLine);
}

/**
 * A sign and a blank in front of the cursor: drawn by a program that had not come to its prompt when it was adopted.
 */
function looksLikePrompt(line: string, cursorX: number): boolean {
  return cursorX > line.length && /[^\p{L}\p{N}\s]$/u.test(line);
}

/** For programs whose composer is not known: the cursor is behind a question that any line would answer. */
function asksForAnswer({ snapshot: seen, reading }: LivePane, { prompt }: TerminalTraits): boolean {
  if (prompt !== null || reading.composer) return false;
  const line = cursorLine(seen);
  return seen.pane.cursor.x >= line.length && answerWanted.test(line);
}

const answerWanted = /[[(]y(es)?\s*\/\s*no?(\s*\/\s*[\w?]+)*[\])]\s*[?:]?$|\b(password|passphrase)\b[^:]*:$/i;

/** How long until a pane has been silent for long enough. */
export interface Quiet {
  waitMs(pane: PaneSnapshot["pane"], quietMs: number): number;
}

/** Without a watcher only the whole second of the last output is known. */
export const quietBySecond = (ages: Ages): Quiet => ({
  waitMs: (pane, quietMs) =>
    quietMs === 0 ? 0 : Math.max(0, 1_000 + quietMs - ages.of(`${keyOf(pane)} output`, pane.windowActivityAt)),
});

const gone = (detail: string): PaneStatus => ({ kind: "gone", state: "gone", detail });
const ended = ({ pane }: PaneLocator): PaneStatus => ({
  kind: "gone",
  state: "done",
  detail: `the program in ${pane} has exited`,
});
