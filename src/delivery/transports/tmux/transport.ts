/**
 * Delivery into a program in a tmux pane: read, paste, read, Enter. Each write is guarded by what the read before it
 * saw, and leaves a mark in the tmux server, so that after a crash it is known how far it came.
 */
import type { Agent, Endpoint } from "../../../model/agent.ts";
import type { Outcome } from "../../../model/delivery.ts";
import { Ages } from "../../../os/ages.ts";
import { asTielineError } from "../../../model/errors.ts";
import { elapsedFor, systemClock, type AgentId, type Clock } from "../../../model/ids.ts";
import { processExists, type Processes } from "../../../os/processes.ts";
import { systemTimers, type Timers } from "../../../os/timers.ts";
import { ttyModes, type ReadTtyMode } from "../../../os/tty.ts";
import { snapshotPane, snapshotPanes, type PaneSnapshot } from "../../../tmux/pane.ts";
import { endPause, preparePause } from "../../../tmux/pauseKeys.ts";
import { pasteGuarded } from "../../../tmux/write.ts";
import type { Explanation, StatusReader } from "../../../agents/status/port.ts";
import { tmuxEndpoint } from "../paneEndpoint.ts";
import type { Attempt, ProbingTransport, Readiness } from "../port.ts";
import { foundInRecord, type SessionRecord } from "../sessionRecord.ts";
import { accessOver, type PaneAccess, type AccessParts } from "./access.ts";
import { claimedAt, markOfAttempt } from "./marks.ts";
import { Prefetch } from "./prefetch.ts";
import { changed, leaveCopyMode, tooSmall, unanswered, unmarked, withNotes } from "./outcomes.ts";
import { textFor } from "./paneInput.ts";
import {
  holdsDraft,
  mayType,
  interpretSnapshot,
  readPaneStatus,
  showsWithinMs,
  userActivityAge,
  surelyPastMs,
  whyNotTyped,
  type Observed,
  type PaneStatus,
  type LivePane,
  type TypingVerdict,
} from "./paneStatus.ts";
import { EnterCooldown } from "./enterCooldown.ts";
import { guardedBy, isDialog, submit, type Pasted } from "./submit.ts";
import { PaneRefresher } from "./paneRefresher.ts";
import { hasComposer, composerContent } from "./composerContent.ts";
import type { PaneWatch } from "./watch.ts";
import { takingMs } from "../../takingMs.ts";

export interface TmuxTransportParts extends AccessParts {
  readonly processes: Processes;
  readonly watches: PaneWatch;
  readonly observed: Observed;
  readonly report: (context: string, fault: unknown) => void;
  /** What is known of an agent now. */
  readonly agent: (id: AgentId) => Agent | null;
  readonly clock?: Clock;
  readonly platform?: NodeJS.Platform;
  readonly ttyMode?: ReadTtyMode;
  readonly proofOf?: SessionRecord["proofOf"];
  /** How an agent runs `tieline`. */
  readonly command?: (agent: Agent) => string;
  /** Enter may be pressed again this often, while the composer holds exactly our text. */
  readonly enterRepeats?: number;
  /** How long to search for our own text. */
  readonly timeoutMs?: number;
  /** How long a user who types into our text may take to finish. */
  readonly readyTimeoutMs?: number;
  readonly pollIntervalMs?: number;
  readonly timers?: Timers;
}

export type TmuxTransport = ProbingTransport & StatusReader;

