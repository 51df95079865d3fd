import type { Switch } from "../../compose/index.ts";
import { digestOf, newToken } from "../../agents/directory/token.ts";
import { checkAgentName, checkName, userId, type Agent } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import type { Message } from "../../model/message.ts";
import type { Collected, Collection } from "../../delivery/courier.ts";
import type { Callers } from "../callers.ts";
import type { Operations } from "../../daemon/http.ts";
import type { Rights } from "../rights.ts";
import type { Waits } from "../../daemon/waits.ts";
import { agentView, inboxView } from "../views.ts";

/** Programs that register themselves have no screen and no process that we know; this is their provider. */
const ownProgram = "sdk";
const way = { transport: "pull", authority: "peer" } as const;

/** What a caller does about itself: who it is, becoming an agent, taking its mail. */
export function ownOperations(
  tieline: Switch,
  callers: Callers,
  rights: Rights,
  waits: Waits,
): Pick<Operations, "collect" | "register" | "whoami"> {
  const { directory, courier, mailbox } = tieline;

  return {
    async whoami(_, { caller }) {
      const { id, name, team, knownBy } = await callers.sender(caller);
      const { kind, role } = directory.agent(id)!;
      return { name, team, kind, role, knownBy };
    },

    async collect({ tag, limit = 20, waitMs = 0 }, { caller, signal }) {
      const from = await callers.sender(caller);
      const only = tag === undefined ? undefined : rights.messageCalled(from, tag).id;
      const wanted = { limit, ...(only && { take: (message: Message) => message.id === only, outOfOrder: true }) };
      const items = await collected(directory.agent(from.id)!, wanted, AbortSignal.timeout(waitMs), signal);
      return items.map((item) => ({ ...inboxView(item, tieline), delivery: item.delivery.id as number }));
    },

    async register({ name, kind = "program", role = null }, { caller }) {
      const from = await callers.allow(caller, "spawn");
      const { team } = from;
      if (role !== null) checkName(role, "role");
      const known = directory.roster.named(team, checkAgentName(name));
      if (known !== null && known.provider !== ownProgram) throw taken(known);
      // A new token would lock out the program that has the old one, and speak in its name.
      if (known !== null && from.id !== userId && from.id !== known.id) throw taken(known);
      const token = newToken();
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
      return { agent: agentView(agent, tieline), token };
    },
  };

  /**
   * What waits for the agent; if nothing does, what comes while it is patient. Nothing is claimed for a caller who has
   * gone.
   */
  async function collected(
    agent: Agent,
    wanted: Pick<Collection, "limit" | "take" | "outOfOrder">,
    patience: AbortSignal,
    gone: AbortSignal,
  ): Promise<Collected["items"]> {
    const over = AbortSignal.any([patience, gone]);
    using _ = waits.read(agent.id);
    let arrived = Promise.withResolvers<void>();
    const arrive = (): void => arrived.resolve();
    const stop = mailbox.onTransitions((changes) => {
      if (changes.some(({ delivery, transition }) => delivery.agent === agent.id && transition.to === "queued"))
        arrive();
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
}

const taken = ({ name, team, provider }: Agent): TielineError =>
  new TielineError("CONFLICT", `${name} in team ${team} is a ${provider} agent already`, {
    remedy: "register under another name",
    operands: { agent: name, team, provider },
  });
