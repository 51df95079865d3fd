/** The agent programs that speak for themselves: what each says of its sessions, and where it writes things down. */
import type { Courier } from "../delivery/courier.ts";
import type { Directory } from "../agents/directory/directory.ts";
import type { Spine } from "../events/spine.ts";
import { ClaudeLink } from "../providers/claude-code/link.ts";
import { CodexLink } from "../providers/codex/link.ts";
import { ProgramLink } from "../providers/programLink.ts";
import type { Mailbox } from "../mailbox/port.ts";
import { endpointBy, type Agent } from "../model/agent.ts";
import type { AgentId, Clock } from "../model/ids.ts";
import { ClaudeSessions, isClaude } from "../providers/claude-code/sessions.ts";
import { CodexThreads } from "../providers/codex/threads.ts";
import { claudeFolder } from "../providers/claude-code/folder.ts";
import { codexFolder } from "../providers/codex/folder.ts";
import { settingsOfGemini } from "../providers/gemini/processes.ts";
import { GeminiTranscripts } from "../providers/gemini/transcript.ts";
import { OpencodeSessions } from "../providers/opencode/sessions.ts";
import { PiSessions } from "../providers/pi/sessions.ts";
import { providers } from "./providers.ts";
import { Transcripts } from "../providers/transcripts/transcripts.ts";
import type { ReportedState } from "../agents/status/reportedState.ts";
import type { StatusReader } from "../agents/status/port.ts";

export interface Programs extends AsyncDisposable {
  readonly claude: ClaudeSessions;
  readonly codex: CodexThreads;
  readonly opencode: OpencodeSessions;
  readonly pi: PiSessions;
  readonly transcripts: Transcripts;
  /** Where Claude Code keeps its things. */
  readonly claudeConfig: string;
  /** What an agent's program says that it does; null: it says nothing. */
  said(agent: Agent): ReportedState | null;
  /** Calls back when it may say something else. */
  watch(agent: Agent, changed: () => void): Disposable;
}

export function agentPrograms(
  env: Readonly<Record<string, string>>,
  clock: Clock,
  report: (context: string, fault: unknown) => void,
): Programs {
  const claudeConfig = claudeFolder(env);
  const claude = new ClaudeSessions({ configDir: claudeConfig, clock });
  const codex = new CodexThreads({ codexHome: codexFolder(env), clock, report });
  const opencode = new OpencodeSessions({ clock, report });
  const pi = new PiSessions({ clock, report });
  return {
    claude,
    codex,
    opencode,
    pi,
    transcripts: new Transcripts(claude, codex, new GeminiTranscripts((agent) => settingsOfGemini(agent, env))),
    claudeConfig,
    said: (agent) =>
      isClaude(agent) ? claude.said(agent) : (codex.said(agent) ?? opencode.said(agent) ?? pi.said(agent)),
    watch: (agent, changed) =>
      agent.provider === "codex" ? codex.watch(agent, { changed }) : claude.watch(agent, changed),
    async [Symbol.asyncDispose]() {
      await codex[Symbol.asyncDispose]();
      await opencode[Symbol.asyncDispose]();
      await pi[Symbol.asyncDispose]();
    },
  };
}

export interface LinkParts {
  readonly directory: Directory;
  readonly mailbox: Mailbox;
  readonly courier: Courier;
  readonly events: Spine;
  readonly report: (context: string, fault: unknown) => void;
}

/** What keeps the directory true to the words of the programs, and mail moving by them. */
export function linksTo(
  programs: Programs,
  { directory, mailbox, courier, events, report }: LinkParts,
): readonly (Disposable & { start(): void })[] {
  const common = { directory, onEvent: events.onEvent, changed: (agent: AgentId) => courier.wake(agent) };
  const turnEnded = (agent: AgentId): void =>
    void courier.reconsider(agent).catch((fault: unknown) => report(`reconsider the mail of ${agent}`, fault));
  return [
    new ClaudeLink({ ...common, sessions: programs.claude }),
    new CodexLink({ ...common, threads: programs.codex, turnEnded }),
    ...[programs.opencode, programs.pi].map(
      (program) =>
        new ProgramLink({
          ...common,
          program,
          mailbox,
          report,
          reconsider: (agent, delivered) => courier.reconsider(agent, delivered),
        }),
    ),
  ];
}

/**
 * Why an agent's program tries to reach its model again: in its own words where it has some, else as its screen shows.
 */
export const retryReasonOf =
  ({ opencode }: Pick<Programs, "opencode">, statusReader: Pick<StatusReader, "explain">) =>
  async (agent: Agent): Promise<string | null | undefined> => {
    const own = opencode.retryingOf(agent);
    if (own !== undefined) return own;
    const pane = endpointBy("tmux", agent);
    const tells = pane !== undefined && providers.screen(agent.provider).retrying !== undefined;
    return tells ? (await statusReader.explain(agent, pane)).retrying : undefined;
  };
