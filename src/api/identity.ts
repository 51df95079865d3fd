import { timingSafeEqual } from "node:crypto";
import type { Caller } from "./schema.ts";
import { userId, userName, type Agent } from "../model/agent.ts";
import { digestOf } from "../agents/directory/token.ts";
import { TielineError } from "../model/errors.ts";
import type { IdentityProof, Sender } from "../model/message.ts";

/** What the ladder looks things up in. */
export interface KnownAgents {
  /** Whether one process may run the commands of several sessions of the agent's program. */
  readonly sharesProcess: (agent: Agent) => boolean;
  withToken(digest: string): Agent | null;
  withSession(sessionId: string): Agent | null;
  /** The agent whose program is this process or one of its ancestors. */
  withDescendant(pid: number): Promise<Agent | null>;
  inPane(socket: string, pane: string): Agent | null;
  readonly userToken: string;
}

interface Identity {
  readonly agent: Agent | null;
  readonly knownBy: IdentityProof;
}

type Rung = (caller: Caller, known: KnownAgents) => Promise<Identity | null> | Identity | null;

/** Who is calling: the first rung that answers decides, and a false claim falls off the ladder at once. */
const ladder: readonly Rung[] = [byToken, bySession, byProcess, byPane, notAnUnknownAgent, byUserToken];

export async function identify(caller: Caller, known: KnownAgents, team: () => string): Promise<Sender> {
  for (const rung of ladder) {
    const identity = await rung(caller, known);
    if (identity !== null) return senderOf(identity, team);
  }
  throw unknown("the caller has no token of the user or of an agent");
}

function byToken({ token }: Caller, known: KnownAgents): Identity | null {
  if (token === undefined) return null;
  const agent = known.withToken(digestOf(token));
  if (agent === null) throw unknown("the token in TIELINE_TOKEN belongs to no agent");
  return { agent, knownBy: "token" };
}

function bySession({ sessionId }: Caller, known: KnownAgents): Identity | null {
  const agent = sessionId === undefined ? null : known.withSession(sessionId);
  return agent && { agent, knownBy: "session" };
}

async function byProcess({ pid }: Caller, known: KnownAgents): Promise<Identity | null> {
  const agent = pid === undefined ? null : await known.withDescendant(pid);
  return agent && { agent, knownBy: "process" };
}

/** Where one process serves several sessions, the pane that its commands name proves nothing. */
function byPane({ tmuxSocket, pane }: Caller, known: KnownAgents): Identity | null {
  const agent = tmuxSocket === undefined || pane === undefined ? null : known.inPane(tmuxSocket, pane);
  return agent === null || known.sharesProcess(agent) ? null : { agent, knownBy: "pane" };
}

/** The user's token lies in a file that their agents can read as well, so an agent must be told apart first. */
function notAnUnknownAgent({ agentVariables = [] }: Caller): null {
  if (agentVariables.length === 0) return null;
  throw unknown(`the caller runs inside an agent program (${agentVariables.join(", ")}) that Tieline does not know`);
}

function byUserToken({ userToken }: Caller, known: KnownAgents): Identity | null {
  if (userToken === undefined) return null;
  if (!sameSecret(userToken, known.userToken)) throw unknown("the user's token is not the one of this home");
  return { agent: null, knownBy: "user" };
}

/** Takes the same time wherever they differ. An empty text is no secret, whatever it is compared with. */
export function sameSecret(given: string, right: string): boolean {
  return right !== "" && timingSafeEqual(Buffer.from(digestOf(given)), Buffer.from(digestOf(right)));
}

/** The directory decides for the user only: an agent may work in a clone of another project. */
function senderOf({ agent, knownBy }: Identity, team: () => string): Sender {
  if (agent === null) return { id: userId, name: userName, team: team(), knownBy };
  return { id: agent.id, name: agent.name, team: agent.team, knownBy };
}

const unknown = (why: string): TielineError =>
  new TielineError("IDENTITY_UNKNOWN", why, {
    remedy: "run `tieline adopt <pane> --name NAME` in your own terminal, or call from outside the agent",
  });
