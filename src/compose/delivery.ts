/** The second half of a message's path: transports, the courier, and proof. */
import { createCourier, type Courier } from "../delivery/courier.ts";
import { Outages } from "../delivery/outages.ts";
import { Retries } from "../delivery/retries.ts";
import { TranscriptWatcher } from "../delivery/transcriptWatcher.ts";
import type { Transport } from "../delivery/transports/port.ts";
import { UncertainNotices } from "../delivery/uncertain.ts";
import type { HookPlace } from "../intake/hooks/place.ts";
import type { DeliveryId } from "../model/ids.ts";
import type { Agents } from "./agents.ts";
import type { Intake } from "./intake.ts";
import type { Foundation } from "./options.ts";
import type { Panes } from "./panes.ts";
import { retryReasonOf } from "./retryReason.ts";
import type { Storage } from "./storage.ts";
import type { Connections } from "../providers/connections.ts";
import { providers } from "./providers.ts";
import { allTransports } from "./transports.ts";

export interface DeliveryArea {
  readonly transports: ReadonlyMap<string, Transport>;
  readonly courier: Courier;
  readonly transcriptWatcher: TranscriptWatcher;
  readonly retries: Retries;
  readonly uncertain: UncertainNotices;
}

export interface DeliveryParts
  extends
    Foundation,
    Pick<Storage, "mailbox">,
    Pick<Agents, "directory" | "agentOf" | "router">,
    Pick<Panes, "tmux">,
    Pick<Intake, "workspaces" | "objects"> {
  readonly connections: Connections;
  readonly hookPlace: HookPlace;
  /** Which refusal of a hook stopped a delivery. */
  readonly detailOf: (delivery: DeliveryId) => Promise<string | undefined>;
}

export function deliveryOf(parts: DeliveryParts): DeliveryArea {
  const { options, config, clock, timers, random, report, command, mailbox, directory, agentOf, tmux } = parts;
  const { connections, detailOf, objects, workspaces, hookPlace, router } = parts;
  const outages = new Outages({ mailbox, report, clock, random });
  const transcriptWatcher: TranscriptWatcher = new TranscriptWatcher({
    ...{ mailbox, clock, timers, report, agent: agentOf, detailOf },
    transcript: (agent, since) => connections.transcripts.of(agent, since),
    found(agent, sessionId) {
      if (connections.transcripts.tellsSession(agent) && directory.agent(agent.id)?.sessionId !== sessionId)
        directory.update(agent.id, { sessionId });
    },
    model: outages,
  });
  const transports = allTransports({
    ...{ config, root: options.root, tmux, connections, router, mailbox, directory },
    ...{ objects, workspaces, hookPlace, command, clock, timers, random },
    proofOf: (agent, message) => transcriptWatcher.proofOf(agent, message),
  });
  const courier = createCourier({
    ...{ mailbox, transports, report, clock, timers, model: outages, agent: agentOf },
    timeoutMs: config.delivery.timeoutMs,
    retryMs: config.delivery.pollIntervalMs,
    remedyFor: (provider) => providers.hooksCommand(provider),
  });
  const retrying = retryReasonOf(connections, tmux);
  return {
    transports,
    courier,
    transcriptWatcher,
    retries: new Retries({ mailbox, agent: agentOf, retrying, model: outages, report, timers }),
    uncertain: new UncertainNotices({ mailbox, agent: agentOf, report, clock, timers, random }),
  };
}
