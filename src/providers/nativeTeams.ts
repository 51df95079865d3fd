/** Teams that an agent program keeps itself, whose members are agents too. */
import type { Agent } from "../model/agent.ts";
import type { AgentId } from "../model/ids.ts";
import type { Kind, Message, RequestKind, Sender } from "../model/message.ts";

export interface NativeTeams {
  /** Whether the agent is known only as a member of such a team. */
  isNativeOnly(agent: Agent): boolean;
  /** The name that the program's arguments give it in its team; null: none. */
  nameIn(argv: readonly string[]): string | null;
  /** The agent as which a process is known already; null: none. */
  runningAs(program: NativeProcess): Agent | null;
  /** The team in whose list a native member appears. */
  homeOfAgent(agent: Agent): string;
  /** Renames members whose name the team's project gives to another agent. */
  makeRoom(team: string): void;
  /** Asks a native member to end. It counts as ended when it agrees. */
  askToShutDown(agent: Agent, from: Sender): Promise<Agent>;
}

export interface NativeProcess {
  readonly provider: string;
  readonly argv: readonly string[];
  readonly sessionId: string | null;
}

/** Requests of a team's members, and the answers: messages whose text only the program understands. */
export interface RequestProtocol {
  /** What a message asks for; null: nothing that can be approved. */
  requestIn(message: Pick<Message, "kind" | "body">): TeamRequest | null;
  /** The response to a request; null: the message asks for nothing. */
  responseTo(message: Pick<Message, "kind" | "body">, verdict: TeamVerdict, at: number): TeamResponse | null;
  readonly responseKinds: Readonly<Record<RequestKind, Kind>>;
  /** Whether two responses say the same. */
  sameResponse(a: string, b: string): boolean;
  approves(response: string): boolean;
  /** A message of the protocol as a sentence; null: its text is one already. */
  inWords(message: Pick<Message, "kind" | "body">): string | null;
  /** The agent that a request asks to end; null: none. */
  agentToEnd(request: Pick<Message, "body">): AgentId | null;
}

export interface TeamRequest {
  readonly kind: RequestKind;
  /** The id that its asker gave it. */
  readonly id: string;
  /** What is asked, as text that cannot hide or reorder anything. */
  readonly text: string;
}

export interface TeamVerdict {
  readonly approve: boolean;
  readonly text: string | null;
}

export interface TeamResponse {
  readonly kind: Kind;
  readonly body: string;
  /** What the user added and the response has no room for. */
  readonly unsaid: string | null;
}
