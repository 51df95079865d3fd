/** Agents that Tieline starts, on request or because they have mail. */
import { dirname, join } from "node:path";
import type { SandboxSurroundings } from "../agents/start/prepare.ts";
import { Spawner } from "../agents/start/spawner.ts";
import { AgentStarter } from "../agents/start/starter.ts";
import type { HookPlace } from "../intake/hooks/place.ts";
import { ProgramAnswers, runBriefly } from "../providers/programAnswers.ts";
import type { Agents } from "./agents.ts";
import type { DeliveryArea } from "./delivery.ts";
import type { ComposeOptions, Foundation } from "./options.ts";
import type { Panes } from "./panes.ts";
import { providers } from "./providers.ts";
import type { Storage } from "./storage.ts";

export interface Starting {
  readonly starter: AgentStarter;
  readonly spawner: Spawner;
}

export interface StartingParts
  extends
    Foundation,
    Pick<Storage, "mailbox">,
    Pick<Panes, "servers" | "processes" | "tmux">,
    Pick<DeliveryArea, "courier"> {
  readonly agents: Agents;
  readonly hookPlace: HookPlace;
}

export function startingOf(parts: StartingParts): Starting {
  const {
    options,
    config,
    clock,
    timers,
    random,
    report,
    command,
    mailbox,
    servers,
    processes,
    tmux,
    courier,
    hookPlace,
  } = parts;
  const { directory, agentOf, teams, trust, ways, reachable } = parts.agents;
  const answers = new ProgramAnswers(runBriefly(timers));
  const starter = new AgentStarter({
    ...{
      providers,
      directory,
      servers,
      processes,
      config,
      courier,
      mailbox,
      tmux,
      reachable,
      options,
      command,
      report,
      clock,
      timers,
      random,
    },
    surroundings: (): SandboxSurroundings => ({
      ...trust.around(directory.teams().flatMap(({ root }) => root ?? [])),
      secrets: secretsOf(options),
    }),
    profileToStart: (team, name) => trust.profileToStart(team, name),
    directoryOf: (team) => teams.projectOf(team)?.root ?? null,
    hooks: { hook: hookPlace.hook, wait: hookPlace.wait },
    ask: (asked) => answers.of(asked),
  });
  const spawner = new Spawner({
    ...{ mailbox, clock, timers, report, agent: agentOf, mayStart: ways.mayStart },
    perMinute: config.spawn.perMinute,
    start: async (agent) => void (await starter.start(agent)),
    explain: (agent, why) => {
      directory.observe(agent.id, "gone", why);
      courier.wake(agent.id);
    },
  });
  return { starter, spawner };
}

/** Files that would let a program act as the user: tmux, keys, key agents, the session's own services. */
function secretsOf({ env, tmuxSocket }: Pick<ComposeOptions, "env" | "tmuxSocket">): string[] {
  const { HOME, SSH_AUTH_SOCK, XDG_RUNTIME_DIR } = env;
  return [
    dirname(tmuxSocket),
    SSH_AUTH_SOCK,
    XDG_RUNTIME_DIR,
    HOME && join(HOME, ".ssh"),
    HOME && join(HOME, ".gnupg"),
  ].filter((path): path is string => Boolean(path));
}
