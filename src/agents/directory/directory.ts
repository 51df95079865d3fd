import {
  checkAgentName,
  userId,
  type Agent,
  type AgentKind,
  type AgentState,
  type Endpoint,
} from "../../model/agent.ts";
import { checkTeamName } from "../../model/address.ts";
import { TielineError } from "../../model/errors.ts";
import type { Emit } from "../../model/event.ts";
import {
  agentId,
  systemClock,
  systemRandom,
  uuidv7,
  type AgentId,
  type Clock,
  type RandomBytes,
} from "../../model/ids.ts";
import type { Documents } from "./documents/port.ts";
import { IndexedRoster } from "./roster.ts";
import { tmuxEndpoint } from "../../delivery/transports/paneEndpoint.ts";

/** A team is a namespace; it belongs to one project root, or to none until a project claims it. */
export interface Team {
  readonly name: string;
  readonly root: string | null;
  readonly createdAt: number;
  /** What the project's file calls its team, if this team belongs to it; null: it was created by hand. */
  readonly fileTeam?: string | null;
}

/** Parses the endpoints of a stored agent; what cannot be read is left out. */
export type ReadEndpoints = (agent: Pick<Agent, "name" | "team">, stored: unknown) => readonly Endpoint[];

export type NewAgent = Pick<Agent, "name" | "team" | "provider"> &
  Partial<Omit<Agent, "id" | "name" | "team" | "provider" | "createdAt">>;

/**
 * Who is there: agents and teams, in memory for speed and in documents for good. What an agent does from second to
 * second (state, draft, activity) is only remembered; who it is and how to reach or restart it is written down.
 */
export class Directory {
  readonly roster = new IndexedRoster();
  private readonly teamsByName = new Map<string, Team>();
  private readonly byToken = new Map<string, AgentId>();
  private readonly bySession = new Map<string, AgentId>();
  private readonly byProcess = new Map<number, AgentId>();

  constructor(
    private readonly documents: Documents,
    private readonly emit: Emit,
    readEndpoints: ReadEndpoints,
    private readonly clock: Clock = systemClock,
    private readonly random: RandomBytes = systemRandom,
  ) {
    for (const { value } of documents.all("team")) this.teamsByName.set((value as Team).name, value as Team);
    for (const { value } of documents.all("agent")) this.index(remembered(value as Agent, readEndpoints));
  }

  register(agent: NewAgent): Agent {
    return this.add(this.prepare(agent));
  }

  /** An agent as it would be registered; not stored yet. */
  prepare(agent: NewAgent): Agent {
    const now = this.clock();
    return {
      kind: "program" satisfies AgentKind,
      role: null,
      endpoints: [],
      state: "unknown",
      stateReason: null,
      stateAt: now,
      draft: false,
      lastActivityAt: now,
      sessionId: null,
      workspace: null,
      note: null,
      profile: null,
      launch: null,
      lastExit: null,
      may: [],
      startedBy: null,
      tokenDigest: null,
      ...agent,
      name: agent.kind === "object" ? agent.name : checkAgentName(agent.name),
      team: checkTeamName(agent.team),
      id: agentId(uuidv7(now, this.random)),
      createdAt: now,
    };
  }

  /** Registers what was prepared. The same agent again changes nothing. */
  add(agent: Agent): Agent {
    const known = this.roster.byId(agent.id);
    if (known !== null) return known;
    this.index(agent);
    this.save(agent);
    this.emit({ type: "agent.registered", agent: agent.id, name: agent.name, team: agent.team });
    return agent;
  }

  /** Changes what is known of an agent. Only lasting knowledge is written to disk. */
  update(id: AgentId, change: Partial<Omit<Agent, "id">>): Agent {
    const before = this.mustFind(id);
    const moved = change.state !== undefined && change.state !== before.state && change.stateAt === undefined;
    const after = {
      ...before,
      ...change,
      ...(moved && { stateAt: this.clock() }),
      ...(change.endpoints?.length && before.shutDown && { shutDown: false }),
    };
    this.unindex(before);
    this.index(after);
    if (lasting(before) !== lasting(after)) this.save(after);
    if (before.state !== after.state || before.stateReason !== after.stateReason || before.draft !== after.draft) {
      const { name, team, state, stateReason } = after;
      this.emit({ type: "agent.changed", agent: id, name, team, state, reason: stateReason });
    }
    return after;
  }

