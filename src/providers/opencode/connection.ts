import type { ConnectParts, ProviderConnection } from "../port.ts";
import { ProgramLink } from "../programLink.ts";
import { runningOpencode } from "./running.ts";
import { OpencodeSessions } from "./sessions.ts";
import { opencodeServerTransport } from "./transports/server/transport.ts";

export function connect({ clock, timers, report }: ConnectParts): ProviderConnection {
  const sessions = new OpencodeSessions({ clock, timers, report });
  return {
    reportedState: (agent) => sessions.reportedState(agent),
    retryReason: (agent) => sessions.retryingOf(agent),
    running: (program) => runningOpencode(program, report, timers),
    transports: ({ command }) => [opencodeServerTransport({ sessions, command, timers })],
    links: (parts) => [new ProgramLink({ ...parts, program: sessions, report })],
    [Symbol.asyncDispose]: () => sessions[Symbol.asyncDispose](),
  };
}
