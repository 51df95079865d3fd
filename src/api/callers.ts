import { dirname } from "node:path";
import type { TeamSeat } from "../agents/directory/claims.ts";
import type { Directory } from "../agents/directory/directory.ts";
import { digestOf } from "../agents/directory/token.ts";
import type { Teams } from "../agents/teams.ts";
import { untrusted, type Trust } from "../agents/trust/trust.ts";
import { findProject } from "../config/projects.ts";
import { tmuxEndpoint } from "../delivery/transports/paneEndpoint.ts";
import type { HookCall } from "../providers/hooks/hookCall.ts";
import type { HookCaller } from "../intake/hooks/door.ts";
import { isLive, userId, type Agent, type Permission } from "../model/agent.ts";
import { asTielineError, TielineError } from "../model/errors.ts";
import type { Sender } from "../model/message.ts";
import type { Objects } from "../objects/objects.ts";
import { userWords } from "../os/accounts.ts";
import { Lineages, type Processes } from "../os/processes.ts";
import type { Connections } from "../providers/connections.ts";
import type { NativeTeams } from "../providers/nativeTeams.ts";
import type { Providers } from "../providers/providers.ts";
import { identify, sameSecret, type KnownAgents } from "./identity.ts";
import type { Caller, OperationName } from "./schema.ts";

/** What shows the files of a project, so that it is worth saying that they give no power yet. */
const looksAtProject: ReadonlySet<OperationName> = new Set([
  "ls",
  "topology",
  "topologyCheck",
  "profiles",
  "profile",
  "resolve",
  "doctor",
]);

/**
 * What changes the team of the caller's directory, so that the directory's project has to be the team's. What names
 * its team or its message is left out: it is what gets a user out of a conflict.
 */
const actsInTeam: ReadonlySet<OperationName> = new Set([
  ...([
    "send",
    "adopt",
    "register",
    "rm",
    "layout",
    "up",
    "down",
    "spawn",
    "stop",
    "kill",
    "restart",
    "resume",
  ] as const),
  ...([
    "interrupt",
    "choose",
    "prune",
    "note",
    "topologyAdd",
    "topologyRemove",
    "profileAdd",
    "profileRemove",
  ] as const),
]);

export interface CallersParts {
  readonly directory: Directory;
  readonly processes: Processes;
  readonly teams: Pick<Teams, "claims">;
  readonly trust: Pick<Trust, "inspect">;
  readonly objects: Pick<Objects, "see">;
  readonly native: Pick<NativeTeams, "makeRoom">;
  readonly providers: Pick<Providers, "of">;
  readonly connections: Pick<Connections, "isOtherSession">;
}

/** Who calls, and for which team. */
export class Callers {
  private readonly known: KnownAgents;
  private readonly found = new WeakMap<Caller, Promise<Sender>>();

  constructor(
    private readonly parts: CallersParts,
    userToken: string,
  ) {
    const { directory, processes, providers } = parts;
    const lineages = new Lineages(processes);
    this.known = {
      userToken,
      sharesProcess: ({ provider }) => providers.of(provider).sharesProcess ?? false,
      withToken: (digest) => directory.withToken(digest),
      withSession: (sessionId) => directory.withSession(sessionId),
      async withDescendant(pid) {
        for (const { pid: ancestor, startMark } of await lineages.of(pid)) {
          const agent = directory.withProcess(ancestor);
          if (
            agent?.endpoints
              .filter(tmuxEndpoint.is)
              .some(({ locator }) => locator.agentPid === ancestor && locator.agentStartMark === startMark)
          )
            return agent;
        }
        return null;
      },
      inPane(socket, pane) {
        const there = directory.roster.byPane(pane).filter(isLive);
        return (
          there.find((agent) =>
            agent.endpoints.filter(tmuxEndpoint.is).some(({ locator }) => locator.socket === socket),
          ) ?? null
        );
      },
    };
  }

  readonly isUsers = (token: string): boolean => sameSecret(token, this.known.userToken);

  /**
   * Whether the token is the user's or an agent's. Agents' tokens are looked up by their digest, whose timing says
   * nothing.
   */
  readonly isKnown = (token: string): boolean => this.isUsers(token) || this.known.withToken(digestOf(token)) !== null;

