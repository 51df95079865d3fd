/** Where programs write down what their models are given. */
import type { Agent } from "../../model/agent.ts";
import { openUntrusted } from "../../os/untrustedFile.ts";
import type { Transcript, TranscriptSource } from "./port.ts";

/** A refused call, and the text that its model got. */
interface Refused {
  readonly firstCall: string;
  readonly words: string;
}

/** The part of a hook call that names a transcript. */
interface Recorded {
  readonly provider: string;
  readonly sessionId: string;
  readonly transcriptPath: string | null;
  readonly tool: { readonly id: string } | null;
}

export class Transcripts {
  constructor(private readonly sourceOf: (provider: string) => TranscriptSource | undefined) {}

  /** As far as it was written to since then; null: the program writes none, or none is known. */
  of(agent: Agent, since = 0): Transcript | null {
    return this.sourceOf(agent.provider)?.of(agent, since) ?? null;
  }

  /** The size of the transcript that a hook names; null: it is not a file that may be read. */
  lengthOf(agent: Agent, { provider, transcriptPath }: Pick<Recorded, "provider" | "transcriptPath">): number | null {
    const below = this.sourceOf(provider)?.foldersOf(agent);
    if (transcriptPath === null || below === undefined) return null;
    const file = openUntrusted(transcriptPath, { below });
    if (!file.ok) return null;
    using _ = file;
    return file.stats.size;
  }

  /** A hook names the file of its session. */
  learn(agent: Agent, { provider, sessionId, transcriptPath }: Recorded): void {
    if (transcriptPath !== null) this.sourceOf(provider)?.learn(agent, sessionId, transcriptPath);
  }

  /** Whether the transcript with a message in it tells which session the agent is in. */
  tellsSession({ provider }: Agent): boolean {
    return this.sourceOf(provider)?.tellsSession ?? false;
  }

  /** Whether the model has been asked again since a call was refused. */
  async hasReadRefusal(
    agent: Agent,
    { provider, transcriptPath: path, tool }: Recorded,
    refused: Refused,
  ): Promise<boolean> {
    const source = this.sourceOf(provider);
    if (path === null || source?.hasReadRefusal === undefined) return false;
    return source.hasReadRefusal(agent, { path, call: tool?.id ?? "", ...refused });
  }
}
