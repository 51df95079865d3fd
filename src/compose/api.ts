/** The operations of the API, each group with the parts that it needs. */
import type { AdoptParts } from "../agents/adopt/adopt.ts";
import type { DiscoverParts } from "../agents/adopt/discover.ts";
import { Callers } from "../api/callers.ts";
import { adoptOperations } from "../api/operations/adopt.ts";
import { agentOperations } from "../api/operations/agents.ts";
import { askingOperations } from "../api/operations/asking.ts";
import { eventOperations } from "../api/operations/events.ts";
import { hookOperations } from "../api/operations/hooks.ts";
import { inboxOperations } from "../api/operations/inbox.ts";
import { bind, type Operations } from "../api/operations/index.ts";
import { lifeOperations } from "../api/operations/life.ts";
import { messageOperations } from "../api/operations/messages.ts";
import { objectOperations } from "../api/operations/objects.ts";
import { ownOperations } from "../api/operations/own.ts";
import { pageOperations, type PageParts } from "../api/operations/page.ts";
import { profileOperations } from "../api/operations/profiles.ts";
import { projectOperations } from "../api/operations/projects.ts";
import { pruneOperations } from "../api/operations/prune.ts";
import { readingOperations } from "../api/operations/reading.ts";
import { requestOperations } from "../api/operations/requests.ts";
import { seeingOperations } from "../api/operations/seeing.ts";
import { selfOperations, type DaemonFacts } from "../api/operations/self.ts";
import { sendOperations } from "../api/operations/send.ts";
import { statisticsOperations } from "../api/operations/statistics.ts";
import { teamOperations } from "../api/operations/teams.ts";
import { topologyOperations } from "../api/operations/topology.ts";
import { trustOperations } from "../api/operations/trust.ts";
import { watchingOperations } from "../api/operations/watching.ts";
import { guarded, Rights } from "../api/rights.ts";
import type { ViewParts } from "../api/views.ts";
import { Waits } from "../api/waits.ts";
import { HookDoor } from "../intake/hooks/door.ts";
import { daysMs } from "../mailbox/retention.ts";
import type { MessageId } from "../model/ids.ts";
import { teamProtocol } from "../providers/claude-code/teams/teamProtocol.ts";
import type { Composition } from "./index.ts";
import { providers } from "./providers.ts";

/** What the process around the application gives to it. */
export interface ApiDoor {
  readonly callers: Callers;
  readonly facts: DaemonFacts;
  readonly page: Pick<PageParts, "sessions" | "preferences" | "loopback">;
  /** Whether calls that come in now may have been given up by their callers. */
  readonly mayBeLate: () => boolean;
}

export interface Api {
  readonly rights: Rights;
  /** Each behind its access rule. */
  readonly operations: Operations;
  readonly hooks: HookDoor;
}

export function callersOf({ agents, panes, intake, connections }: Composition, userToken: string): Callers {
  const { directory, teams, trust, native } = agents;
  const { processes } = panes;
  return new Callers(
    { directory, teams, trust, native, processes, objects: intake.objects, connections, providers },
    userToken,
  );
}

export const rightsOf = ({ storage, agents }: Composition): Rights => new Rights(rightsParts(storage, agents));

const rightsParts = ({ mailbox }: Composition["storage"], { directory, lookups, ways }: Composition["agents"]) => ({
  ...{ mailbox, directory, lookups, resolve: ways.resolve },
});

export const viewPartsOf = ({ foundation, storage, agents, delivery, audience }: Composition): ViewParts => ({
  courier: delivery.courier,
  mailbox: storage.mailbox,
  transports: delivery.transports,
  activities: audience.activities,
  directory: agents.directory,
  protocol: teamProtocol,
  clock: foundation.clock,
});

export const adoptPartsOf = ({ foundation, agents, panes, connections }: Composition): AdoptParts & DiscoverParts => ({
  ...{ providers, connections, directory: agents.directory, native: agents.native, processes: panes.processes },
  timers: foundation.timers,
});

