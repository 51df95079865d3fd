/** What Claude Code itself says about the sessions that are our agents: its registry, its transcripts, its settings. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Agent, AgentState } from "../../model/agent.ts";
import { elapsedFor, systemClock, type AgentId, type Clock, type Elapsed } from "../../model/ids.ts";
import { entriesIn } from "../../os/entries.ts";
import { leadsInto, settingsRules, untrustedText } from "../../os/untrustedFile.ts";
import { renewWatcher } from "../../os/watchFolder.ts";
import type { ReportedState } from "../../agents/status/reportedState.ts";
import { claudeFolder } from "./folder.ts";
import { parsedObject } from "../jsonText.ts";
import { environOf } from "../processFiles.ts";
import { parentNow, sessionNow, type RegisteredSession } from "./registry.ts";
import { tmuxEndpoint } from "../../delivery/transports/paneEndpoint.ts";

export interface ClaudeSessionsOptions {
  /** Where Claude Code keeps its things when its process does not tell. */
  readonly configDir: string;
  readonly environ?: (pid: number) => Readonly<Record<string, string>>;
  readonly clock?: Clock;
}

/** With a screen or without. */
export const isClaude = ({ provider }: Pick<Agent, "provider">): boolean =>
  provider === "claude-code" || provider === "claude-headless";

/** A hook reports at once what the registry says up to two tenths of a second later. */
const hookOutranksMs = 2_000;

export class ClaudeSessions {
  private readonly clock: Clock;
  private readonly elapsed: Elapsed;
  private readonly environ: (pid: number) => Readonly<Record<string, string>>;
  private readonly configDirs = new Map<number, string>();
  private readonly transcripts = new Map<string, string>();
  private readonly toldByHook = new Map<
    AgentId,
    { readonly state: AgentState; readonly at: number; readonly since: number }
  >();

  constructor(private readonly options: ClaudeSessionsOptions) {
    this.clock = options.clock ?? systemClock;
    this.elapsed = elapsedFor(options.clock);
    this.environ = options.environ ?? environOf;
  }

  /** The registered session of an agent's process; null when it has none that lives. */
  of(agent: Agent): RegisteredSession | null {
    const pid = pidOf(agent);
    if (pid === null) return null;
    const configDir = this.configDirOf(pid);
    return (
      sessionNow(configDir, pid) ??
      this.behind(pid, configDir) ??
      (agent.provider === "claude-headless" ? this.called(agent.sessionId, configDir) : null)
    );
  }

  /** A program behind a shell has a pid of its own. The nearest is meant: its tools may run Claude Code as well. */
  private behind(shell: number, configDir: string): RegisteredSession | null {
    const below = registeredIn(configDir).map((pid) => ({ pid, steps: lineageOf(pid).indexOf(shell) }));
    const nearestFirst = below.filter(({ steps }) => steps > 0).toSorted((a, b) => a.steps - b.steps);
    return nearestFirst.map(({ pid }) => sessionNow(configDir, pid)).find((session) => session !== null) ?? null;
  }

  /** Where the parent of a process is unknown, the conversation that we chose identifies it. */
  private called(sessionId: string | null, configDir: string): RegisteredSession | null {
    return (
      registeredIn(configDir)
        .map((pid) => sessionNow(configDir, pid))
        .find((session) => session?.sessionId === sessionId) ?? null
    );
  }

  /** What the program says that it does; null when it says nothing. */
  reportedState(agent: Agent): ReportedState | null {
    const session = this.of(agent);
    if (session === null || session.status === "unknown") return null;
    const told = this.toldByHook.get(agent.id);
    const forMs = told ? hookOutranksMs - (this.elapsed() - told.since) : 0;
    if (told && told.at > (session.statusUpdatedAt ?? 0) && forMs > 0)
      return { state: told.state, reason: null, forMs };
    return { state: stateOf(session), reason: session.status === "waiting" ? (session.waitingFor ?? null) : null };
  }

  /** A hook of the session fired. That a turn ends the registry tells better, because other hooks may prolong it. */
  heard(agent: Agent, state: AgentState): void {
    if (state === "idle") this.toldByHook.delete(agent.id);
    else this.toldByHook.set(agent.id, { state, at: this.clock(), since: this.elapsed() });
  }

