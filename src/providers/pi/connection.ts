import type { ConnectParts, ProviderConnection } from "../port.ts";
import { ProgramLink } from "../programLink.ts";
import { PiSessions } from "./sessions.ts";
import { piExtensionTransport } from "./transports/extension/transport.ts";

export function connect({ clock, timers, report }: ConnectParts): ProviderConnection {
  const sessions = new PiSessions({ clock, timers, report });
  return {
    reportedState: (agent) => sessions.reportedState(agent),
    transports: () => [piExtensionTransport({ sessions, timers })],
    links: (parts) => [new ProgramLink({ ...parts, program: sessions, report })],
    [Symbol.asyncDispose]: () => sessions[Symbol.asyncDispose](),
  };
}
