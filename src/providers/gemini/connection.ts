import type { ConnectParts, ProviderConnection } from "../port.ts";
import { settingsOfGemini } from "./processes.ts";
import { geminiLines, GeminiTranscripts, hasReadRefusal } from "./transcript.ts";

export function connect({ env }: ConnectParts): ProviderConnection {
  const transcripts = new GeminiTranscripts((agent) => settingsOfGemini(agent, env));
  return {
    transcripts: {
      of(agent) {
        const path = transcripts.of(agent);
        if (path === null) return null;
        const { sessionId: conversation } = agent;
        const files = [{ path, conversation }];
        return { conversation, files, below: [transcripts.folderOf(agent)], reader: geminiLines };
      },
      foldersOf: (agent) => [transcripts.folderOf(agent)],
      learn: (agent, sessionId, path) => transcripts.learnTranscript(agent, sessionId, path),
      hasReadRefusal: async (agent, { path, words }) => hasReadRefusal(path, transcripts.folderOf(agent), words),
    },
  };
}
