import { TielineError } from "./errors.ts";
import { agentId, type AgentId } from "./ids.ts";

/** Names are one grammar everywhere: they become addresses, tags, file names, tmux windows and subjects. */
export const namePattern = /^[A-Za-z_][A-Za-z0-9_-]*$/;
export const maxNameLength = 64;
export const systemObjects = ["metrics", "tick", "gateway"] as const;
const reservedNames: readonly string[] = ["all", "team", "user", ...systemObjects];

/** The user. There is one per home, in every team and in none. */
export const userId: AgentId = agentId("user");
export const userName = "user";

/** Tieline itself, as the sender of bounces. It cannot be written to. */
export const switchId: AgentId = agentId("tieline");
export const switchName = "tieline";

export type AgentKind = "program" | "user" | "object";

/** What an agent is doing, as far as we know. The first eight can be read off a screen. */
export const agentStates = [
  "idle",
  "working",
  "permission",
  "question",
  "dialog",
  "limited",
  "done",
  "unknown",
  "starting",
  "gone",
  "suspended",
] as const;
export type AgentState = (typeof agentStates)[number];

/**
 * How the last known availability is summed up. `terminated`: it shut down as approved; `offline`: it does not run, for
 * whatever reason.
 */
export const presences = ["active", "idle", "offline", "terminated"] as const;
export type Presence = (typeof presences)[number];

/**
 * Rights in addition to writing along its edges and reading its own mail. `read` is for the mail and screens of
 * its team.
 */
export const permissions = ["spawn", "kill", "answer", "topology", "broadcast-all", "read"] as const;
export type Permission = (typeof permissions)[number];

/** Where an agent can be reached now: which transport, and what that transport needs to find it. */
export interface Endpoint<Locator extends object = object> {
  readonly transport: string;
  /** Typed by the transport that the endpoint belongs to. */
  readonly locator: Readonly<Locator>;
}

/** What is needed to start an agent again, kept from its first start. */
export interface LaunchData {
  readonly profile?: string;
  readonly command?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly model?: string;
  readonly task?: string;
  readonly args?: readonly string[];
  readonly [key: string]: unknown;
}

/** How a program ended. */
export interface Exit {
  /** As it was started, shortened for people. */
  readonly command: string;
  readonly code: number | null;
  /** The number of the signal that ended it. */
  readonly signal: number | null;
  /** How long it ran. */
  readonly afterMs: number;
  /** The last lines that it printed. */
  readonly output: readonly string[];
}

/** exited with code 3: no such model (after 0.2 s). What says most comes first: a narrow table cuts the rest. */
export function exitWords({ code, signal, afterMs, output }: Exit): string {
  const how = code !== null ? `exited with code ${code}` : signal !== null ? `was ended by signal ${signal}` : "exited";
  return `${how}: ${tellingLine(output)} (after ${(afterMs / 1_000).toFixed(1)} s)`;
}

/** Stack frames, the code they point at, and what runtimes print below an error. */
const noise =
  /^\s*(?:at\s|File "[^"]*", line \d|Traceback \(|Bun v[\d.]|(?:Node\.js v[\d.]+|[\^~][\^~\s]*|[{}()[\];,]*)$)/;
/** The last part of a dotted name, before a colon and a reason. */
const named = /^\s*(?:uncaught )?(?:[\w.$]*[.$])?(\w+)(?: \[\w+\])?: *\S/i;
const isError = /error|exception|fatal|panic/i;
const complains = /error|exception|fatal|cannot|not found|panic/i;

/** The line that most likely says why the program exited. */
export function tellingLine(output: readonly string[]): string {
  const lines = output.filter((line) => !noise.test(line));
  const line =
    lines.find((one) => isError.test(named.exec(one)?.[1] ?? "")) ??
    lines.find((one) => complains.test(one)) ??
    lines.at(-1) ??
    output.findLast((one) => one.trim() !== "");
  return line?.trim() ?? "it printed nothing";
}