export function apiOf(composition: Composition, { callers, facts, page, mayBeLate }: ApiDoor): Api {
  const { foundation, storage, agents, panes, delivery, intake, starting, audience } = composition;
  const { config, clock, timers, random, report, options } = foundation;
  const { mailbox, events, backups, snapshots } = storage;
  const { directory, teams, trust, native, lookups, profiles, projects, router } = agents;
  const { resolve } = agents.ways;
  const { courier, transports, transcriptWatcher } = delivery;
  const { servers, processes, tmux, statusMonitor } = panes;
  const { starter } = starting;
  const { objects } = intake;
  const { activities, nats, natsUrl } = audience;
  const { tmuxSocket } = options;

  const rights = rightsOf(composition);
  const waits = new Waits();
  const views = viewPartsOf(composition);
  const ending = { providers, directory, servers, tmux, processes, timers };
  const hooks = new HookDoor({
    ...{ chain: composition.hooks.chain, place: composition.hooks.place, providers, report, mayBeLate },
    ...{ clock, timers, random },
    agentOf: (call, caller) => callers.ofHook(call, caller),
  });

  /** What waited for the trust of a project continues. */
  const trustChanged = (root: string): void => {
    for (const team of teams.claims.teamsAt(root)) {
      objects.trustChanged(team);
      // Mail may have waited for an object that was not there.
      for (const { id } of directory.roster.inTeam(team)) courier.wake(id);
    }
    intake.workspaces.refresh();
    starting.spawner.trustChanged();
  };

  const unguarded: Operations = {
    ...bind(sendOperations, {
      ...{ ...views, callers, rights, mailbox, directory, courier, router, resolve, teams },
      ...{ statusMonitor, transcriptWatcher },
    }),
    ...bind(inboxOperations, {
      ...{ ...views, callers, mailbox, directory, courier, resolve, teams, transcriptWatcher },
    }),
    ...bind(messageOperations, { ...views, callers, rights, mailbox, directory, resolve, router, teams, timers }),
    ...bind(askingOperations, { ...views, callers, rights, waits, mailbox, directory, courier, clock, timers }),
    ...bind(requestOperations, {
      ...{ ...views, ...ending, callers, mailbox, router, clock, busy: new Set<MessageId>() },
    }),
    ...bind(ownOperations, { ...views, callers, rights, waits, mailbox, directory, courier, resolve, timers, random }),
    ...bind(agentOperations, {
      ...{ ...views, callers, rights, mailbox, directory, courier, statusMonitor, native, resolve },
    }),
    ...bind(pruneOperations, { callers, directory, teams, mailbox, courier, tmux }),
    ...bind(adoptOperations, {
      ...{ ...views, ...adoptPartsOf(composition), callers, directory, native, courier, servers, tmux, tmuxSocket },
    }),
    ...bind(lifeOperations, {
      ...{ ...views, ...ending, callers, profiles, teams, trust, starter, courier, mailbox, native, resolve, config },
      tmuxSocket,
    }),
    ...bind(projectOperations, {
      ...{ ...views, ...ending, callers, teams, projects, profiles, trust, objects, lookups, starter, config },
      tmuxSocket,
    }),
    ...bind(readingOperations, { callers, directory, resolve, servers, tmux, config, timers }),
    ...bind(seeingOperations, { callers, directory, resolve, servers, teams, transports, statusMonitor }),
    ...bind(profileOperations, { callers, directory, profiles, teams, trust }),
    ...bind(topologyOperations, { callers, rights, directory, resolve, lookups, teams, profiles }),
    ...bind(teamOperations, { ...ending, callers, rights, teams, mailbox, courier, lookups, resolve }),
    ...bind(trustOperations, { callers, teams, trust, trustChanged }),
    ...bind(objectOperations, { callers, rights, directory, objects }),
    ...bind(eventOperations, { callers, rights, events, teams, directory, mailbox, timers }),
    ...bind(watchingOperations, { ...views, callers, rights, directory, mailbox, activities, clock }),
    ...bind(statisticsOperations, {
      ...{ callers, teams, directory, mailbox, clock },
      retentionMs: daysMs(config.retention.maxAgeDays),
    }),
    ...bind(pageOperations, { ...page, callers, servers, resolve }),
    ...bind(hookOperations, { door: hooks }),
    ...bind(selfOperations, {
      ...{ callers, rights, facts, directory, mailbox, backups, servers, trust, config, events, nats, natsUrl },
      ...{ tmux, tmuxSocket, checkMailbox: () => snapshots.check() },
    }),
  };
  return { rights, hooks, operations: guarded(unguarded, callers, rights, rightsParts(storage, agents)) };
}
