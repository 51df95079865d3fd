/**
 * Delivery into a program in a tmux pane: look, paste, look, Enter. Each write is guarded by what the look before it
 * saw, and leaves a mark in the tmux server, so that after a crash it is known how far it came.
 */
import type { Agent, AgentState, Endpoint } from "../../model/agent.ts";
import type { Outcome } from "../../model/delivery.ts";
import { systemClock, type Clock } from "../../model/ids.ts";
import { screenManifest, withPrompt, type ScreenManifest } from "../../providers/screen.ts";
import { terminalTraits, type HomeTraits, type TerminalTraits } from "../../providers/traits.ts";
import { ttyMode, type Processes } from "../../tmux/process.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import { enterGuarded, leaveMode, pasteGuarded, type Guards } from "../../tmux/write.ts";
import type { Errand, Readiness, Transport } from "../port.ts";
import { paneLocator, type PaneLocator } from "./locator.ts";
import { judge, see, type Sight, type There } from "./sight.ts";
import { canonicalLimit, paneText, type Taking } from "./text.ts";
import { standing } from "./verify.ts";
import type { PaneWatch } from "./watch.ts";

export interface TmuxTransportParts {
  /** The server behind a socket path. */
  readonly server: (socket: string) => TmuxServer;
  readonly processes: Processes;
  readonly watches: PaneWatch;
  /** What the pane showed about its agent. */
  readonly observed: (agent: Agent, state: AgentState, reason: string | null) => void;
  /** Settings of the home, below what a profile says. */
  readonly defaults?: HomeTraits;
  /** The user's own screen rules for a provider, where there are any. */
  readonly manifest?: (provider: string) => ScreenManifest;
  readonly clock?: Clock;
  readonly platform?: NodeJS.Platform;
  /** Enter may be pressed again this often, while the composer holds exactly our text. */
  readonly enterRepeats?: number;
  readonly pause?: (ms: number) => Promise<void>;
}

/** How an agent's pane is read and written. */
interface Access {
  readonly server: TmuxServer;
  readonly locator: PaneLocator;
  readonly traits: TerminalTraits;
  readonly manifest: ScreenManifest;
}

export interface TmuxTransport extends Transport {
  /** Could this agent be written to now? What `ready` answers, without a message. */
  probe(agent: Agent, endpoint: Endpoint): Promise<Readiness>;
}

