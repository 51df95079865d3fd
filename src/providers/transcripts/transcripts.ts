/** Where programs write down what their models are given, and which line of it proves what. */
import type { Agent } from "../../model/agent.ts";
import { openUntrusted } from "../../os/untrustedFile.ts";
import type { LineReader, Transcript } from "./port.ts";
import { isClaude, type ClaudeSessions } from "../claude-code/sessions.ts";
import { claudeLines } from "../claude-code/transcript.ts";
import * as rollout from "../codex/rollout.ts";
import type { CodexThreads } from "../codex/threads.ts";
import * as gemini from "../gemini/transcript.ts";
import type { GeminiTranscripts } from "../gemini/transcript.ts";

/** A call that was refused, and what its model was told. */
interface Refused {
  readonly firstCall: string;
  readonly words: string;
}

interface RefusingCall {
  readonly provider: string;
  readonly transcriptPath: string | null;
  readonly tool: { readonly id: string } | null;
}

export class Transcripts {
  constructor(
    private readonly claude: ClaudeSessions,
    private readonly codex: CodexThreads,
    private readonly gemini: GeminiTranscripts,
  ) {}

  /** As far as it was written to since then. null: the program writes none, or none that we know of. */
  of(agent: Agent, since = 0): Transcript | null {
    // A member of a native team is in no session that is known.
    if (isClaude(agent) && agent.sessionId === null) return null;
    if (isClaude(agent))
      return transcript(
        agent,
        { path: this.claude.transcriptOf(agent), below: [this.claude.transcriptFolder(agent)] },
        claudeLines,
      );
    if (agent.provider === "codex")
      return agent.endpoints.length === 0
        ? null
        : { conversation: agent.sessionId, ...this.codex.transcriptsOf(agent, since), reader: rollout.rolloutLines };
    const path = agent.provider === "gemini" ? this.gemini.of(agent) : null;
    return path === null ? null : transcript(agent, { path, below: [this.gemini.folderOf(agent)] }, gemini.geminiLines);
  }

  /** How long a transcript is that a hook names; null when it is none that we would read. */
  lengthAt(agent: Agent, path: string): number | null {
    const file = openUntrusted(path, { below: this.foldersOf(agent, path) });
    if (!file.ok) return null;
    using _ = file;
    return file.stats.size;
  }

  private foldersOf(agent: Agent, path: string): readonly string[] {
    if (agent.provider === "codex") return this.codex.rolloutAt(agent, path).below;
    return [agent.provider === "gemini" ? this.gemini.folderOf(agent) : this.claude.transcriptFolder(agent)];
  }

  /** A hook told where a session is written down. */
  learn(agent: Agent, sessionId: string, path: string): void {
    const keeper = agent.provider === "codex" ? this.codex : agent.provider === "gemini" ? this.gemini : this.claude;
    keeper.learnTranscript(agent, sessionId, path);
  }

  /** Whether the model has been asked again since a call of its was refused. */
  async hasReadRefusal(
    agent: Agent,
    { provider, transcriptPath: path, tool }: RefusingCall,
    { firstCall, words }: Refused,
  ): Promise<boolean> {
    if (path === null) return false;
    if (provider === "gemini") return gemini.hasReadRefusal(path, this.gemini.folderOf(agent), words);
    // Claude Code says itself when a batch of calls is over.
    if (provider !== "codex") return false;
    return rollout.hasReadRefusal(this.codex.rolloutAt(agent, path), firstCall, tool?.id ?? "");
  }
}

interface Place {
  readonly path: string | null;
  readonly below: readonly string[];
}

function transcript({ sessionId }: Agent, place: Place | null, reader: () => LineReader): Transcript {
  const { path, below } = place ?? { path: null, below: [] };
  return { conversation: sessionId, files: path === null ? [] : [{ path, conversation: sessionId }], below, reader };
}