  /** Calls back when the registry changes. */
  watch(agent: Agent, changed: () => void): Disposable {
    const pid = pidOf(agent);
    const watcher =
      pid === null ? undefined : renewWatcher(undefined, join(this.configDirOf(pid), "sessions"), changed);
    return { [Symbol.dispose]: () => watcher?.close() };
  }

  /** The file in which the session is written down; null as long as nothing was said in it. */
  transcriptOf(agent: Agent): string | null {
    const { sessionId } = agent;
    if (sessionId === null) return null;
    const known = this.transcripts.get(sessionId);
    if (known !== undefined) return existsSync(known) ? known : null;
    const projects = this.transcriptFolder(agent);
    const found = entriesIn(projects)
      .map((folder) => join(projects, folder, `${sessionId}.jsonl`))
      .find((path) => existsSync(path));
    if (found !== undefined) this.transcripts.set(sessionId, found);
    return found ?? null;
  }

  /** Where the agent's Claude Code keeps its transcripts. A file elsewhere proves nothing. */
  transcriptFolder(agent: Agent): string {
    const pid = pidOf(agent);
    return join(pid === null ? this.options.configDir : this.configDirOf(pid), "projects");
  }

  /**
   * A hook told where the transcript is, perhaps before it is there; it is believed only where transcripts are kept.
   */
  learnTranscript(agent: Agent, sessionId: string, path: string): void {
    if (leadsInto(path, this.transcriptFolder(agent))) this.transcripts.set(sessionId, path);
  }

  /** Whether Claude Code itself knows this name: a session that runs, or a member of a team. */
  knows(name: string, agent: Agent): boolean {
    const pid = pidOf(agent);
    const configDir = pid === null ? this.options.configDir : this.configDirOf(pid);
    const sessions = entriesIn(join(configDir, "sessions")).map((file) =>
      settingsIn(join(configDir, "sessions", file)),
    );
    if (sessions.some((session) => session?.["name"] === name || session?.["sessionId"] === name)) return true;
    const teams = entriesIn(join(configDir, "teams")).map((team) =>
      settingsIn(join(configDir, "teams", team, "config.json")),
    );
    // Whom we registered there is ours to reach, not Claude Code's.
    return teams.some((team) =>
      (team?.["members"] as { name?: string; tieline?: unknown }[] | undefined)?.some(
        (member) => member.name === name && member.tieline === undefined,
      ),
    );
  }

  /** Whether the user allows other sessions to write to this one, in the settings that it reads. */
  acceptsPeers(session: RegisteredSession): boolean {
    const configDir = this.configDirOf(session.pid);
    const files = [
      join(session.cwd, ".claude", "settings.local.json"),
      join(session.cwd, ".claude", "settings.json"),
      join(configDir, "settings.json"),
    ];
    for (const file of files) {
      const wish = settingsIn(file)?.["crossSessionInbound"];
      if (wish !== undefined) return wish === "accept";
    }
    return false;
  }

  private configDirOf(pid: number): string {
    const env = this.environ(pid);
    // Before a new process has become Claude Code it has another environment, or none; after its exit it has none.
    if (env["CLAUDE_CONFIG_DIR"] || env["HOME"]) this.configDirs.set(pid, claudeFolder(env));
    return this.configDirs.get(pid) ?? this.options.configDir;
  }
}

/** The pane's program; its pid is also in the registry's file name. */
function pidOf(agent: Agent): number | null {
  return tmuxEndpoint.of(agent)?.locator.agentPid ?? null;
}

const registeredIn = (configDir: string): number[] =>
  entriesIn(join(configDir, "sessions"))
    .map((file) => Number.parseInt(file, 10))
    .filter(Number.isInteger);

/** A process and those above it, as far as can be told. */
function lineageOf(pid: number): number[] {
  const lineage: number[] = [];
  for (let one: number | null = pid; one !== null && one > 0; one = parentNow(one)) lineage.push(one);
  return lineage;
}

/** What a registered session says that it does. */
export function stateOf({ status, waitingFor = "" }: RegisteredSession): AgentState {
  if (status === "idle") return "idle";
  if (status === "busy") return "working";
  if (waitingFor === "permission prompt") return "permission";
  return waitingFor === "input needed" ? "question" : "dialog";
}

/** A broken file counts as missing: settings then allow nothing, and lists are empty. */
function settingsIn(file: string): Record<string, unknown> | null {
  try {
    const text = untrustedText(file, settingsRules());
    return text === null ? null : parsedObject(text);
  } catch {
    return null;
  }
}
