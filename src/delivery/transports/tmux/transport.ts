/**
 * Delivery into a program in a tmux pane: look, paste, look, Enter. Each write is guarded by what the look before it
 * saw, and leaves a mark in the tmux server, so that after a crash it is known how far it came.
 */
import type { Agent, Endpoint } from "../../../model/agent.ts";
import type { Outcome } from "../../../model/delivery.ts";
import { Ages } from "../../../os/ages.ts";
import { asTielineError } from "../../../model/errors.ts";
import { elapsedFor, systemClock, type AgentId, type Clock } from "../../../model/ids.ts";
import { processExists, type Processes } from "../../../os/processes.ts";
import { ttyModes, type ReadTtyMode } from "../../../os/tty.ts";
import { look, lookAtMany, type Look } from "../../../tmux/pane.ts";
import { endPause, preparePause } from "../../../tmux/pauseKeys.ts";
import { pasteGuarded } from "../../../tmux/write.ts";
import type { Explanation, Eyes } from "../../../agents/status/port.ts";
import { paneLocator } from "../paneLocator.ts";
import type { Errand, ProbingTransport, Readiness } from "../port.ts";
import { foundInRecord, type SessionRecord } from "../sessionRecord.ts";
import { accessOver, type Access, type AccessParts } from "./access.ts";
import { claimedAt, markOfAttempt } from "./marks.ts";
import { Foresight } from "./foresight.ts";
import { changed, leaveCopyMode, tooSmall, unanswered, unmarked, withNotes } from "./outcomes.ts";
import { textFor } from "./paneInput.ts";
import {
  holdsDraft,
  judge,
  recognise,
  see,
  showsWithinMs,
  stirAge,
  surelyPastMs,
  whyNotTyped,
  type Observed,
  type Sight,
  type There,
  type Verdict,
} from "./sight.ts";
import { Settling } from "./settling.ts";
import { guardedBy, isDialog, submit, type Pasted } from "./submit.ts";
import { Survey } from "./survey.ts";
import { hasComposer, standing } from "./verify.ts";
import type { PaneWatch } from "./watch.ts";

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
  readonly traceOf?: SessionRecord["traceOf"];
  /** By which word an agent runs `tieline`. */
  readonly command?: (agent: Agent) => string;
  /** Enter may be pressed again this often, while the composer holds exactly our text. */
  readonly enterRepeats?: number;
  /** How long to look for our own text. */
  readonly timeoutMs?: number;
  /** How long a user who types into our text may take to finish. */
  readonly readyTimeoutMs?: number;
  readonly pollIntervalMs?: number;
  readonly pause?: (ms: number) => Promise<void>;
}

export type TmuxTransport = ProbingTransport & Eyes;

