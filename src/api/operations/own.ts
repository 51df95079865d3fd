import { z } from "zod";
import type { Directory } from "../../agents/directory/directory.ts";
import { digestOf, newToken } from "../../agents/directory/token.ts";
import type { Collected, Collection, Courier } from "../../delivery/courier.ts";
import type { Mailbox } from "../../mailbox/port.ts";
import { checkAgentName, checkName, userId, type Agent } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import type { Message } from "../../model/message.ts";
import { programCalled, type Resolving } from "../addressed.ts";
import type { Callers } from "../callers.ts";
import { operation } from "../operation.ts";
import type { Rights } from "../rights.ts";
import { AgentView, InboxView } from "../schema.ts";
import { agentAddress, count, limit, messageTag, newAgentName, noteText, roleLabel } from "../schemas/fields.ts";
import { agentView, inboxView, type ViewParts } from "../views.ts";
import type { Waits } from "../waits.ts";
import type { RandomBytes } from "../../model/ids.ts";
import type { Timers } from "../../os/timers.ts";

/** Programs that register themselves have no screen and no process that we know; this is their provider. */
const ownProgram = "sdk";
const way = { transport: "pull", authority: "peer" } as const;

export interface OwnParts extends ViewParts, Resolving {
  readonly callers: Callers;
  readonly directory: Directory;
  readonly rights: Rights;
  readonly courier: Courier;
  readonly waits: Waits;
  readonly mailbox: Mailbox;
  readonly timers: Pick<Timers, "timeout">;
  readonly random: RandomBytes;
}

/** What a caller does about itself: who it is, becoming an agent, taking its mail, saying what it does. */
export const ownOperations = [
  operation({
    name: "whoami",
    summary: "Show the caller's name and team, and how it was identified.",
    access: "own",
    input: z.object({}),
    output: z.object({
      name: z.string(),
      team: z.string(),
      kind: z.enum(["program", "user", "object"]),
      role: z.string().nullable(),
      knownBy: z.string().describe("how the caller was identified"),
    }),
    async run(parts: OwnParts, _, { caller }) {
      const { callers, directory } = parts;
      const { id, name, team, knownBy } = await callers.sender(caller);
      const { kind, role } = directory.agent(id)!;
      return { name, team, kind, role, knownBy };
    },
  }),

  /** Takes waiting mail out of the queue for the caller, who says `collected` once it was shown. */
  operation({
    name: "collect",
    summary: "Fetch your waiting mail.",
    access: "own",
    input: z.object({
      tag: messageTag.optional().describe("only the message with this tag"),
      limit: limit.optional(),
      waitMs: count.max(600_000).optional().describe("if there is none, wait this long for some"),
    }),
    output: z.array(InboxView),
    async run(parts: OwnParts, { tag, limit = 20, waitMs = 0 }, { caller, signal }) {
      const { callers, rights, directory } = parts;
      const from = await callers.sender(caller);
      const only = tag === undefined ? undefined : rights.messageCalled(from, tag).id;
      const wanted = { limit, ...(only && { take: (message: Message) => message.id === only, outOfOrder: true }) };
      const over = parts.timers.timeout(waitMs);
      const items = await collected(parts, directory.agent(from.id)!, wanted, over, signal);
      return items.map((item) => ({ ...inboxView(item, parts), delivery: item.delivery.id as number }));
    },
  }),

  /**
   * Makes the calling program an agent, or an object, that fetches its own mail. The token proves who it is from then
   * on.
   */
  operation({
    name: "register",
    summary: "Register an agent or an object that fetches its own mail.",
    access: "spawn",
    input: z.object({
      name: newAgentName,
      kind: z.enum(["program", "object"]).optional().describe("default: program"),
      role: roleLabel.optional(),
    }),
    output: z.object({ agent: AgentView, token: z.string() }),
    async run(parts: OwnParts, { name, kind = "program", role = null }, { caller }) {
      const { callers, directory, courier } = parts;
      const from = await callers.allow(caller, "spawn");
      const { team } = from;
      if (role !== null) checkName(role, "role");
      const known = directory.roster.named(team, checkAgentName(name));
      if (known !== null && known.provider !== ownProgram) throw taken(known);
      // A new token would lock out the program that has the old one, and speak in its name.
      if (known !== null && from.id !== userId && from.id !== known.id) throw taken(known);
      const token = newToken(parts.random);
      const fields = {
        kind,
        role,
        endpoints: [{ transport: way.transport, locator: {} }],
        state: "idle",
        stateReason: null,
        tokenDigest: digestOf(token),
      } as const;
      const startedBy = from.id === userId ? null : from.id;
      const agent = known
        ? directory.update(known.id, fields)
        : directory.register({ name, team, provider: ownProgram, startedBy, ...fields });
      courier.wake(agent.id);
      return { agent: agentView(agent, parts), token };
    },
  }),

  operation({
    name: "note",
    summary: "Set an agent's note, which lists of agents show.",
    access: "own",
    input: z.object({ text: noteText, agent: agentAddress.optional().describe("the user only: the agent") }),
    output: z.object({ agent: z.string(), note: z.string().nullable() }),
    async run(parts: OwnParts, { text, agent: address }, { caller }) {
      const { callers, directory } = parts;
      const from = await callers.sender(caller);
      if (address === undefined && from.id === userId) throw noteOfWhom();
      const agent = address === undefined ? directory.agent(from.id)! : programCalled(address, from, parts);
      if (from.id !== userId && from.id !== agent.id) throw notYourNote(agent.name);
      const { name, note } = directory.update(agent.id, { note: text });
      return { agent: name, note };
    },
  }),
] as const;

/**
 * What waits for the agent; if nothing does, what comes while it is patient. Nothing is claimed for a caller who has
 * gone.
 */
async function collected(
  parts: OwnParts,
  agent: Agent,
  wanted: Pick<Collection, "limit" | "take" | "outOfOrder">,
  patience: AbortSignal,
  gone: AbortSignal,
): Promise<Collected["items"]> {
  const { waits, mailbox, courier } = parts;
  const over = AbortSignal.any([patience, gone]);
  using _ = waits.read(agent.id);
  let arrived = Promise.withResolvers<void>();
  const arrive = (): void => arrived.resolve();
  const stop = mailbox.onTransitions((changes) => {
    if (changes.some(({ delivery, transition }) => delivery.agent === agent.id && transition.to === "queued")) arrive();
  });
  over.addEventListener("abort", arrive);
  try {
    while (!gone.aborted) {
      const { items } = await courier.collect(agent, { ...way, ...wanted });
      if (items.length > 0 || over.aborted) return items;
      await arrived.promise;
      arrived = Promise.withResolvers<void>();
    }
    return [];
  } finally {
    over.removeEventListener("abort", arrive);
    stop();
  }
}

const taken = ({ name, team, provider }: Agent): TielineError =>
  new TielineError("CONFLICT", `${name} in team ${team} is already a ${provider} agent`, {
    remedy: "register under another name",
    operands: { agent: name, team, provider },
  });

const noteOfWhom = (): TielineError =>
  new TielineError("USAGE", "only agents have notes", {
    remedy: "pass --agent NAME: `tieline note --agent NAME TEXT`",
  });

const notYourNote = (name: string): TielineError =>
  new TielineError("NOT_PERMITTED", `only ${name} and the user can change the note of ${name}`, {
    remedy: "leave --agent out to write your own",
    operands: { agent: name },
  });