  observe(id: AgentId, state: AgentState, reason: string | null = null, draft = false): Agent {
    const agent = this.mustFind(id);
    if (agent.state === state && agent.stateReason === reason && agent.draft === draft) return agent;
    const now = this.clock();
    return this.update(id, {
      state,
      stateReason: reason,
      draft,
      stateAt: agent.state === state ? agent.stateAt : now,
      lastActivityAt: now,
    });
  }

  remove(id: AgentId): void {
    const agent = this.mustFind(id);
    this.unindex(agent);
    this.roster.remove(id);
    this.documents.remove("agent", id);
    this.emit({ type: "agent.removed", agent: id, name: agent.name, team: agent.team });
  }

  agent(id: AgentId): Agent | null {
    return this.roster.byId(id);
  }

  withToken(digest: string): Agent | null {
    const id = this.byToken.get(digest);
    return id === undefined ? null : this.roster.byId(id);
  }

  withSession(sessionId: string): Agent | null {
    const id = this.bySession.get(sessionId);
    return id === undefined ? null : this.roster.byId(id);
  }

  /** The agent whose program is said to be this process; whether it still is, is the caller's to check. */
  withProcess(pid: number): Agent | null {
    const id = this.byProcess.get(pid);
    return id === undefined ? null : this.roster.byId(id);
  }

  /** The agents and objects, without the user. */
  agents(): readonly Agent[] {
    return [...this.roster.all()].filter((agent) => agent.id !== userId);
  }

  team(name: string): Team | null {
    return this.teamsByName.get(name) ?? null;
  }

  teams(): readonly Team[] {
    return [...this.teamsByName.values()];
  }

  /** Makes the team that of a project, or of none. Whether it may be is for `Claims` to say. */
  joinTeam(name: string, root: string | null, fileTeam: string | null = null): Team {
    const known = this.teamsByName.get(name);
    if (known?.root === root && (known.fileTeam ?? null) === fileTeam) return known;
    const team: Team = { name: checkTeamName(name), root, createdAt: known?.createdAt ?? this.clock(), fileTeam };
    this.teamsByName.set(name, team);
    this.documents.put("team", name, team);
    return team;
  }

  removeTeam(name: string): void {
    this.teamsByName.delete(name);
    this.documents.remove("team", name);
  }

  private mustFind(id: AgentId): Agent {
    const agent = this.roster.byId(id);
    if (agent !== null) return agent;
    throw new TielineError("ADDRESS_UNKNOWN", `there is no agent ${id}`, {
      remedy: "`tieline ls` lists the agents",
      operands: { agent: id },
    });
  }

  private index(agent: Agent): void {
    this.roster.put(agent);
    if (agent.tokenDigest !== null) this.byToken.set(agent.tokenDigest, agent.id);
    if (agent.sessionId !== null) this.bySession.set(agent.sessionId, agent.id);
    for (const pid of processesOf(agent)) this.byProcess.set(pid, agent.id);
  }

  private unindex(agent: Agent): void {
    if (agent.tokenDigest !== null) this.byToken.delete(agent.tokenDigest);
    if (agent.sessionId !== null) this.bySession.delete(agent.sessionId);
    for (const pid of processesOf(agent)) this.byProcess.delete(pid);
  }

  /** Objects come from the configuration at every start, unless they registered themselves and have a token. */
  private save(agent: Agent): void {
    if (agent.kind !== "object" || agent.tokenDigest !== null) this.documents.put("agent", agent.id, agent);
  }
}

const processesOf = (agent: Agent): number[] =>
  agent.endpoints.filter(tmuxEndpoint.is).map(({ locator }) => locator.agentPid);

function lasting({ state: _s, stateReason: _r, stateAt: _a, draft: _d, lastActivityAt: _l, ...rest }: Agent): string {
  return JSON.stringify(rest);
}

/**
 * After a restart nothing is known of what an agent does, until it is observed. Who spawned it was not always written
 * down.
 */
function remembered(stored: Agent, readEndpoints: ReadEndpoints): Agent {
  const agent = { ...stored, endpoints: readEndpoints(stored, stored.endpoints) };
  const offline = agent.endpoints.length === 0;
  return {
    ...agent,
    startedBy: agent.startedBy ?? null,
    lastExit: agent.lastExit ?? null,
    state: offline && agent.state !== "suspended" ? "gone" : agent.state,
    stateReason: null,
    draft: false,
  };
}