/** At most `count` of its last lines, the telling one among them. */
export function tellingLines(output: readonly string[], count: number): string[] {
  const telling = output.findIndex((line) => line.trim() === tellingLine(output));
  const first = Math.max(0, Math.min(telling, output.length - count));
  return output.slice(first, first + count);
}

/** A reason that begins with the agent's name is a sentence of its own. */
export function notRunningWords(name: string, reason: string | null): string {
  if (reason === null) return `${name} is not running`;
  return reason.startsWith(`${name} `) ? reason : `${name} is not running: ${reason}`;
}

/** How the program ended whose start an error is about. */
export const exitIn = ({ operands }: TielineError): Exit | null => (operands["exit"] as Exit | undefined) ?? null;

export interface Agent {
  readonly id: AgentId;
  readonly name: string;
  readonly team: string;
  readonly kind: AgentKind;
  readonly role: string | null;
  readonly provider: string;
  /** Best first. None: the agent is offline. */
  readonly endpoints: readonly Endpoint[];
  readonly state: AgentState;
  /** Why it is in that state, for people: "waiting: permission dialog". */
  readonly stateReason: string | null;
  readonly stateAt: number;
  /** Its composer holds an unsent draft. */
  readonly draft: boolean;
  readonly lastActivityAt: number;
  /** The program's own conversation id, kept when the program ends, so that it can be resumed. */
  readonly sessionId: string | null;
  readonly workspace: string | null;
  /** Free text by the agent itself. */
  readonly note: string | null;
  readonly profile: string | null;
  readonly launch: LaunchData | null;
  /** How its program ended, where that was soon after its last start. */
  readonly lastExit: Exit | null;
  readonly may: readonly Permission[];
  /** The agent that spawned it, which may read its mail and screen. */
  readonly startedBy: AgentId | null;
  /** SHA-256 of the secret that proves that a caller is this agent. */
  readonly tokenDigest: string | null;
  readonly createdAt: number;
  /** It shut down because that was asked for and approved, and has not run since. */
  readonly shutDown?: boolean;
}

/** Its endpoint of this transport. */
export function endpointBy(transport: string, { endpoints }: Pick<Agent, "endpoints">): Endpoint | undefined {
  return endpoints.find((one) => one.transport === transport);
}

/** Can it be written to now? The user always can: their mail waits to be read. */
export function isLive(agent: Agent): boolean {
  if (agent.kind === "user") return true;
  return agent.endpoints.length > 0 && !["done", "gone", "suspended"].includes(agent.state);
}

/** Is it offline, with what is needed to start it again? */
export function canStart(agent: Agent): boolean {
  return agent.kind === "program" && agent.launch !== null && !isLive(agent);
}

export function checkName(name: string, what = "name"): string {
  if (!namePattern.test(name) || name.length > maxNameLength) {
    throw new TielineError("NAME_INVALID", `${what} ${JSON.stringify(name)} is not a valid name`, {
      remedy: `use a letter or _ first, then letters, digits, _ or -, at most ${maxNameLength} characters`,
      operands: { name },
    });
  }
  return name;
}

/**
 * Whether a name is reserved, or looks like a reserved one: `User`, `us3r` and `u-ser` look like the
 * user.
 */
export function isReservedName(name: string): boolean {
  return [...reservedNames, switchName].some((reserved) => asRead(reserved) === asRead(name));
}

/** A name as it looks at a quick reading. */
function asRead(name: string): string {
  const digits: Readonly<Record<string, string>> = { 0: "o", 1: "l", 3: "e", 4: "a", 5: "s", 7: "t" };
  return name
    .replaceAll("I", "l")
    .toLowerCase()
    .replaceAll(/[013457]/g, (digit) => digits[digit]!)
    .replaceAll(/[-_]/g, "");
}

export function checkAgentName(name: string): string {
  checkName(name, "agent name");
  if (isReservedName(name)) {
    throw new TielineError("NAME_INVALID", `the name "${name}" is reserved`, {
      remedy: `choose another name; reserved are ${[...reservedNames, switchName].join(", ")}`,
      operands: { name },
    });
  }
  return name;
}
