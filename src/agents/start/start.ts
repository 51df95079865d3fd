import type { HomeConfig } from "../../config/home.ts";
import type { Directory } from "../directory/directory.ts";
import type { Agent } from "../../model/agent.ts";
import { asTielineError, TielineError } from "../../model/errors.ts";
import type { Profile } from "../../model/profile.ts";
import type { TerminalTraits } from "../../providers/traits.ts";
import { readPane } from "../../tmux/pane.ts";
import type { Processes } from "../../os/processes.ts";
import type { PanePlace } from "../../tmux/session.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import { filesEndpoint } from "../../delivery/transports/filesEndpoint.ts";
import { endpointsInPane } from "../../delivery/transports/paneEndpoint.ts";
import { locatorOf } from "../adopt/adopt.ts";
import { conversationOf, wishedProfile, type WantedConversation } from "./launch.ts";
import { exitedAtOnce, takeExit } from "../status/lastExit.ts";
import { lookFor } from "./patience.ts";
import { findPlace } from "../layout/place.ts";
import { prepare, providerFor, type PrepareParts } from "./prepare.ts";
import { claimWorkspace, otherWorkspaces } from "./workspace.ts";

export interface StartParts extends PrepareParts {
  readonly directory: Directory;
  readonly processes: Processes;
  readonly config: HomeConfig;
}

/** Starts an enlisted agent where it belongs in tmux, going on with its conversation or with a new one. */
export async function start(
  server: TmuxServer,
  agent: Agent,
  base: Profile,
  conversation: WantedConversation,
  parts: StartParts,
): Promise<Agent> {
  const { directory, processes, config } = parts;
  const wished = wishedProfile(base, agent.launch);
  const profile = { ...wished, workspace: wished.workspace && claimWorkspace(wished.workspace, agent, directory) };
  const { role, may, workspace } = profile;
  const provider = providerFor(profile, parts.providers);
  const spoken = await conversationOf(agent, provider, conversation, { ...parts.env, ...profile.env }, parts.random);
  const { launch, words, endpoints, output, openToPeers, tokenDigest } = await prepare(
    { agent, profile, provider, conversation: spoken, otherWorkspaces: otherWorkspaces(agent, directory) },
    parts,
  );
  const cwd = profile.cwd ?? parts.directoryOf(agent.team);
  const place = await findPlace(
    server,
    { ...agent, role },
    agent.launch?.task,
    launch,
    parts.directoryOf(agent.team) ?? cwd ?? parts.env["HOME"] ?? null,
    config,
  );
  const locator = {
    ...(await locate(server, place, { agent, command: words, cwd }, processes, terminalOf(profile))),
    resumes: spoken.resume,
  };
  return directory.update(agent.id, {
    provider: provider.name,
    ...{ role, may, workspace, profile: profile.name },
    launch: {
      ...agent.launch,
      profile: profile.name,
      socket: server.socketPath,
      openToPeers,
      output,
      words,
      keepsDead: true,
    },
    lastExit: null,
    endpoints: [
      ...(profile.input === "files" ? [filesEndpoint] : []),
      ...endpointsInPane(provider, locator),
      ...endpoints,
    ],
    state: "starting",
    stateReason: null,
    sessionId: spoken.sessionId,
    tokenDigest,
  });
}

interface Begun {
  readonly agent: Agent;
  readonly command: string;
  readonly cwd: string | null;
}

async function locate(
  server: TmuxServer,
  place: PanePlace,
  { agent, command, cwd }: Begun,
  processes: Processes,
  terminal: Partial<TerminalTraits>,
) {
  try {
    await server.run([["set-option", "-p", "-t", place.pane, "@tieline_agent", agent.id]]);
    const [pane, program] = await Promise.all([readPane(server, place.pane), processes.read(place.panePid)]);
    if (program !== undefined && !pane.dead) return locatorOf(server, pane, program, terminal);
    const kept = { ...place, serverPid: pane.serverPid };
    // The process may be gone a moment before tmux has noticed.
    const exit = await lookFor(
      async () => (await takeExit(server, kept, { command, afterMs: 0 })) ?? undefined,
      noticedWithinMs,
    );
    throw exit === undefined ? endedAtOnce(agent, place) : exitedAtOnce(agent.name, exit, cwd);
  } catch (thrown) {
    // Its pane, and perhaps its session and the server, went with it.
    if (["PANE_UNKNOWN", "TMUX_UNAVAILABLE"].includes(asTielineError(thrown).code))
      throw endedAtOnce(agent, place, thrown);
    throw thrown;
  }
}

/** How long tmux may take to notice that a program has exited. */
const noticedWithinMs = 2_000;

/** What a profile says about its terminal; the provider's own traits hold for the rest. */
function terminalOf({ bracketedPaste, pasteLimit, echo, copyMode, promptPattern }: Profile): Partial<TerminalTraits> {
  return {
    trusted: true,
    ...(bracketedPaste !== null && { bracketedPaste }),
    ...(pasteLimit !== null && { pasteLimit }),
    ...(echo !== null && { echo }),
    ...(copyMode !== null && { copyMode }),
    ...(promptPattern !== null && { prompt: promptPattern }),
  };
}

const endedAtOnce = ({ name }: Agent, { pane }: PanePlace, cause?: unknown): TielineError =>
  new TielineError("SPAWN_FAILED", `${name} exited at once in ${pane}`, {
    remedy: "run its command by hand in the profile's directory to see why",
    operands: { agent: name, pane },
    cause,
  });
