/** Every way into an agent, by name. */
import type { HomeConfig } from "../config/home.ts";
import type { ClaudeReplies } from "../providers/claude-code/replies.ts";
import type { HookPlace } from "../intake/hooks/place.ts";
import type { Workspaces } from "../intake/workspaces.ts";
import type { Agent } from "../model/agent.ts";
import type { Clock } from "../model/ids.ts";
import type { Objects } from "../objects/objects.ts";
import { heldByReportedState } from "../agents/status/reportedState.ts";
import { paneAndInboxTransport } from "../delivery/transports/both/transport.ts";
import { claudeInboxTransport } from "../providers/claude-code/transports/inbox/transport.ts";
import { claudeSocketTransport } from "../providers/claude-code/transports/socket/transport.ts";
import { codexQueueTransport } from "../providers/codex/transports/queue/transport.ts";
import { codexServerTransport } from "../providers/codex/transports/server/transport.ts";
import { hooksReach, hookTransport } from "../delivery/transports/hook/transport.ts";
import { objectTransport } from "../delivery/transports/object/transport.ts";
import { opencodeServerTransport } from "../providers/opencode/transports/server/transport.ts";
import { piExtensionTransport } from "../providers/pi/transports/extension/transport.ts";
import type { ProbingTransport, Transport } from "../delivery/transports/port.ts";
import { pullTransport } from "../delivery/transports/pull/transport.ts";
import { standardInputTransport } from "../delivery/transports/stdin/transport.ts";
import { streamJsonTransport } from "../providers/claude-code/transports/streamJson/transport.ts";
import { workspaceInboxTransport } from "../delivery/transports/workspaceInbox/transport.ts";
import type { TranscriptWatcher } from "../delivery/transcriptWatcher.ts";
import type { Programs } from "./programs.ts";

export interface TransportParts {
  readonly config: HomeConfig;
  readonly root: string;
  readonly tmux: ProbingTransport;
  readonly programs: Programs;
  readonly replies: Pick<ClaudeReplies, "beside">;
  readonly objects: Objects;
  readonly workspaces: Workspaces;
  readonly hookPlace: HookPlace;
  readonly proofOf: TranscriptWatcher["proofOf"];
  /** By which word an agent runs `tieline`. */
  readonly command: (agent: Agent) => string;
  readonly clock: Clock;
}

export function allTransports({
  config,
  root,
  tmux,
  programs,
  replies,
  objects,
  workspaces,
  hookPlace,
  proofOf,
  command,
  clock,
}: TransportParts): ReadonlyMap<string, Transport> {
  const { claude, codex, opencode, pi, said } = programs;
  const { bells } = hookPlace;
  const pane = heldByReportedState(tmux, said);
  const inbox = claudeInboxTransport({ layout: config.claudeTeams.layout });
  const transports = [
    pane,
    inbox,
    paneAndInboxTransport({ pane, inbox }),
    claudeSocketTransport({
      sessions: claude,
      proofOf,
      command,
      replyPath: (session) => replies.beside(session.messagingSocketPath!),
      hooksReach: (agent) => hooksReach(agent, bells),
    }),
    hookTransport({ bells, said, command, watchState: programs.watch, proofOf }),
    streamJsonTransport({ home: root, said, watchState: programs.watch, proofOf }),
    codexServerTransport({ threads: codex, command }),
    codexQueueTransport({ pane: tmux, command, clock }),
    opencodeServerTransport({ sessions: opencode, command }),
    piExtensionTransport({ sessions: pi }),
    standardInputTransport(),
    objectTransport(objects),
    workspaceInboxTransport(workspaces),
    pullTransport,
  ];
  return new Map(transports.map((transport) => [transport.name, transport]));
}
