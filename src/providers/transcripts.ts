/** Where programs write down what their models are given, and which line of it proves what. */
import type { Agent } from "../model/agent.ts";
import type { Transcript } from "../witness.ts";
import { isClaude, type ClaudeSessions } from "./claude-code/sessions.ts";
import { provesGiven, provesQueued } from "./claude-code/transcript.ts";
import * as rollout from "./codex/rollout.ts";
import type { CodexThreads } from "./codex/threads.ts";
import * as gemini from "./gemini/transcript.ts";

/** A call that was refused, and what its model was told. */
interface Refused {
  readonly firstCall: string;
  readonly words: string;
}

export class Transcripts {
  private readonly gemini = new gemini.GeminiTranscripts();

  constructor(
    private readonly claude: ClaudeSessions,
    private readonly codex: CodexThreads,
  ) {}

  /** null: the program writes none, or none that we know of. */
  of(agent: Agent): Transcript | null {
    if (isClaude(agent)) return { path: this.claude.transcriptOf(agent), proves: (line, { tag }) => provesGiven(line, tag), queues: (line, { tag }) => provesQueued(line, tag) };
    if (agent.provider === "codex") return agent.sessionId === null ? null : { path: this.codex.transcriptOf(agent), proves: rollout.provesGiven };
    const path = agent.provider === "gemini" ? this.gemini.of(agent) : null;
    return path === null ? null : { path, proves: gemini.provesGiven };
  }

  /** A hook told where a session is written down. */
  learn({ provider }: Agent, sessionId: string, path: string): void {
    const keeper = provider === "codex" ? this.codex : provider === "gemini" ? this.gemini : this.claude;
    keeper.learnTranscript(sessionId, path);
  }

  /** Whether the model has been asked again since a call of its was refused. */
  hasReadRefusal({ provider, transcriptPath: path, tool }: { provider: string; transcriptPath: string | null; tool: { id: string } | null }, { firstCall, words }: Refused): boolean {
    if (path === null) return false;
    return provider === "gemini" ? gemini.hasReadRefusal(path, words) : rollout.hasReadRefusal(path, firstCall, tool?.id ?? "");
  }
}
