/**
 * The inbox file of a member of a Claude Code team. The member's session looks at it every second and takes out what
 * it finds; that the model read it the file does not tell.
 */
import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { Agent, Endpoint } from "../../model/agent.ts";
import type { Outcome } from "../../model/delivery.ts";
import { envelope } from "../../model/envelope.ts";
import { asTielineError } from "../../model/errors.ts";
import { isProtocol, type Message } from "../../model/message.ts";
import type { LockPatience } from "../../providers/claude-code/lockedFile.ts";
import type { InboxRow } from "../../providers/claude-code/teamInbox.ts";
import { fieldsOf, leadName, textOf } from "../../providers/claude-code/teamProtocol.ts";
import { inboxAt, teamIn, type InboxLayout } from "../../providers/claude-code/teams.ts";
import type { Transport } from "../port.ts";

const inlineLimit = 900_000;

export const claudeInbox = "claude-inbox";

export const claudeInboxEndpoint = (inbox: string): Endpoint => ({ transport: claudeInbox, locator: { inbox } });

export interface ClaudeInboxOptions {
  readonly layout?: InboxLayout;
  readonly patience?: LockPatience;
}

export function claudeInboxTransport({ layout = "inboxes", patience = {} }: ClaudeInboxOptions = {}): Transport {
  const inboxOf = (endpoint: Endpoint) => inboxAt(fileOf(endpoint), layout, patience);

  return {
    name: claudeInbox,
    traits: { bestProof: "written", authority: "peer" },

    ready: async ({ agent, endpoint }) => (isMember(endpoint) ? { kind: "ready" } : gone(agent)),

    async deliver({ agent, message, endpoint }): Promise<Outcome> {
      if (!isMember(endpoint)) return gone(agent);
      try {
        const fate = await inboxOf(endpoint).append(rowOf(message));
        if (fate === "lost") return { kind: "error", detail: "another program overwrote the inbox without its lock" };
        return { kind: "handed", proof: "written", detail: fate === "present" ? "it lies in the member's inbox" : "the member took it from its inbox" };
      } catch (thrown) {
        return { kind: "error", detail: asTielineError(thrown).message };
      }
    },

    /** A row that is not there was taken, or never written: nobody can tell. */
    async inspect({ message, endpoint }): Promise<Outcome> {
      const there = inboxOf(endpoint).fateOf(rowOf(message)) === "present";
      return there ? { kind: "handed", proof: "written" } : { kind: "unknown", detail: "the inbox does not hold it any more, or never did" };
    },

    watch: () => ({ [Symbol.dispose]: () => undefined }),
  };
}

/** An inbox of somebody who has left the team is one that nobody reads. */
function isMember(endpoint: Endpoint): boolean {
  const folder = dirname(dirname(fileOf(endpoint)));
  const team = teamIn(folder);
  return team === null ? existsSync(folder) : team.lead.name === nameOf(endpoint) || team.members.some(({ name }) => name === nameOf(endpoint));
}

const gone = ({ name }: Agent) => ({ kind: "gone", detail: `${name} is not in its Claude Code team any more` }) as const;

export const fileOf = ({ locator }: Endpoint): string => String(locator["inbox"]);

const nameOf = (endpoint: Endpoint): string => basename(fileOf(endpoint), ".json");

/** A protocol row speaks for itself, and to a member in the name of its lead. */
export function rowOf(message: Message): InboxRow {
  const { from, body, kind, acceptedAt, summary, id } = message;
  const row = { timestamp: new Date(acceptedAt).toISOString(), read: false, messageId: id };
  if (isProtocol(kind)) return { from: textOf(fieldsOf(body) ?? {}, "from") ?? leadName, text: body, ...row };
  const { text } = envelope(message, { multiline: true, inlineLimit }, "peer");
  return { from: from.name, text, ...row, summary };
}
