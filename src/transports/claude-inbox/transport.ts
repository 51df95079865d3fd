/**
 * The inbox file of a member of a Claude Code team. The member's session looks at it every second and takes out what
 * it finds; that the model read it the file does not tell.
 */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Agent, Endpoint } from "../../model/agent.ts";
import type { Outcome } from "../../model/delivery.ts";
import { envelope } from "../../model/envelope.ts";
import { asTielineError } from "../../model/errors.ts";
import { isProtocol, type Message } from "../../model/message.ts";
import { appendToInbox, readInbox, type InboxRow, type LockPatience } from "../../providers/claude-code/teamInbox.ts";
import { fieldsOf, leadName, textOf } from "../../providers/claude-code/teamProtocol.ts";
import type { Transport } from "../port.ts";

const inlineLimit = 900_000;

export const claudeInboxEndpoint = (inbox: string): Endpoint => ({ transport: "claude-inbox", locator: { inbox } });

export function claudeInboxTransport(patience: LockPatience = {}): Transport {
  return {
    name: "claude-inbox",
    traits: { bestProof: "written", authority: "peer" },

    ready: async ({ agent, endpoint }) => (hasTeam(endpoint) ? { kind: "ready" } : gone(agent)),

    async deliver({ agent, message, endpoint }): Promise<Outcome> {
      if (!hasTeam(endpoint)) return gone(agent);
      try {
        const written = await appendToInbox(fileOf(endpoint), rowOf(message), patience);
        if (written === "lost") return { kind: "error", detail: "another program overwrote the inbox without its lock" };
        return { kind: "handed", proof: "written", detail: written === "present" ? "it lies in the member's inbox" : "the member took it from its inbox" };
      } catch (thrown) {
        return { kind: "error", detail: asTielineError(thrown).message };
      }
    },

    /** A row that is not there was taken, or never written: nobody can tell. */
    async inspect({ message, endpoint }): Promise<Outcome> {
      const there = readInbox(fileOf(endpoint)).some((row) => row.messageId === message.id);
      return there ? { kind: "handed", proof: "written" } : { kind: "unknown", detail: "the inbox does not hold it any more, or never did" };
    },

    watch: () => ({ [Symbol.dispose]: () => undefined }),
  };
}

const hasTeam = (endpoint: Endpoint): boolean => existsSync(dirname(dirname(fileOf(endpoint))));

const gone = ({ name }: Agent) => ({ kind: "gone", detail: `the team of ${name} is not there any more` }) as const;

const fileOf = ({ locator }: Endpoint): string => String(locator["inbox"]);

/** A protocol row speaks for itself, and to a member in the name of its lead. */
function rowOf(message: Message): InboxRow {
  const { from, body, kind, acceptedAt, summary, id } = message;
  const row = { timestamp: new Date(acceptedAt).toISOString(), read: false, messageId: id };
  if (isProtocol(kind)) return { from: textOf(fieldsOf(body) ?? {}, "from") ?? leadName, text: body, ...row };
  const { text } = envelope(message, { multiline: true, inlineLimit }, "peer");
  return { from: from.name, text, ...row, summary };
}