export function tmuxTransport(parts: TmuxTransportParts): TmuxTransport {
  const {
    processes,
    watches,
    observed,
    clock = systemClock,
    platform = process.platform,
    enterRepeats = 2,
    pause = Bun.sleep,
  } = parts;
  const { timeoutMs = 5_000, readyTimeoutMs = 30_000, pollIntervalMs = 200 } = parts;
  const input = { ...parts, platform, ttyMode: parts.ttyMode ?? ttyModes(platform) };
  const accessTo = accessOver(parts);
  const elapsed = elapsedFor(clock);
  const ages = new Ages(clock);
  const settling = new Settling();
  const foresight = new Foresight(freshMs);
  const survey = new Survey({
    server: parts.server,
    agent: parts.agent,
    read: lookAtAll,
    observed,
    report: parts.report,
    exists: processExists,
    clock,
  });

  return {
    name: "tmux",
    traits: { bestProof: "screen", authority: "user" },

    foresee,
    ready: ({ agent, endpoint }) => readyAsForeseen(agent, endpoint).then((ready) => ready ?? probe(agent, endpoint)),
    probe: (agent, endpoint) => probe(agent, endpoint),
    explain,
    look: lookAt,
    survey: (agents) => survey.of(agents),
    close: () => survey.close(),

    async deliver(errand, signal) {
      const access = accessTo(errand.agent, errand.endpoint);
      const sight = stillFresh(errand.observed) ?? (await seeAgent(errand.agent, access));
      if (sight.kind === "gone") return sight.silent ? unanswered(sight.detail) : sight;
      const verdict = verdictOn(access, sight);
      if (verdict.kind === "held") return verdict;
      if (verdict.leaveMode) return leaveCopyMode(access, sight);
      const sent = await textFor(errand, access, sight, input);
      if (sent === null) return tooSmall(sight);
      const { text } = sent;
      const { mark } = errand;
      const pause = await preparePause(access.server, sight.look.pane, sight.look.clients).catch((fault: unknown) => {
        // The write is guarded by the time of the last key as well.
        parts.report(`let the keys into ${sight.look.pane.id} wait`, fault);
        return null;
      });
      const bracketed = access.traits.bracketedPaste === "always";
      try {
        const pasted = await pasteGuarded(access.server, { ...guardedBy(access, sight), text, mark, bracketed, pause });
        if (!pasted.done) return changed(access, pasted.failed);
        return withNotes(await finish(errand, { access, text, mark, before: sight, pause }, signal), sent);
      } finally {
        // What became of the message is known by now, whatever becomes of this.
        if (pause !== null)
          await endPause(access.server, pause).catch((fault: unknown) =>
            parts.report(`let keys into ${pause.pane} again`, fault),
          );
      }
    },

    async inspect(errand) {
      const access = accessTo(errand.agent, errand.endpoint);
      const sight = await seeAgent(errand.agent, access);
      if (sight.kind === "gone") return { kind: "unknown", detail: sight.detail };
      const { pasted, entered } = sight.look.pane;
      const mark = markOfAttempt(errand.mark, pasted, entered);
      if (pasted !== mark && entered !== mark) {
        const told = unmarked(mark, pasted, access.locator.since);
        return told.kind === "unknown" && claimedAt(mark) >= (access.locator.since ?? 0)
          ? inConversation(errand, { access, mark, sight, told })
          : told;
      }
      const sent = await textFor(errand, access, sight, input);
      const text = sent?.text ?? null;
      const stands = text === null ? "other" : standing(access.manifest, access.traits, sight, text, null);
      if (entered === mark && isDialog(sight))
        return { kind: "unknown", detail: "Enter was pressed, and a dialog covers what became of it" };
      if (entered === mark && !(stands === "ours" && hasComposer(access.manifest, sight))) {
        return withNotes(
          {
            kind: "delivered",
            proof: access.traits.echo ? "screen" : "written",
            detail: "Enter was pressed before the answer was lost",
          },
          sent,
        );
      }
      if (text === null || stands !== "ours") {
        const told: Outcome = {
          kind: "unknown",
          detail: `it was pasted into ${access.locator.pane}, and does not stand there alone any more`,
        };
        return inConversation(errand, { access, mark, sight, told });
      }
      return withNotes(
        await finish(errand, { access, text, mark, before: null }, AbortSignal.timeout(timeoutMs)),
        sent,
      );
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
  async function inConversation({ agent, message }: Errand, { access, mark, sight, told }: Marked): Promise<Outcome> {
    const atRest =
      sight.reading.state === "idle" && hasComposer(access.manifest, sight) && !holdsDraft(sight, access.traits);
    const shows = ages.of(mark, claimedAt(mark)) < showsWithinMs || stirAge(sight, ages) < surelyPastMs;
    if (parts.traceOf === undefined || !atRest || shows) return told;
    const found = await foundInRecord(agent, message, "written", { traceOf: parts.traceOf, pause });
    if (found.kind !== "absent") return found.kind === "delivered" ? found : told;
    return { ...found, detail: `${access.locator.pane} has an empty prompt, and the conversation no record of it` };
  }

  function foresee(agent: Agent, endpoint: Endpoint): void {
    const { socket, pane } = paneLocator(endpoint);
    foresight.begin(agent.id, elapsed(), () => look(parts.server(socket), pane));
  }

  /** Null: nothing was foreseen, or it was not ready then and may be by now. */
  async function readyAsForeseen(agent: Agent, endpoint: Endpoint): Promise<Readiness | null> {
    const foreseen = foresight.take(agent.id, elapsed());
    const seen = await foreseen?.look;
    if (!foreseen || !seen || seen.pane.id !== paneLocator(endpoint).pane) return null;
    const readiness = await probe(agent, endpoint, seen, foreseen.at);
    return readiness.kind === "ready" ? readiness : null;
  }

  async function probe(agent: Agent, endpoint: Endpoint, seen?: Look, at?: number): Promise<Readiness> {
    try {
      const access = accessTo(agent, endpoint);
      const sight = await seeAgent(agent, access, seen);
      if (sight.kind === "gone")
        return sight.silent ? unanswered(sight.detail) : { kind: "gone", detail: sight.detail };
      const verdict = verdictOn(access, sight);
      return verdict.kind === "ready"
        ? { kind: "ready", observed: { sight, at: at ?? elapsed() } satisfies Glimpse }
        : verdict;
    } catch (thrown) {
      const { code, message } = asTielineError(thrown);
      if (code !== "CONFIG_INVALID") throw thrown;
      observed(agent, { state: "unknown", reason: message, draft: false });
      return { kind: "held", hold: { reason: "unreadable", detail: message } };
    }
  }

  /** The claim may wait for a slow disk, and a dialog may open meanwhile; then the pane is looked at again. */
  function stillFresh(observed: unknown): There | null {
    const { sight, at } = (observed ?? {}) as Partial<Glimpse>;
    return sight !== undefined && at !== undefined && elapsed() - at <= freshMs ? sight : null;
  }

  async function lookAt(agent: Agent): Promise<void> {
    const endpoint = tmuxEndpoint(agent);
    if (endpoint) await probe(agent, endpoint);
  }

  /** A few are looked at one by one, a crowd in one go. */
  async function lookAtAll(agents: readonly Agent[]): Promise<void> {
    const panes = agents.flatMap((agent) => tmuxEndpoint(agent) ?? []).map(paneLocator);
    const [first] = panes;
    if (first === undefined || panes.length < crowd) return void (await Promise.all(agents.map(lookAt)));
    const looks = await lookAtMany(
      parts.server(first.socket),
      panes.map(({ pane }) => pane),
    );
    await Promise.all(
      agents.map(async (agent) => {
        const endpoint = tmuxEndpoint(agent);
        if (endpoint) await probe(agent, endpoint, looks.get(paneLocator(endpoint).pane));
      }),
    );
  }

  async function explain(agent: Agent, endpoint: Endpoint): Promise<Explanation> {
    const access = accessTo(agent, endpoint);
    const sight = await seeAgent(agent, access);
    const { pane } = access.locator;
    if (sight.kind === "gone")
      return {
        pane,
        state: sight.state,
        draft: false,
        rule: null,
        why: sight.detail,
        hold: sight.detail,
        retrying: null,
        known: null,
      };
    const verdict = verdictOn(access, sight);
    return explanationOf(sight, holdsDraft(sight, access.traits), verdict.kind === "held" ? verdict.hold.detail : null);
  }

  function verdictOn({ traits }: Access, sight: There): Verdict {
    const verdict = judge(sight, traits, watches, ages);
    const againInMs = settling.waitMs(sight, traits.settleMs, elapsed());
    if (verdict.kind === "held" || againInMs === 0) return verdict;
    return {
      kind: "held",
      hold: { reason: "busy", detail: `the program in ${sight.look.pane.id} begins with what was typed just now` },
      againInMs,
    };
  }

  function finish({ agent }: Errand, pasted: Pasted, signal: AbortSignal): Promise<Outcome> {
    const entered = (): void => settling.entered(pasted.mark, elapsed());
    const looking = {
      see: () => seeAgent(agent, pasted.access),
      entered,
      elapsed,
      ages,
      pause,
      pollMs: pollIntervalMs,
    };
    return submit(pasted, { ...looking, enterRepeats, userMs: readyTimeoutMs }, signal);
  }

  async function seeAgent(agent: Agent, access: Access, seen?: Look): Promise<Sight> {
    const { server, traits } = access;
    const sight = await (seen ? recognise(processes, access, seen, ages) : see(server, processes, access, ages));
    if (sight.kind === "there") settling.saw(sight);
    if (sight.kind === "gone" && sight.silent) return sight;
    if (sight.kind === "gone") observed(agent, { state: sight.state, reason: sight.detail, draft: false });
    else observed(agent, stateOf(sight, traits));
    return sight;
  }
}

/** What nothing is typed into is not idle, whatever its screen looks like. */
function stateOf(sight: There, traits: Access["traits"]): Parameters<Observed>[1] {
  const { state, why } = sight.reading;
  const wouldAct = state === "idle" ? whyNotTyped(sight, traits) : null;
  if (wouldAct !== null) return { state: "unknown", reason: wouldAct, draft: false };
  return { state, reason: state === "unknown" && traits.mayAct ? why : null, draft: holdsDraft(sight, traits) };
}

/** An attempt of which the marks in its pane tell no more than `told`. */
interface Marked {
  readonly access: Access;
  readonly mark: string;
  readonly sight: There;
  readonly told: Outcome;
}

/** What `ready` saw, and when. */
interface Glimpse {
  readonly sight: There;
  readonly at: number;
}

/** What a pane showed so little ago may be acted upon: the write itself is guarded against what moved since. */
const freshMs = 10;

/** From so many on, reading panes together is worth its detour. */
const crowd = 8;

const tmuxEndpoint = (agent: Agent): Endpoint | undefined =>
  agent.endpoints.find(({ transport }) => transport === "tmux");

function explanationOf({ look: { pane }, reading }: There, draft: boolean, hold: string | null): Explanation {
  const { state, rule, why, composer, retrying = null } = reading;
  const { title, cursor, currentCommand: command, width, height, inMode: copyMode } = pane;
  const known = {
    title,
    cursor: [cursor.x, cursor.y] as const,
    command,
    size: [width, height] as const,
    copyMode,
    composer: composer?.text ?? null,
  };
  return { pane: pane.id, state, draft, rule, why, hold, retrying, known };
}
