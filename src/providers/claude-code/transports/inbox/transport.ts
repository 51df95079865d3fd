/**
 * The inbox file of a member of a Claude Code team. The member's session looks at it every second and takes out what
 * it finds; that the model read it the file does not tell.
 */
import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";
import { notRunningWords, userId, type Agent, type Endpoint } from "../../../../model/agent.ts";
import type { Outcome } from "../../../../model/delivery.ts";
import { envelope } from "../../../../model/envelope.ts";
import { asTielineError } from "../../../../model/errors.ts";
import { isProtocol, type Message } from "../../../../model/message.ts";
import type { LockPatience } from "../../teams/lockedFile.ts";
import type { TeamInboxRow } from "../../teams/teamInbox.ts";
import { fieldsOf, leadName, userMember, textOf } from "../../teams/teamProtocol.ts";
import { inboxAt, teamIn, type InboxLayout, type NativeTeam } from "../../teams/teams.ts";
import type { Transport } from "../../../../delivery/transports/port.ts";
import { claudeInboxKind } from "../../inboxEndpoint.ts";

const inlineLimit = 900_000;

export const claudeInbox = claudeInboxKind.transport;

export const claudeInboxEndpoint = (inbox: string): Endpoint => claudeInboxKind.make({ inbox });

export interface ClaudeInboxOptions {
  readonly layout?: InboxLayout;
  readonly patience?: LockPatience;
}

export function claudeInboxTransport({ layout = "inboxes", patience = {} }: ClaudeInboxOptions = {}): Transport {
  const inboxOf = (endpoint: Endpoint) => inboxAt(fileOf(endpoint), layout, patience);

  return {
    name: claudeInbox,
    traits: {
      bestProof: "written",
      authority: "peer",
      rank: { atTurnEnd: 100, inTurn: 100, fromAgent: 50 },
      protocol: true,
    },
    envelopeOf: (message) =>
      isProtocol(message.kind)
        ? { text: message.body, inline: true, changes: [] }
        : envelope(message, { multiline: true, inlineLimit }, "peer"),

    ready: async ({ agent, endpoint }) => goneFrom(endpoint, agent) ?? { kind: "ready" },

    async deliver({ agent, message, endpoint }): Promise<Outcome> {
      const gone = goneFrom(endpoint, agent);
      if (gone !== null) return gone;
      try {
        const fate = await inboxOf(endpoint).append(rowOf(message, teamIn(folderOf(endpoint))));
        if (fate === "lost") return { kind: "error", detail: "another program overwrote the inbox without its lock" };
        return {
          kind: "delivered",
          proof: "written",
          detail: fate === "present" ? "it lies in the member's inbox" : "the member took it from its inbox",
        };
      } catch (thrown) {
        return { kind: "error", detail: asTielineError(thrown).message };
      }
    },

    /** A row that is not there was taken, or never written: there is no proof. */
    async inspect({ message, endpoint }): Promise<Outcome> {
      const there = inboxOf(endpoint).fateOf(rowOf(message, null)) === "present";
      return there
        ? { kind: "delivered", proof: "written" }
        : { kind: "unknown", detail: "the inbox does not hold it any more, or never did" };
    },

    watch: () => ({ [Symbol.dispose]: () => undefined }),
  };
}

/** An inbox of a member that has left the team, or has ended, is one that nothing reads; null: it is read. */
function goneFrom(
  endpoint: Endpoint,
  { name, state, stateReason }: Agent,
): { readonly kind: "gone"; readonly detail: string } | null {
  const team = teamIn(folderOf(endpoint));
  const isMember =
    team === null
      ? existsSync(folderOf(endpoint))
      : team.lead.name === nameOf(endpoint) || team.members.some((member) => member.name === nameOf(endpoint));
  if (!isMember) return { kind: "gone", detail: `${name} is not in its Claude Code team any more` };
  return state === "gone" ? { kind: "gone", detail: notRunningWords(name, stateReason) } : null;
}

const folderOf = (endpoint: Endpoint): string => dirname(dirname(fileOf(endpoint)));

export const fileOf = (endpoint: Endpoint): string => claudeInboxKind.locatorOf(endpoint).inbox;

const nameOf = (endpoint: Endpoint): string => basename(fileOf(endpoint), ".json");

/**
 * A protocol row speaks for itself, and to a member in the name of its lead. Text comes from a name that the member can
 * answer to with its own SendMessage, as far as there is one in its team.
 */
export function rowOf(message: Message, team: NativeTeam | null): TeamInboxRow {
  const { from, body, kind, acceptedAt, summary, id } = message;
  const names = new Set((team?.members ?? []).map(({ name }) => name));
  const sender = from.id === userId && names.has(userMember) ? userMember : from.name;
  const row = { timestamp: new Date(acceptedAt).toISOString(), read: false, messageId: id };
  if (isProtocol(kind)) return { from: textOf(fieldsOf(body) ?? {}, "from") ?? leadName, text: body, ...row };
  const { text } = envelope(
    message,
    { multiline: true, inlineLimit, ...(names.has(sender) && { reply: `SendMessage to "${sender}"` }) },
    "peer",
  );
  return { from: sender, text, ...row, summary };
}