export function tmuxTransport(parts: TmuxTransportParts): TmuxTransport {
  const { processes, watches, observed, clock = systemClock, platform = process.platform, enterRepeats = 2, pause = Bun.sleep } = parts;
  const manifests = new Map<string, ScreenManifest>();

  return {
    name: "tmux",
    traits: { bestProof: "screen", authority: "user" },

    ready: ({ agent, endpoint }) => probe(agent, endpoint),
    probe,

    async deliver(errand, signal) {
      const access = accessTo(errand.agent, errand.endpoint);
      const sight = (errand.observed as There | undefined) ?? (await seeAgent(errand.agent, access));
      if (sight.kind === "gone") return sight;
      if (sight.look.pane.inMode) return leaveCopyMode(access, sight);
      const text = await textFor(errand, access, sight);
      const pasted = await pasteGuarded(access.server, { ...guardedBy(access, sight), text, mark: errand.mark });
      if (!pasted.done) return changed(access, pasted.failed);
      return submit(access, errand, text, sight, signal);
    },

    async inspect(errand) {
      const access = accessTo(errand.agent, errand.endpoint);
      const sight = await seeAgent(errand.agent, access);
      if (sight.kind === "gone") return { kind: "unknown", detail: sight.detail };
      const { pasted, entered } = sight.look.pane;
      if (entered === errand.mark) return { kind: "handed", proof: "screen", detail: "Enter was pressed before the answer was lost" };
      if (pasted !== errand.mark) return { kind: "absent", detail: "nothing was typed" };
      const text = await textFor(errand, access, sight);
      if (standing(access.manifest, access.traits, sight, text, null) !== "ours") {
        return { kind: "unknown", detail: `it was pasted into ${access.locator.pane}, and is not there any more` };
      }
      return submit(access, errand, text, sight, AbortSignal.timeout(5_000));
    },

    watch(agent, endpoint, changed) {
      const { server, locator } = accessTo(agent, endpoint);
      return watches.watch(server, locator.pane, changed);
    },
  };

  async function probe(agent: Agent, endpoint: Endpoint): Promise<Readiness> {
    const access = accessTo(agent, endpoint);
    const sight = await seeAgent(agent, access);
    if (sight.kind === "gone") return sight;
    const verdict = judge(sight, access.traits, watches, clock());
    return verdict.kind === "ready" ? { kind: "ready", observed: sight } : verdict;
  }

  /** Waits until exactly our text stands in the composer, then presses Enter; never on anything else. */
  async function submit(access: Access, errand: Errand, text: string, before: There, signal: AbortSignal): Promise<Outcome> {
    const { pane } = access.locator;
    await pause(access.traits.enterGapMs);
    let presses = 0;
    let enteredAt: There | null = null;
    for (const delay of backingOff()) {
      const sight = await seeAgent(errand.agent, access);
      if (sight.kind === "gone") return { kind: "unknown", detail: `it was pasted, then ${sight.detail}` };
      const stands = standing(access.manifest, access.traits, sight, text, presses === 0 ? before : null);
      if (presses > 0 && stands !== "ours") return { kind: "handed", proof: "screen", detail: `typed into ${pane}` };
      if (presses > 0 && !access.traits.echo) return { kind: "handed", proof: "screen", detail: `typed into ${pane}, which shows nothing` };
      if (enteredAt && !sameCursor(enteredAt, sight)) return { kind: "handed", proof: "screen", detail: `typed into ${pane}` };
      const mayPress = presses === 0 || (delay.sinceMs > enterPatienceMs * presses && presses <= enterRepeats);
      if (stands === "ours" && mayPress && safeToEnter(sight)) {
        const entered = await enterGuarded(access.server, { ...guardedBy(access, sight), mark: errand.mark });
        if (entered.done) {
          presses++;
          enteredAt = sight;
        }
      }
      if (signal.aborted) break;
      await pause(delay.ms);
    }
    const what = presses > 0 ? "Enter did not submit it" : "it could not be checked on the screen, so Enter was not pressed";
    return { kind: "unknown", detail: `it was pasted into ${pane}; ${what}` };
  }

  function accessTo(agent: Agent, endpoint: Endpoint): Access {
    const locator = paneLocator(endpoint);
    const traits = terminalTraits(agent.provider, locator.terminal, parts.defaults);
    return { server: parts.server(locator.socket), locator, traits, manifest: manifestOf(agent.provider, traits.prompt) };
  }

  function manifestOf(provider: string, prompt: string | null): ScreenManifest {
    const key = `${provider} ${prompt ?? ""}`;
    let manifest = manifests.get(key);
    if (manifest === undefined) {
      const base = (parts.manifest ?? screenManifest)(provider);
      manifests.set(key, (manifest = prompt === null ? base : withPrompt(base, prompt)));
    }
    return manifest;
  }

  async function seeAgent(agent: Agent, { server, locator, manifest }: Access): Promise<Sight> {
    const sight = await see(server, processes, locator, manifest);
    if (sight.kind === "gone") observed(agent, "gone", sight.detail);
    else observed(agent, sight.reading.state, null);
    return sight;
  }

  async function textFor({ message }: Errand, access: Access, sight: There): Promise<string> {
    return paneText(message, access.traits, await takingOf(access, sight), "user").text;
  }

  /** Whether the program takes several lines at once: tmux knows, or we saw it ask, or its terminal tells. */
  async function takingOf({ traits, locator }: Access, { look: { pane } }: There): Promise<Taking> {
    const asked = pane.bracketedPaste ?? watches.bracketedPaste(locator.socket, pane.id) ?? traits.bracketedPaste;
    if (asked === true) return { multiline: true, lineLimit: null };
    const canonical = (await ttyMode(pane.tty, { platform })) === "canonical";
    return { multiline: asked ?? !canonical, lineLimit: canonical ? canonicalLimit(platform) : null };
  }
}

/** A program that takes this long over an Enter has swallowed it. */
const enterPatienceMs = 1_000;

const sameCursor = (a: There, b: There): boolean => a.look.pane.cursor.x === b.look.pane.cursor.x && a.look.pane.cursor.y === b.look.pane.cursor.y;

function guardedBy({ locator }: Access, { look: { pane } }: There): { pane: string; panePid: number; guards: Guards } {
  const { title, cursor, currentCommand: command, pasted } = pane;
  return { pane: locator.pane, panePid: locator.panePid, guards: { serverPid: locator.serverPid, title, cursor, command, pasted } };
}

/** Leaving copy mode redraws the pane; the next look decides about typing. */
async function leaveCopyMode({ server, locator }: Access, sight: There): Promise<Outcome> {
  await leaveMode(server, { pane: locator.pane, panePid: sight.look.pane.pid });
  return { kind: "held", hold: { reason: "copy-mode", detail: `${locator.pane} was in copy mode and nobody looked` } };
}

function changed({ locator }: Access, failed: readonly string[]): Outcome {
  return { kind: "held", hold: { reason: "busy", detail: `${locator.pane} changed just before the paste (${failed.join(", ")})` } };
}

/** A dialog can open between the paste and Enter; the paste is ignored by it, and Enter would answer it. */
function safeToEnter({ reading, look: { pane } }: There): boolean {
  return !pane.inMode && !["permission", "question", "dialog", "limited", "done"].includes(reading.state);
}

/** Echo comes within a millisecond or two on a quiet machine and may take long on a busy one. */
function* backingOff(): Generator<{ ms: number; sinceMs: number }> {
  let sinceMs = 0;
  for (let ms = 1; ; ms = Math.min(ms * 1.5, 50)) {
    yield { ms, sinceMs };
    sinceMs += ms;
  }
}

