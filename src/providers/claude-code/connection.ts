import type { ConnectParts, ProviderConnection } from "../port.ts";
import { claudeFolder } from "./folder.ts";
import { ClaudeLink } from "./link.ts";
import { readRegistry } from "./registry.ts";
import { ClaudeReplies } from "./replies.ts";
import { sendMessageHandlers } from "./sendMessage.ts";
import { ClaudeSessions, isClaude } from "./sessions.ts";
import { claudeLines } from "./transcript.ts";
import { claudeSocketTransport } from "./transports/socket/transport.ts";
import { streamJsonTransport } from "./transports/streamJson/transport.ts";

export function connect({ env, clock, timers, report }: ConnectParts): ProviderConnection {
  const configDir = claudeFolder(env);
  const sessions = new ClaudeSessions({ configDir, clock });
  const open = new AsyncDisposableStack();
  const reportedState: NonNullable<ProviderConnection["reportedState"]> = (agent) => sessions.reportedState(agent);
  const watch: NonNullable<ProviderConnection["watch"]> = (agent, changed) => sessions.watch(agent, changed);
  return {
    reportedState,
    watch,
    hookFired: (agent, state) => sessions.heard(agent, state),
    transcripts: {
      of(agent) {
        const { sessionId } = agent;
        // A member of a native team is in no session that is known.
        if (sessionId === null) return null;
        const path = sessions.transcriptOf(agent);
        const files = path === null ? [] : [{ path, conversation: sessionId }];
        return { conversation: sessionId, files, below: [sessions.transcriptFolder(agent)], reader: claudeLines };
      },
      foldersOf: (agent) => [sessions.transcriptFolder(agent)],
      learn: (agent, sessionId, path) => sessions.learnTranscript(agent, sessionId, path),
    },
    async registered() {
      const registry = await readRegistry(configDir);
      return registry.sessions.map((session) => ({ ...session, provider: "claude-code" }));
    },
    isOtherSession(agent, sessionId) {
      const session = sessions.of(agent);
      return session !== null && session.sessionId !== sessionId;
    },
    hookHandlers: ({ router }) =>
      sendMessageHandlers({ router, knownNatively: (name, agent) => sessions.knows(name, agent) }),
    transports({ home, router, mailbox, directory, proofOf, command, hooksReach }) {
      const isAt = (path: string): ((agent: Parameters<typeof reportedState>[0]) => boolean) => {
        return (agent) => isClaude(agent) && sessions.of(agent)?.messagingSocketPath === path;
      };
      const replies = open.use(
        new ClaudeReplies({
          ...{ router, mailbox, report },
          agentAt: (path) => directory.agents().find(isAt(path)) ?? null,
        }),
      );
      return [
        claudeSocketTransport({
          ...{ sessions, proofOf, command, hooksReach, timers },
          replyPath: (session) => replies.beside(session.messagingSocketPath!),
        }),
        streamJsonTransport({ home, reportedState, watchState: watch, proofOf, timers }),
      ];
    },
    links: ({ directory, onEvent, changed }) => [new ClaudeLink({ directory, onEvent, changed, sessions })],
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