  /** Determined once for a request; the same caller object is the same request. */
  sender(caller: Caller): Promise<Sender> {
    const known = this.found.get(caller);
    if (known) return known;
    const sender = this.identified(caller);
    this.found.set(caller, sender);
    return sender;
  }

  private async identified(caller: Caller): Promise<Sender> {
    const sender = await identify(caller, this.known, () => this.teamOf(caller));
    this.look(sender.team);
    return sender;
  }

  /** The agent whose program makes a hook call; null for sessions that we do not know. */
  async ofHook({ provider, sessionId }: HookCall, { token, pid, tmuxSocket, pane }: HookCaller): Promise<Agent | null> {
    const { withToken, withSession, withDescendant, inPane } = this.known;
    const known = withSession(sessionId);
    if (known) return known;
    const found =
      (token && withToken(digestOf(token))) ||
      (pid && (await withDescendant(pid))) ||
      (!this.parts.providers.of(provider).sharesProcess && tmuxSocket && pane && inPane(tmuxSocket, pane)) ||
      null;
    return found && !this.parts.connections.isOtherSession(found, sessionId) ? found : null;
  }

  /** The user's team by the directory of the call. Changes nothing. */
  teamOf(caller: Caller): string {
    return this.seatOf(caller).team;
  }

  private seatOf({ team, cwd = "/" }: Caller): TeamSeat {
    return this.parts.teams.claims.seatOf(team, cwd);
  }

  /**
   * Before an operation: what changes the user's team makes it that of the user's project. CONFLICT: it is another's.
   */
  async enter(caller: Caller, operation: OperationName): Promise<void> {
    if (!actsInTeam.has(operation)) return;
    const { id, team } = await this.sender(caller);
    if (id !== userId) return;
    this.parts.teams.claims.claim(this.seatOf(caller));
    this.look(team);
  }

  /** The team's file may be new or changed. */
  private look(team: string): void {
    this.parts.objects.see(team);
    this.parts.native.makeRoom(team);
  }

  /** About the files that decide for the caller's directory; agents are not bothered with it. */
  noticesFor(caller: Caller, operation: OperationName): string[] {
    const { cwd, token } = caller;
    if (cwd === undefined || token !== undefined) return [];
    const { file, ignored } = findProject(cwd);
    const foreign = ignored.map(({ file: other, owner }) => `${other} belongs to ${userWords(owner)} and is ignored`);
    if (file === null || !looksAtProject.has(operation)) return foreign;
    return [
      ...foreign,
      ...this.problems(() => this.claimable(caller)),
      ...this.problems(() => this.trusted(dirname(file))),
    ];
  }

  private claimable(caller: Caller): void {
    const { claims } = this.parts.teams;
    const seat = this.seatOf(caller);
    if (seat.project !== null && seat.heldBy !== null) throw claims.taken(seat.team, seat.heldBy, seat.project.root);
  }

  private trusted(root: string): void {
    const inspection = this.parts.trust.inspect(root);
    if (inspection.state !== "trusted") throw untrusted(inspection);
  }

  private problems(check: () => void): string[] {
    try {
      check();
      return [];
    } catch (thrown) {
      const { message, remedy } = asTielineError(thrown);
      return [`${message}; ${remedy}`];
    }
  }

  /** Only the user. */
  async user(caller: Caller): Promise<Sender> {
    const sender = await this.sender(caller);
    if (sender.id === userId) return sender;
    throw new TielineError("NOT_PERMITTED", `${sender.name} may not do this`, {
      remedy: "only the user can",
      operands: { agent: sender.name },
    });
  }

  /** Only the user, or an agent whose profile allows it. */
  async allow(caller: Caller, permission: Permission): Promise<Sender> {
    const sender = await this.sender(caller);
    const agent = this.parts.directory.agent(sender.id);
    if (sender.id === userId || agent?.may.includes(permission)) return sender;
    throw new TielineError("NOT_PERMITTED", `${sender.name} may not do this`, {
      remedy: `the user can, or add \`may: [${permission}]\` to the profile of ${sender.name}`,
      operands: { agent: sender.name, permission },
    });
  }
}
