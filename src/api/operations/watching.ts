import { z } from "zod";
import type { Directory } from "../../agents/directory/directory.ts";
import { presenceOf, type Activities } from "../../events/activity.ts";
import type { Mailbox } from "../../mailbox/port.ts";
import { presences } from "../../model/agent.ts";
import type { Clock } from "../../model/ids.ts";
import type { Callers } from "../callers.ts";
import { operation } from "../operation.ts";
import type { Rights } from "../rights.ts";
import { MessageView, StepView } from "../schema.ts";
import { ActivityView } from "../schemas/events.ts";
import { everyTeam, limit, sinceTime } from "../schemas/fields.ts";
import { historyView, messageView, type ViewParts } from "../views.ts";

export interface WatchingParts extends ViewParts {
  readonly callers: Callers;
  readonly directory: Directory;
  readonly rights: Rights;
  readonly activities: Activities;
  readonly clock: Clock;
  readonly mailbox: Mailbox;
}

/** What those ask who look at everything at once: a dashboard, a monitor, an auditor. */
/** An exported message is the message with its transitions. */
const ExportedMessage = MessageView.extend({ knownBy: z.string(), transitions: z.array(StepView) });

export const watchingOperations = [
  operation({
    name: "activity",
    summary: "Show the last activity of each agent.",
    access: "readable",
    input: z.object({ all: everyTeam.optional() }),
    output: z.array(
      ActivityView.extend({ id: z.string(), name: z.string(), team: z.string(), presence: z.enum(presences) }),
    ),
    async run(parts: WatchingParts, { all = false }, { caller }) {
      const { callers, directory, rights, activities } = parts;
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
          presence: presenceOf(agent, activity.lastActivityAt, parts.clock()),
          ...activity,
        };
      });
    },
  }),

  operation({
    name: "export",
    summary: "Export messages with their histories, oldest first.",
    access: "readable",
    input: z.object({
      since: sinceTime.optional(),
      after: z.string().optional().describe("the `last` of the previous page"),
      limit: limit.max(1_000).optional(),
    }),
    output: z.object({ messages: z.array(ExportedMessage), last: z.string(), more: z.boolean() }),
    async run(parts: WatchingParts, { since, after, limit = 200 }, { caller }) {
      const { callers, rights, mailbox } = parts;
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
        const { steps, knownBy } = historyView(rights.shown(from, mailbox.history(message.id)!), parts);
        return { ...messageView(message, parts), knownBy, transitions: steps };
      });
      return { messages, last: receipts.at(-1)?.message.id ?? after ?? "", more: receipts.length === limit };
    },
  }),
] as const;
