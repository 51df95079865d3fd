import type { Agent, LaunchData } from "../model/agent.ts";
import { TielineError } from "../model/errors.ts";
import type { Profile } from "../model/profile.ts";
import type { Directory } from "../directory/directory.ts";
import { digestOf, newToken } from "../directory/token.ts";
import type { HomeConfig } from "../config/home.ts";
import type { TerminalTraits } from "../providers/traits.ts";
import { readPane } from "../tmux/pane.ts";
import type { Processes } from "../tmux/process.ts";
import { ensureSession, newWindow, sessionName, type PanePlace } from "../tmux/session.ts";
import type { TmuxServer } from "../tmux/server.ts";
import { paneEndpoint } from "../transports/tmux/locator.ts";
import { locatorOf } from "./adopt.ts";

export interface StartParts {
  readonly directory: Directory;
  readonly processes: Processes;
  readonly config: HomeConfig;
  /** What a started agent needs to find us: the home, and where the `tieline` command is. */
  readonly home: string;
  readonly binDirectory: string;
  readonly path: string;
}

/** Variables by which agent programs tell their own children that they are nested; a new agent is nobody's child. */
export const nestedVariables = [
  "CLAUDECODE",
  "CLAUDE_CODE_SESSION_ID",
  "CLAUDE_CODE_ENTRYPOINT",
  "CLAUDE_CODE_MESSAGING_SOCKET",
  "CLAUDE_CODE_MESSAGING_TOKEN",
  "CODEX_THREAD_ID",
  "CODEX_SESSION_ID",
  "CODEX_SANDBOX",
  "CODEX_SANDBOX_NETWORK_DISABLED",
  "GEMINI_CLI",
  "OPENCODE",
  "TIELINE_TOKEN",
  "TIELINE_TEAM",
];

/** The agent that a profile stands for: the one that holds its name, or a new one that is offline until started. */
export function agentOf(profile: Profile, name: string, team: string, directory: Directory): Agent {
  const { provider, role, may, workspace } = profile;
  const launch: LaunchData = { profile: profile.name };
  const change = { provider, role, may, workspace, profile: profile.name, launch };
  const known = directory.roster.named(team, name);
  return known ? { ...known, ...change } : directory.prepare({ name, team, ...change, state: "gone" });
}

/** Starts an enlisted agent in a window of its own, in the session of its team. */
export async function start(server: TmuxServer, agent: Agent, profile: Profile, parts: StartParts): Promise<Agent> {
  const { directory, processes, config } = parts;
  const command = profile.command;
  if (command === null) throw noCommand(profile);
  const token = newToken();
  const session = teamSession(agent.team, config);
  if (config.session.autoCreate) await ensureSession(server, { name: session, window: config.session.defaultWindow });
  const env = {
    ...profile.env,
    TIELINE_TOKEN: token,
    TIELINE_HOME: parts.home,
    TIELINE_TEAM: agent.team,
    TIELINE_AGENT: agent.name,
    PATH: `${parts.binDirectory}:${parts.path}`,
  };
  const scrubbed = ["env", ...nestedVariables.filter((name) => !(name in env)).flatMap((name) => ["-u", name]), ...command, ...profile.args];
  const place = await newWindow(server, { session, name: agent.role ?? agent.name, command: scrubbed, env, ...(profile.cwd && { cwd: profile.cwd }) });
  await server.run([["set-option", "-p", "-t", place.pane, "@tieline_agent", agent.id]]);
  const endpoint = paneEndpoint(await locate(server, place, processes, terminalOf(profile)));
  return directory.update(agent.id, {
    endpoints: [endpoint],
    state: "starting",
    stateReason: null,
    tokenDigest: digestOf(token),
  });
}

/** One session per team; the team `default` has the session that the configuration names. */
export function teamSession(team: string, config: HomeConfig): string {
  return sessionName(team === "default" ? config.session.name : team);
}

async function locate(server: TmuxServer, place: PanePlace, processes: Processes, terminal: Partial<TerminalTraits>) {
  const [pane, program] = await Promise.all([readPane(server, place.pane), processes.read(place.panePid)]);
  if (program === undefined || pane.dead) {
    throw new TielineError("SPAWN_FAILED", `the program ended at once in ${place.pane}`, {
      remedy: "run its command by hand in the profile's directory to see why",
      operands: { pane: place.pane },
    });
  }
  return locatorOf(server, pane, program, terminal);
}

/** What a profile says about its terminal; the provider's own traits hold for the rest. */
function terminalOf({ bracketedPaste, pasteLimit, echo, copyMode, promptPattern }: Profile): Partial<TerminalTraits> {
  return {
    ...(bracketedPaste !== null && { bracketedPaste }),
    ...(pasteLimit !== null && { pasteLimit }),
    ...(echo !== null && { echo }),
    ...(copyMode !== null && { copyMode }),
    ...(promptPattern !== null && { prompt: promptPattern }),
  };
}

const noCommand = (profile: Profile): TielineError =>
  new TielineError("SPAWN_FAILED", `the profile ${profile.name} has no command`, {
    remedy: `give it a \`command:\` in ${profile.source}`,
    operands: { profile: profile.name },
  });
