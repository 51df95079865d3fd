/** Agent programs that run already: on one tmux server and, for the lists that programs keep, in one home. */
import type { Directory } from "../directory/directory.ts";
import { isLive, isReservedName, namePattern, type Agent } from "../../model/agent.ts";
import type { Connections } from "../../providers/connections.ts";
import type { NativeTeams } from "../../providers/nativeTeams.ts";
import type { RegisteredProgram } from "../../providers/port.ts";
import type { Providers } from "../../providers/providers.ts";
import { listPanes, type PaneFacts } from "../../tmux/pane.ts";
import type { ProcessFacts, Processes } from "../../os/processes.ts";
import { sessionName } from "../../tmux/session.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import { isBareShell } from "../../os/shell.ts";
import { isIn, isTmux } from "./adopt.ts";

export const evidences = ["process", "registry", "session name"] as const;
export type Evidence = (typeof evidences)[number];

export interface Found {
  readonly pane: PaneFacts;
  readonly program: ProcessFacts;
  readonly provider: string;
  readonly foundBy: readonly Evidence[];
  /** A name that is free in the team and says something about it. */
  readonly name: string;
  readonly sessionId: string | null;
  /** The agent that it is already. */
  readonly agent: Agent | null;
}

export interface DiscoverParts {
  readonly providers: Pick<Providers, "of" | "ofProgram">;
  readonly directory: Directory;
  readonly processes: Processes;
  readonly connections: Pick<Connections, "registered">;
  readonly native: Pick<NativeTeams, "runningAs" | "nameIn">;
}

/** Everything in a pane that is an agent program by one sign or another, in the order of the panes. */
export async function discover(
  server: TmuxServer,
  team: string,
  { directory, processes, providers, connections, native }: DiscoverParts,
): Promise<Found[]> {
  if (!(await server.alive())) return [];
  const [panes, running, sessions] = await Promise.all([listPanes(server), processes.all(), connections.registered()]);
  const byPid = new Map(running.map((one) => [one.pid, one]));
  const byGroup = Map.groupBy(running, ({ processGroup }) => processGroup);
  const names = new FreeNames(directory, team);
  const found: Found[] = [];
  for (const pane of panes) {
    const group = byGroup.get(byPid.get(pane.pid)?.foregroundGroup ?? -1) ?? [];
    const program = group.find(({ pid, processGroup }) => pid === processGroup) ?? group[0];
    if (program === undefined || pane.dead || isTmux(program)) continue;
    const signs = await signsOf(pane, program, group, sessions);
    if (signs === null) continue;
    const agent =
      directory.roster.byPane(pane.id).find((one) => isLive(one) && isIn(one, pane, server.socketPath)) ?? null;
    // What `adopt` makes one with the member that is known already keeps its name.
    const member = agent ?? native.runningAs({ ...signs, sessionId: signs.registered?.sessionId ?? null });
    const name =
      member?.name ??
      names.take(
        native.nameIn(signs.argv),
        signs.registered?.name,
        nameInSession(pane.sessionName, team),
        providers.of(signs.provider).program,
        program.command,
      );
    found.push({
      pane,
      program,
      name,
      agent,
      provider: signs.provider,
      foundBy: signs.foundBy,
      sessionId: signs.registered?.sessionId ?? null,
    });
  }
  return found;

  async function signsOf(
    pane: PaneFacts,
    program: ProcessFacts,
    group: readonly ProcessFacts[],
    all: readonly RegisteredProgram[],
  ) {
    const provider = await providerIn([program, ...group], processes, providers);
    const registered = all.find((session) => session.alive && group.some(({ pid }) => pid === session.pid));
    const argv = await processes.argv(program.pid);
    const named = pane.sessionName.startsWith(sessionPrefix) && !isBareShell(program, argv);
    const foundBy = evidences.filter(
      (evidence) =>
        ({ process: provider !== null, registry: registered !== undefined, "session name": named })[evidence],
    );
    if (foundBy.length === 0) return null;
    return {
      provider: registered?.provider ?? provider ?? "generic",
      registered,
      foundBy,
      argv,
    };
  }
}

/** The first known program in the terminal's foreground: many run behind a launcher script. */
async function providerIn(
  group: readonly ProcessFacts[],
  processes: Processes,
  providers: Pick<Providers, "ofProgram">,
): Promise<string | null> {
  for (const { pid, command } of group) {
    const provider = providers.ofProgram(command, await processes.argv(pid));
    if (provider !== null) return provider;
  }
  return null;
}

const sessionPrefix = "agent-";

/** `agent-web-ana-2` is `ana-2` in team web, and `web-ana-2` elsewhere: the end of a team's name is ambiguous. */
function nameInSession(session: string, team: string): string | undefined {
  if (!session.startsWith(sessionPrefix)) return undefined;
  const rest = session.slice(sessionPrefix.length);
  const own = `${sessionName(team)}-`;
  return rest.startsWith(own) ? rest.slice(own.length) : rest;
}

/** Names that are free in the team, each used once. */
class FreeNames {
  private readonly taken: Set<string>;

  constructor(directory: Directory, team: string) {
    this.taken = new Set(directory.roster.inTeam(team).map(({ name }) => name));
  }

  /** The first suggestion that can be a name, with a number where it is taken. */
  take(...suggestions: readonly (string | null | undefined)[]): string {
    const words = suggestions
      .filter((word) => typeof word === "string")
      .map((word) => word.replaceAll(/[^A-Za-z0-9_-]+/g, "-").replaceAll(/^-+|-+$/g, ""));
    const base = words.find((word) => namePattern.test(word)) ?? "agent";
    const name = instanceName(base, (one) => this.taken.has(one) || isReservedName(one));
    this.taken.add(name);
    return name;
  }
}

/** `ana`, or the first of `ana-2`, `ana-3`, … that is free. */
export function instanceName(base: string, isTaken: (name: string) => boolean): string {
  let name = base;
  for (let instance = 2; isTaken(name); instance++) name = `${base}-${instance}`;
  return name;
}
