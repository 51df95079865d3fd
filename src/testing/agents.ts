import { type Agent, type Endpoint, userId, userName } from "../model/agent.ts";
import { agentId } from "../model/ids.ts";
import { readEndpointsWith } from "../compose/endpoints.ts";

/** An idle program with one endpoint; tests override what matters to them. */
export function anAgent(fields: Partial<Omit<Agent, "id">> & { readonly name: string; readonly id?: string }): Agent {
  const team = fields.team ?? "web";
  return {
    kind: "program",
    role: null,
    provider: "generic",
    endpoints: [paneEndpoint("%1")],
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
    may: [],
    startedBy: null,
    tokenDigest: null,
    createdAt: 0,
    ...fields,
    team,
    id: agentId(fields.id ?? `${team}/${fields.name}`),
  };
}

export const offline = { endpoints: [], state: "gone" } as const satisfies Partial<Agent>;
export const suspended = {
  endpoints: [],
  state: "suspended",
  launch: { profile: "any" },
} as const satisfies Partial<Agent>;

export const paneEndpoint = (pane: string): Endpoint => ({ transport: "tmux", locator: { pane } });

export const theUser = (team = "web"): Agent =>
  anAgent({ id: userId, name: userName, team, kind: "user", provider: "user", endpoints: [] });

/** Reads endpoints from documents as the product does, and fails on one that it cannot read. */
export const readEndpoints = readEndpointsWith((_, fault) => {
  throw fault;
});