export function tmuxTransport(parts: TmuxTransportParts): TmuxTransport {
  const {
    processes,
    watches,
    observed,
    clock = systemClock,
    platform = process.platform,
    enterRepeats = 2,
    timers = systemTimers,
  } = parts;
  const { timeoutMs = 5_000, readyTimeoutMs = 30_000, pollIntervalMs = 200 } = parts;
  const input = { ...parts, platform, ttyMode: parts.ttyMode ?? ttyModes(platform) };
  const accessTo = accessOver(parts);
  const elapsed = elapsedFor(clock);
  const ages = new Ages(clock);
  const cooldown = new EnterCooldown();
  const prefetches = new Prefetch(freshMs);
  const refresher = new PaneRefresher({
    server: parts.server,
    agent: parts.agent,
    read: refreshMany,
    observed,
    report: parts.report,
    exists: processExists,
    clock,
  });

  return {
    name: tmuxEndpoint.transport,
    traits: {
      bestProof: "screen",
      authority: "user",
      rank: { atTurnEnd: 60, inTurn: 80, fromAgent: 90 },
      input: "terminal",
    },

    prefetch,
    ready: ({ agent, endpoint }) => readyFromPrefetch(agent, endpoint).then((ready) => ready ?? probe(agent, endpoint)),
    probe: (agent, endpoint) => probe(agent, endpoint),
    explain,
    refresh: refresh,
    refreshAll: (agents) => refresher.refresh(agents),
    close: () => refresher.close(),

    async deliver(attempt, signal) {
      const access = accessTo(attempt.agent, attempt.endpoint);
      const status = stillFresh(attempt.observed) ?? (await readStatus(attempt.agent, access));
      if (status.kind === "gone") return status.silent ? unanswered(status.detail) : status;
      const verdict = verdictFor(access, status);
      if (verdict.kind === "held") return verdict;
      if (verdict.leaveMode) return leaveCopyMode(access, status);
      const sent = await textFor(attempt, access, status, input);
      if (sent === null) return tooSmall(status);
      const { text } = sent;
      const { mark } = attempt;
      const pause = await preparePause(access.server, status.snapshot.pane, status.snapshot.clients).catch(
        (fault: unknown) => {
          // The write is guarded by the time of the last key as well.
          parts.report(`let the keys into ${status.snapshot.pane.id} wait`, fault);
          return null;
        },
      );
      const bracketed = access.traits.bracketedPaste === "always";
      try {
        const pasted = await pasteGuarded(access.server, {
          ...guardedBy(access, status),
          text,
          mark,
          bracketed,
          pause,
        });
        if (!pasted.done) return changed(access, pasted.failed);
        return withNotes(await finish(attempt, { access, text, mark, before: status, pause }, signal), sent);
      } finally {
        // What became of the message is known by now, whatever becomes of this.
        if (pause !== null)
          await endPause(access.server, pause).catch((fault: unknown) =>
            parts.report(`let keys into ${pause.pane} again`, fault),
          );
      }
    },

    async inspect(attempt) {
      const access = accessTo(attempt.agent, attempt.endpoint);
      const status = await readStatus(attempt.agent, access);
      if (status.kind === "gone") return { kind: "unknown", detail: status.detail };
      const { pasted, entered } = status.snapshot.pane;
      const mark = markOfAttempt(attempt.mark, pasted, entered);
      if (pasted !== mark && entered !== mark) {
        const told = unmarked(mark, pasted, access.locator.since);
        return told.kind === "unknown" && claimedAt(mark) >= (access.locator.since ?? 0)
          ? inConversation(attempt, { access, mark, status, told })
          : told;
      }
      const sent = await textFor(attempt, access, status, input);
      const text = sent?.text ?? null;
      const content = text === null ? "other" : composerContent(access.manifest, access.traits, status, text, null);
      if (entered === mark && isDialog(status))
        return { kind: "unknown", detail: "Enter was pressed, and a dialog covers the result" };
      if (entered === mark && !(content === "ours" && hasComposer(access.manifest, status))) {
        return withNotes(
          {
            kind: "delivered",
            proof: access.traits.echo ? "screen" : "written",
            detail: "Enter was pressed before the answer was lost",
          },
          sent,
        );
      }
      if (text === null || content !== "ours") {
        const told: Outcome = {
          kind: "unknown",
          detail: `it was pasted into ${access.locator.pane}, and is not there alone any more`,
        };
        return inConversation(attempt, { access, mark, status, told });
      }
      const signal = timers.timeout(timeoutMs + takingMs(attempt.message));
      return withNotes(await finish(attempt, { access, text, mark, before: null }, signal), sent);
    },

    watch(agent, endpoint, changed) {
      const { server, locator } = accessTo(agent, endpoint);
      return watches.watch(server, locator.pane, changed);
    },
  };

  /**
   * What the marks do not tell, an empty prompt and the program's own record do: a text that is in neither, long after
   * it would have shown, was never taken.
   */
  async function inConversation({ agent, message }: Attempt, { access, mark, status, told }: Marked): Promise<Outcome> {
    const atRest =
      status.reading.state === "idle" && hasComposer(access.manifest, status) && !holdsDraft(status, access.traits);
    const showsMs = showsWithinMs + takingMs(message);
    const mayShow = ages.of(mark, claimedAt(mark)) < showsMs || userActivityAge(status, ages) < surelyPastMs;
    if (parts.proofOf === undefined || !atRest || mayShow) return told;
    const found = await foundInRecord(agent, message, "written", { proofOf: parts.proofOf, timers });
    if (found.kind !== "absent") return found.kind === "delivered" ? found : told;
    return { ...found, detail: `${access.locator.pane} has an empty prompt, and the conversation does not contain it` };
  }

  function prefetch(agent: Agent, endpoint: Endpoint): void {
    const { socket, pane } = tmuxEndpoint.locatorOf(endpoint);
    prefetches.begin(agent.id, elapsed(), () => snapshotPane(parts.server(socket), pane));
  }

  /** Null: nothing was prefetched, or it was not ready then and may be by now. */
  async function readyFromPrefetch(agent: Agent, endpoint: Endpoint): Promise<Readiness | null> {
    const prefetched = prefetches.take(agent.id, elapsed());
    const seen = await prefetched?.snapshot;
    if (!prefetched || !seen || seen.pane.id !== tmuxEndpoint.locatorOf(endpoint).pane) return null;
    const readiness = await probe(agent, endpoint, seen, prefetched.at);
    return readiness.kind === "ready" ? readiness : null;
  }

  async function probe(agent: Agent, endpoint: Endpoint, seen?: PaneSnapshot, at?: number): Promise<Readiness> {
    try {
      const access = accessTo(agent, endpoint);
      const status = await readStatus(agent, access, seen);
      if (status.kind === "gone")
        return status.silent ? unanswered(status.detail) : { kind: "gone", detail: status.detail };
      const verdict = verdictFor(access, status);
      return verdict.kind === "ready"
        ? { kind: "ready", observed: { status, at: at ?? elapsed() } satisfies RecentStatus }
        : verdict;
    } catch (thrown) {
      const { code, message } = asTielineError(thrown);
      if (code !== "CONFIG_INVALID") throw thrown;
      observed(agent, { state: "unknown", reason: message, draft: false });
      return { kind: "held", hold: { reason: "unreadable", detail: message } };
    }
  }

  /** The claim may wait for a slow disk, and a dialog may open meanwhile; then the pane is read again. */
  function stillFresh(observed: unknown): LivePane | null {
    const { status, at } = (observed ?? {}) as Partial<RecentStatus>;
    return status !== undefined && at !== undefined && elapsed() - at <= freshMs ? status : null;
  }

  async function refresh(agent: Agent): Promise<void> {
    const endpoint = tmuxEndpoint.of(agent);
    if (endpoint) await probe(agent, endpoint);
  }

  /** A few panes are read one by one, many in one go. */
  async function refreshMany(agents: readonly Agent[]): Promise<void> {
    const panes = agents.flatMap((agent) => tmuxEndpoint.of(agent)?.locator ?? []);
    const [first] = panes;
    if (first === undefined || panes.length < crowd) return void (await Promise.all(agents.map(refresh)));
    const snapshots = await snapshotPanes(
      parts.server(first.socket),
      panes.map(({ pane }) => pane),
    );
    await Promise.all(
      agents.map(async (agent) => {
        const endpoint = tmuxEndpoint.of(agent);
        if (endpoint) await probe(agent, endpoint, snapshots.get(tmuxEndpoint.locatorOf(endpoint).pane));
      }),
    );
  }

  async function explain(agent: Agent, endpoint: Endpoint): Promise<Explanation> {
    const access = accessTo(agent, endpoint);
    const status = await readStatus(agent, access);
    const { pane } = access.locator;
    if (status.kind === "gone")
      return {
        pane,
        state: status.state,
        draft: false,
        rule: null,
        why: status.detail,
        hold: status.detail,
        retrying: null,
        known: null,
      };
    const verdict = verdictFor(access, status);
    return explanationOf(
      status,
      holdsDraft(status, access.traits),
      verdict.kind === "held" ? verdict.hold.detail : null,
    );
  }

  function verdictFor({ traits }: PaneAccess, status: LivePane): TypingVerdict {
    const verdict = mayType(status, traits, watches, ages);
    const againInMs = cooldown.waitMs(status, traits.turnStartMs, elapsed());
    if (verdict.kind === "held" || againInMs === 0) return verdict;
    return {
      kind: "held",
      hold: {
        reason: "busy",
        detail: `the program in ${status.snapshot.pane.id} has just started with an earlier message`,
      },
      againInMs,
    };
  }

  function finish({ agent }: Attempt, pasted: Pasted, signal: AbortSignal): Promise<Outcome> {
    const entered = (): void => cooldown.entered(pasted.mark, elapsed());
    const submitParts = {
      read: () => readStatus(agent, pasted.access),
      entered,
      elapsed,
      ages,
      pause: timers.pause,
      pollMs: pollIntervalMs,
    };
    return submit(pasted, { ...submitParts, enterRepeats, userMs: readyTimeoutMs }, signal);
  }

  async function readStatus(agent: Agent, access: PaneAccess, seen?: PaneSnapshot): Promise<PaneStatus> {
    const { server, traits } = access;
    const status = await (seen
      ? interpretSnapshot(processes, access, seen, ages)
      : readPaneStatus(server, processes, access, ages));
    if (status.kind === "live") cooldown.saw(status);
    if (status.kind === "gone" && status.silent) return status;
    if (status.kind === "gone") observed(agent, { state: status.state, reason: status.detail, draft: false });
    else observed(agent, stateOf(status, traits));
    return status;
  }
}

