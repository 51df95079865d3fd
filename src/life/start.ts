import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Agent, LaunchData } from "../model/agent.ts";
import { asTielineError, TielineError } from "../model/errors.ts";
import type { Profile } from "../model/profile.ts";
import type { Directory } from "../directory/directory.ts";
import { digestOf, newToken } from "../directory/token.ts";
import type { HomeConfig } from "../config/home.ts";
import type { HookSetup, Provider } from "../providers/provider.ts";
import { headlessProviderOf, providerOf } from "../providers/providers.ts";
import type { TerminalTraits } from "../providers/traits.ts";
import { readPane } from "../tmux/pane.ts";
import type { Processes } from "../tmux/process.ts";
import type { PanePlace } from "../tmux/session.ts";
import type { TmuxServer } from "../tmux/server.ts";
import { endpointsInPane } from "../transports/paneLocator.ts";
import { locatorOf } from "./adopt.ts";
import { filesEndpoint } from "../transports/filesEndpoint.ts";
import { onStreams } from "./headless.ts";
import { conversationOf, promptOf, wishedProfile, type WantedConversation } from "./launch.ts";
import { settleIn } from "./place.ts";
import { realPath, sandboxedLaunch } from "./sandbox.ts";
import { claimWorkspace, otherWorkspaces } from "./workspace.ts";

export interface StartParts {
  readonly directory: Directory;
  readonly processes: Processes;
  readonly config: HomeConfig;
  /** What a started agent needs to find us: the home, and where the `tieline` command is. */
  readonly home: string;
  readonly binDirectory: string;
  readonly socketsDirectory: string;
  /** How its hooks reach us; null: they can not. */
  readonly hooks: () => HookSetup | null;
  /** What the tmux server gives to programs: where they look for theirs, and the person's own home. */
  readonly env: Readonly<Record<string, string>>;
  /** Where agents work when nobody said otherwise; null: wherever tmux happens to be. */
  readonly directoryOf: (team: string) => string | null;
  /** Whom the agent can write to. */
  readonly reachable: (agent: Agent) => readonly string[];
}

/** Variables by which agent programs, and we, tell children whose they are; a new agent is nobody's child. */
export const nestedVariables = [
  "CLAUDECODE",
  "CLAUDE_CODE_SESSION_ID",
  "CLAUDE_CODE_ENTRYPOINT",
  "CLAUDE_CODE_MESSAGING_SOCKET",
  "CLAUDE_CODE_MESSAGING_TOKEN",
  "CLAUDE_ENV_FILE",
  "CLAUDE_PID",
  "CLAUDE_PROJECT_DIR",
  "CODEX_THREAD_ID",
  "CODEX_SESSION_ID",
  "CODEX_TOOL_CALL_ID",
  "CODEX_SANDBOX",
  "CODEX_SANDBOX_NETWORK_DISABLED",
  "GEMINI_CLI",
  "OPENCODE",
  "TIELINE_TOKEN",
  "TIELINE_HOME",
  "TIELINE_TEAM",
  "TIELINE_SANDBOX",
  "SWARM_WORKSPACE",
];

/** The agent that a profile stands for: the one that holds its name, or a new one that is offline until started. */
export function agentOf(profile: Profile, name: string, team: string, directory: Directory): Agent {
  const { provider, role, may, workspace } = profile;
  const known = directory.roster.named(team, name);
  const launch: LaunchData = { ...known?.launch, profile: profile.name };
  const change = { provider, role, may, workspace, profile: profile.name, launch };
  return known ? { ...known, ...change } : directory.prepare({ name, team, ...change, state: "gone" });
}

/** Starts an enlisted agent where it belongs in tmux, going on with its conversation or with a new one. */
export async function start(server: TmuxServer, agent: Agent, base: Profile, conversation: WantedConversation, parts: StartParts): Promise<Agent> {
  const { directory, processes, config } = parts;
  const wished = wishedProfile(base, agent.launch);
  const profile = { ...wished, workspace: wished.workspace && claimWorkspace(wished.workspace, agent, directory) };
  const isSandboxed = profile.sandbox !== "none";
  const provider = providerFor(profile);
  const { permissions, model } = profile;
  const spoken = await conversationOf(agent, provider, conversation, { ...parts.env, ...profile.env });
  const prompt = writePrompt(agent, profile, provider, parts.home);
  const inside = profile.sandbox === "bwrap" && prompt !== null ? { ...prompt, file: "/run/tieline/prompt.md" } : prompt;
  const plan = provider.launchCommand(profile, { ...spoken, permissions, model, prompt: inside, hooks: isSandboxed ? null : parts.hooks(), ownSocket: isSandboxed ? null : ownSocketOf(agent, parts.socketsDirectory), ownPort: isSandboxed ? null : ownPort() });
  for (const [path, text] of Object.entries(plan.files ?? {})) writeFileSync(path, text, { mode: 0o600 });
  const token = newToken();
  const env = {
    ...plan.env,
    ...profile.env,
    TIELINE_TOKEN: token,
    TIELINE_HOME: parts.home,
    TIELINE_TEAM: agent.team,
    TIELINE_AGENT: agent.name,
    SWARM_TOPOLOGY: parts.reachable(agent).join(","),
    ...(profile.workspace !== null && { SWARM_WORKSPACE: profile.workspace }),
    PATH: `${parts.binDirectory}:${profile.env["PATH"] ?? parts.env["PATH"] ?? ""}`,
  };
  const cwd = profile.cwd ?? parts.directoryOf(agent.team);
  checkLaunch(profile, provider, profile.sandbox === "command" ? (profile.sandboxCommand ?? []) : [plan.program ?? plan.command[0]!], cwd, env.PATH);
  const walled = await sandboxedLaunch({
    ...{ profile, command: plan.command, env, cwd, binDirectory: parts.binDirectory },
    hidden: [parts.home, ...otherWorkspaces(agent, directory)].map(realPath),
    ...(prompt !== null && inside !== prompt && { files: { [inside!.file]: prompt.file } }),
  });
  const streaming = plan.prints && onStreams(walled.command, plan.prints, { home: parts.home, agent: agent.id, conversation: spoken.sessionId, startedAt: Date.now() });
  const launch = { command: scrubbed(streaming?.command ?? walled.command, walled.env), env: walled.env, ...(walled.cwd !== null && { cwd: walled.cwd }) };
  const place = await settleIn(server, { ...agent, role: profile.role }, agent.launch?.task, launch, config);
  const inPane = [...endpointsInPane(provider.name, await locate(server, place, agent, processes, terminalOf(profile))), ...(streaming?.endpoints ?? []), ...(plan.endpoints ?? [])];
  const endpoints = profile.input === "files" ? [filesEndpoint, ...inPane] : inPane;
  const { role, may, workspace } = profile;
  return directory.update(agent.id, {
    provider: provider.name,
    ...{ role, may, workspace, profile: profile.name },
    launch: {
      ...agent.launch,
      profile: profile.name,
      socket: server.socketPath,
      openToPeers: plan.openToPeers ?? false,
      output: streaming?.output,
    },
    endpoints,
    state: "starting",
    stateReason: null,
    sessionId: spoken.sessionId,
    tokenDigest: isSandboxed ? null : digestOf(token),
  });
}

