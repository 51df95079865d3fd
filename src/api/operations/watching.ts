import type { Switch } from "../../compose/index.ts";
import { presenceOf } from "../../events/activity.ts";
import type { Callers } from "../callers.ts";
import type { Answer, Operations } from "../../daemon/http.ts";
import type { Rights } from "../rights.ts";
import { messageView, historyView } from "../views.ts";

/** What those ask who look at everything at once: a dashboard, a monitor, an auditor. */
export function watchingOperations(
  tieline: Switch,
  callers: Callers,
  rights: Rights,
): Pick<Operations, "activity" | "export"> {
  const { mailbox, directory, activities } = tieline;

  return {
    async activity({ all = false }, { caller }) {
      const from = await callers.sender(caller);
      const agents = directory
        .agents()
        .filter((agent) => (all || agent.team === from.team) && rights.reads(from, agent.id));
      return agents.map((agent) => {
        const activity = activities.of(agent);
        return {
          id: agent.id,
          name: agent.name,
          team: agent.team,
          presence: presenceOf(agent, activity.lastActivityAt, tieline.clock()),
          ...activity,
        };
      });
    },

    async export({ since, after, limit = 200 }, { caller }) {
      const from = await callers.sender(caller);
      // The position of the next page is a message that the caller may read, too.
      const agents = rights.readsEverything(from) ? undefined : rights.readable(from);
      const receipts = mailbox.log({
        limit,
        oldest: true,
        ...(agents && { agents }),
        ...(after !== undefined ? { after } : since !== undefined && { since }),
      });
      const messages = receipts.map(({ message }) => {
        const { steps, knownBy } = historyView(rights.shown(from, mailbox.history(message.id)!), tieline);
        return { ...messageView(message, tieline), knownBy, transitions: steps };
      });
      return { messages, last: receipts.at(-1)?.message.id ?? after ?? "", more: receipts.length === limit };
    },
  };
}

/** `/metrics`, as Prometheus reads it. */
export function metricsAnswer(
  { mailbox, directory, courier, metrics, events, nats }: Switch,
  callers: Callers,
): Answer {
  return async (_, { caller }) => {
    // It counts who writes to whom, in every team.
    await callers.user(caller);
    const agents = [...directory.agents(), directory.roster.user];
    const queues = agents
      .map(({ id, name, team }) => ({ team, agent: name, depth: mailbox.pending(id) }))
      .filter(({ depth }) => depth > 0);
    const reasons = Map.groupBy(
      mailbox.waiting().flatMap((id) => courier.holdOf(id)?.reason ?? []),
      (reason) => reason,
    );
    const held = [...reasons].map(([reason, those]) => ({ reason, agents: those.length }));
    const { published: natsPublished = 0, dropped: natsDropped = 0 } = nats?.state ?? {};
    const text = metrics.text({ queues, held, eventsLost: events.lost, natsPublished, natsDropped });
    return new Response(text, { headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" } });
  };
}