/** What nothing is typed into is not idle, whatever its screen looks like. */
function stateOf(status: LivePane, traits: PaneAccess["traits"]): Parameters<Observed>[1] {
  const { state, why } = status.reading;
  const wouldAct = state === "idle" ? whyNotTyped(status, traits) : null;
  if (wouldAct !== null) return { state: "unknown", reason: wouldAct, draft: false };
  return { state, reason: state === "unknown" && traits.mayAct ? why : null, draft: holdsDraft(status, traits) };
}

/** An attempt of which the marks in its pane tell no more than `told`. */
interface Marked {
  readonly access: PaneAccess;
  readonly mark: string;
  readonly status: LivePane;
  readonly told: Outcome;
}

/** What `ready` saw, and when. */
interface RecentStatus {
  readonly status: LivePane;
  readonly at: number;
}

/** What a pane showed so little ago may be acted upon: the write itself is guarded against what moved since. */
const freshMs = 10;

/** From so many on, reading panes together is worth its detour. */
const crowd = 8;

function explanationOf({ snapshot: { pane }, reading }: LivePane, draft: boolean, hold: string | null): Explanation {
  const { state, rule, why, composer, retrying = null } = reading;
  const { title, cursor, currentCommand: command, currentPath: directory, width, height, inMode: copyMode } = pane;
  const known = {
    title,
    cursor: [cursor.x, cursor.y] as const,
    command,
    directory,
    size: [width, height] as const,
    copyMode,
    composer: composer?.text ?? null,
  };
  return { pane: pane.id, state, draft, rule, why, hold, retrying, known };
}