function providerFor(profile: Profile): Provider {
  if (!profile.headless) return providerOf(profile.provider);
  const provider = headlessProviderOf(profile.provider);
  if (provider === null) throw notHeadless(profile);
  return provider;
}

function scrubbed(command: readonly string[], env: Readonly<Record<string, string>>): readonly string[] {
  return ["env", ...nestedVariables.filter((name) => !(name in env)).flatMap((name) => ["-u", name]), ...command];
}

/** Where a program of this agent may listen. */
function ownSocketOf({ id }: Agent, directory: string): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return join(directory, `${id}.sock`);
}

/** A port that is free now. The program takes it a moment later, and nobody else is given it so soon. */
function ownPort(): { port: number; password: string } {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const { port } = listener;
  listener.stop(true);
  return { port, password: newToken() };
}

/** Under the home, for programs that read their prompt from a file and for people who want to know what it was. */
function writePrompt(agent: Agent, profile: Profile, provider: Provider, home: string): { text: string; file: string } | null {
  const text = promptOf(profile, agent, provider);
  if (text === null) return null;
  const file = join(home, "prompts", `${agent.id}.md`);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, text, { mode: 0o600 });
  return { text, file };
}

/** tmux would start nothing, or somewhere else, without a word. */
function checkLaunch(profile: Profile, provider: Provider, [program]: readonly string[], cwd: string | null, path: string): void {
  if (program === undefined) throw noCommand(profile);
  if (cwd !== null && !statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw noDirectory(profile, cwd);
  if (Bun.which(program, { PATH: path, ...(cwd !== null && { cwd }) }) === null) throw notInstalled(profile, provider, program);
}

async function locate(server: TmuxServer, place: PanePlace, agent: Agent, processes: Processes, terminal: Partial<TerminalTraits>) {
  try {
    await server.run([["set-option", "-p", "-t", place.pane, "@tieline_agent", agent.id]]);
    const [pane, program] = await Promise.all([readPane(server, place.pane), processes.read(place.panePid)]);
    if (program === undefined || pane.dead) throw endedAtOnce(agent, place);
    return locatorOf(server, pane, program, terminal);
  } catch (thrown) {
    // Its pane, and perhaps its session and the server, went with it.
    if (["PANE_UNKNOWN", "TMUX_UNAVAILABLE"].includes(asTielineError(thrown).code)) throw endedAtOnce(agent, place, thrown);
    throw thrown;
  }
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

const notHeadless = ({ name, provider, source }: Profile): TielineError =>
  new TielineError("SPAWN_FAILED", `${name} is headless, but ${provider} takes no mail without a terminal`, {
    remedy: `leave \`headless\` out in ${source}, or use \`provider: generic\` with a \`command:\` that reads its mail on its standard input`,
    operands: { profile: name, provider },
  });

const noDirectory = (profile: Profile, cwd: string): TielineError =>
  new TielineError("SPAWN_FAILED", `${profile.name} works in ${cwd}, which is not a directory`, {
    remedy: "make it, or name another one with --cwd",
    operands: { profile: profile.name, cwd },
  });

const notInstalled = (profile: Profile, { install }: Provider, program: string): TielineError =>
  new TielineError("SPAWN_FAILED", `${program} is not installed, or not on the PATH of Tieline's daemon`, {
    remedy: `${install === null ? `install it, or change \`command:\` in ${profile.source}` : `\`${install}\` installs it`}; after a change of PATH, \`tieline daemon stop\` lets the next command start a new one`,
    operands: { profile: profile.name, program },
  });

const endedAtOnce = ({ name }: Agent, { pane }: PanePlace, cause?: unknown): TielineError =>
  new TielineError("SPAWN_FAILED", `the program of ${name} ended at once in ${pane}`, {
    remedy: "run its command by hand in the profile's directory to see why",
    operands: { agent: name, pane },
    cause,
  });
