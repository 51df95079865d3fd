import type { AgentId } from "../../model/ids.ts";
import type { ConnectParts, ProviderConnection } from "../port.ts";
import { codexFolder } from "./folder.ts";
import { CodexLink } from "./link.ts";
import { hasReadRefusal, rolloutLines } from "./rollout.ts";
import { runningCodex } from "./running.ts";
import { CodexThreads } from "./threads.ts";
import { codexQueueTransport } from "./transports/queue/transport.ts";
import { codexServerTransport } from "./transports/server/transport.ts";

export function connect({ env, clock, timers, report }: ConnectParts): ProviderConnection {
  const threads = new CodexThreads({ codexHome: codexFolder(env), clock, timers, report });
  return {
    reportedState: (agent) => threads.reportedState(agent),
    watch: (agent, changed) => threads.watch(agent, { changed }),
    transcripts: {
      of: (agent, since) =>
        agent.endpoints.length === 0
          ? null
          : { conversation: agent.sessionId, ...threads.transcriptsOf(agent, since), reader: rolloutLines },
      foldersOf: (agent) => threads.rolloutAt(agent, "").below,
      learn: (agent, sessionId, path) => threads.learnTranscript(agent, sessionId, path),
      hasReadRefusal: (agent, { path, call, firstCall }) =>
        hasReadRefusal(threads.rolloutAt(agent, path), firstCall, call, { timers }),
      tellsSession: true,
    },
    running: (program) => runningCodex(program, report, timers),
    isOtherSession: (agent, sessionId) => threads.isElsewhere(agent, sessionId),
    transports: ({ command, pane }) => [
      codexServerTransport({ threads, command, timers }),
      codexQueueTransport({ pane, command, clock, timers }),
    ],
    links({ directory, onEvent, changed, reconsider }) {
      const turnEnded = (agent: AgentId): void =>
        void reconsider(agent).catch((fault: unknown) => report(`reconsider the mail of ${agent}`, fault));
      return [new CodexLink({ directory, onEvent, changed, threads, turnEnded })];
    },
    [Symbol.asyncDispose]: () => threads[Symbol.asyncDispose](),
  };
}
