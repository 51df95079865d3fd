/** What a caller's words mean, or the refusal. */
import type { Directory } from "../agents/directory/directory.ts";
import { type PaneLocator, tmuxEndpoint } from "../delivery/transports/paneEndpoint.ts";
import type { Mailbox } from "../mailbox/port.ts";
import type { Agent, Endpoint } from "../model/agent.ts";
import { TielineError } from "../model/errors.ts";
import type { Message, Sender } from "../model/message.ts";
import type { RouterParts } from "../routing/router.ts";

export interface Resolving {
  /** Which agents an address means for a sender, as when sending to it. */
  readonly resolve: RouterParts["resolve"];
}

interface Known {
  readonly directory: Pick<Directory, "agent">;
}

/** For what is done to one agent at a time; it may be known only by its profile yet. */
export function agentCalled(address: string, from: Sender, { resolve }: Resolving): Agent {
  const { agents } = resolve(address, from);
  if (agents.length === 1) return agents[0]!;
  throw new TielineError("ADDRESS_AMBIGUOUS", `${address} means ${agents.length} agents`, {
    remedy: "name one agent",
    operands: { address, candidates: agents.map((agent) => agent.name) },
  });
}

/** One that exists, whether or not it runs. */
export function programCalled(address: string, from: Sender, parts: Resolving & Known): Agent {
  const agent = agentCalled(address, from, parts);
  if (agent.kind !== "program") throw isNoProgram(agent);
  if (parts.directory.agent(agent.id) === null) throw neverStarted(agent);
  return agent;
}

/** The pane that the agent is in, or was in last. */
export function paneOf(agent: Agent): { readonly endpoint: Endpoint; readonly locator: PaneLocator } {
  const endpoint = tmuxEndpoint.of(agent);
  if (endpoint === undefined) throw notRunning(agent);
  return { endpoint, locator: endpoint.locator };
}

export function messageCalled(tag: string, mailbox: Pick<Mailbox, "message">): Message {
  const message = mailbox.message(tag);
  if (message !== null) return message;
  throw messageUnknown(tag);
}

/** The same for one that the caller may not read: it need not know that there is one. */
export const messageUnknown = (tag: string): TielineError =>
  new TielineError("MESSAGE_UNKNOWN", `there is no message ${tag}`, {
    remedy: "`tieline log` lists the messages that you may read; old ones are removed by the retention settings",
    operands: { message: tag },
  });

export function notRunning(agent: Agent): TielineError {
  return new TielineError(
    "PANE_UNKNOWN",
    `${agent.name} is in no pane${agent.stateReason === null ? "" : `: ${agent.stateReason}`}`,
    {
      remedy: howToStart(agent),
      operands: { agent: agent.name, state: agent.state },
    },
  );
}

function howToStart({ name, kind, launch, endpoints }: Agent): string {
  if (kind !== "program") return "only programs are; `tieline ls` lists the agents";
  if (launch !== null) return `\`tieline resume ${name}\` starts it again`;
  return endpoints.length === 0
    ? "start it by hand and adopt it again"
    : "it has no screen; `tieline ls` shows its state";
}

const isNoProgram = ({ name, kind }: Agent): TielineError =>
  new TielineError(
    "ADDRESS_UNKNOWN",
    kind === "user" ? `${name} is the user, and no program` : `${name} is an object, and no program`,
    {
      remedy: "`tieline ls` lists the agents",
      operands: { address: name, kind },
    },
  );

export const neverStarted = ({ name }: Agent): TielineError =>
  new TielineError("ADDRESS_UNKNOWN", `${name} is not an agent that was started or adopted`, {
    remedy: `\`tieline spawn ${name}\` starts it; \`tieline ls\` lists the agents`,
    operands: { address: name },
  });
