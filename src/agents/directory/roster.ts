import type { Roster } from "../../routing/addresses/roster.ts";
import { type Agent, permissions, userId, userName } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import { tmuxEndpoint } from "../../delivery/transports/paneEndpoint.ts";

/** The user as an agent: reachable in every team, member of none. */
export const userAgent: Agent = {
  id: userId,
  name: userName,
  team: "",
  kind: "user",
  role: null,
  provider: "user",
  endpoints: [],
  state: "idle",
  stateReason: null,
  stateAt: 0,
  draft: false,
  lastActivityAt: 0,
  sessionId: null,
  workspace: null,
  note: null,
  profile: null,
  launch: null,
  lastExit: null,
  may: permissions,
  startedBy: null,
  tokenDigest: null,
  createdAt: 0,
};

/** The agents in memory, indexed by everything that an address can say. Each lookup costs the same at any size. */
export class IndexedRoster implements Roster {
  readonly #agents = new Map<string, Agent>();
  readonly #byName = new Map<string, Agent>();
  readonly #byTeam = new Index();
  readonly #byRole = new Index();
  readonly #byProfile = new Index();
  readonly #byPane = new Index();

  constructor(readonly user: Agent = userAgent) {}

  /** Adds an agent or replaces it. Another agent of that name in the team is a CONFLICT. */
  put(agent: Agent): void {
    const holder = this.named(agent.team, agent.name);
    if (holder && holder.id !== agent.id) throw nameTaken(agent);
    const before = this.#agents.get(agent.id);
    if (before) this.#unindex(before, agent);
    this.#agents.set(agent.id, agent);
    this.#byName.set(key(agent.team, agent.name), agent);
    for (const [index, at] of this.#entries(agent)) index.add(at, agent);
  }

  remove(id: string): Agent | null {
    const agent = this.#agents.get(id);
    if (!agent) return null;
    this.#agents.delete(id);
    this.#unindex(agent);
    return agent;
  }

  byId(id: string): Agent | null {
    return this.#agents.get(id) ?? (id === this.user.id ? this.user : null);
  }

  byPane(pane: string): readonly Agent[] {
    return this.#byPane.get(pane);
  }

  named(team: string, name: string): Agent | null {
    return this.#byName.get(key(team, name)) ?? null;
  }

  withRole(team: string, role: string): readonly Agent[] {
    return this.#byRole.get(key(team, role));
  }

  ofProfile(team: string, profile: string): readonly Agent[] {
    return this.#byProfile.get(key(team, profile));
  }

  inTeam(team: string): readonly Agent[] {
    return this.#byTeam.get(team);
  }

  teams(): readonly string[] {
    return this.#byTeam.keys();
  }

  all(): Iterable<Agent> {
    return this.#agents.values();
  }

  get size(): number {
    return this.#agents.size;
  }

  /** Leaves what the successor has too, so that an agent keeps its place when only its state changes. */
  #unindex(agent: Agent, successor?: Agent): void {
    this.#byName.delete(key(agent.team, agent.name));
    const kept = successor ? this.#entries(successor) : [];
    for (const [index, at] of this.#entries(agent)) {
      if (!kept.some(([other, otherAt]) => other === index && otherAt === at)) index.delete(at, agent);
    }
  }

  #entries(agent: Agent): [Index, string][] {
    const entries: [Index, string][] = [[this.#byTeam, agent.team]];
    if (agent.role !== null) entries.push([this.#byRole, key(agent.team, agent.role)]);
    if (agent.profile !== null) entries.push([this.#byProfile, key(agent.team, agent.profile)]);
    for (const pane of panesOf(agent)) entries.push([this.#byPane, pane]);
    return entries;
  }
}

/** Several agents under one key, in the order in which they came. */
class Index {
  readonly #groups = new Map<string, Map<string, Agent>>();

  add(at: string, agent: Agent): void {
    const group = this.#groups.get(at);
    if (group) group.set(agent.id, agent);
    else this.#groups.set(at, new Map([[agent.id, agent]]));
  }

  delete(at: string, agent: Agent): void {
    const group = this.#groups.get(at);
    group?.delete(agent.id);
    if (group?.size === 0) this.#groups.delete(at);
  }

  get(at: string): readonly Agent[] {
    return [...(this.#groups.get(at)?.values() ?? [])];
  }

  keys(): readonly string[] {
    return [...this.#groups.keys()];
  }
}

/** Team names have no colon and names neither, so that no two pairs share a key. */
const key = (team: string, name: string): string => `${team}:${name}`;

function panesOf(agent: Agent): Set<string> {
  return new Set(agent.endpoints.filter(tmuxEndpoint.is).map(({ locator }) => locator.pane));
}

function nameTaken(agent: Agent): TielineError {
  return new TielineError("CONFLICT", `team ${agent.team} already has an agent named ${agent.name}`, {
    remedy: `choose another name, or remove the other with \`tieline rm ${agent.name}\``,
    operands: { team: agent.team, name: agent.name },
  });
}
