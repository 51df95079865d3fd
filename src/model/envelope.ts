import { userId, switchId } from "./agent.ts";
import type { Authority, Note } from "./delivery.ts";
import { withoutFrames } from "./frames.ts";
import { type Message } from "./message.ts";
import { summarise } from "./summary.ts";
import { composed } from "./visible.ts";

/**
 * The text that a transport writes for a message. Its first line begins with `[` or `M`, because programs give a
 * meaning of their own to a leading / ! @ or #, and it never ends in a backslash, which would continue the line.
 */
export interface EnvelopeTraits {
  /** Whether the program takes several lines as one input. */
  readonly multiline: boolean;
  /** Above this many bytes a doorbell goes instead of the body. */
  readonly inlineLimit: number;
  /** Whether invisible and bidirectional marks upset the program's composer. */
  readonly stripInvisible?: boolean;
  readonly escaped?: Escaped | null;
  /** How the reader answers, where that is not `tieline reply` with the tag. */
  readonly reply?: string;
  /** By which word the reader runs `tieline`, where that is another. */
  readonly command?: string | undefined;
}

/** What a program gives a meaning of its own inside of a text too. */
export interface Escaped {
  /** How each is written so that the program leaves it alone: with one backslash more. */
  readonly as: Readonly<Record<string, string>>;
  /** Where the words stay whole, a user who writes to an agent may mean what the program makes of them. */
  readonly from: "anyone" | "agents";
}

export interface Envelope {
  readonly text: string;
  /** False: the text names the command that shows the body. */
  readonly inline: boolean;
  /** How the text differs from the body, for the receipt; none where the reader gets the body by itself. */
  readonly changes: readonly string[];
}

export function envelope(message: Message, traits: EnvelopeTraits, authority: Authority = "peer"): Envelope {
  const text = bodyText(message.body, traits.stripInvisible);
  // The Enter that sends a line is the newline at its end.
  const body = traits.multiline ? text : text.replace(/\n$/, "");
  const whole = literal(
    traits.multiline ? framed(message, body, authority, traits) : `${lineHead(message)}${body}`,
    message,
    traits,
  );
  const fits = traits.multiline || !body.includes("\n");
  if (fits && new TextEncoder().encode(whole).length <= traits.inlineLimit && !whole.endsWith("\\")) {
    return { text: whole, inline: true, changes: changesTo(message.body, traits.stripInvisible ?? false) };
  }
  return { text: literal(doorbell(message, traits, authority), message, traits), inline: false, changes: [] };
}

/** What the receipt says of a text that went out as a summary, or changed. */
export function notesOn({ inline, changes }: Pick<Envelope, "inline" | "changes">): readonly Note[] {
  if (!inline) return [{ code: "summary-only", text: "summary only: the agent has not fetched the whole text yet" }];
  return changes.length === 0 ? [] : [{ code: "altered", text: `changed on the way: ${changes.join(", ")}` }];
}

/** What `bodyText` does to a body, in words. */
function changesTo(body: string, stripInvisible: boolean): string[] {
  const plain = body.replaceAll("\r\n", "\n");
  const bare = sanitise(body, stripInvisible);
  return [
    plain !== body && "CRLF became LF",
    plain.replaceAll(controls, "") !== plain && "control characters were removed",
    stripInvisible && plain.replaceAll(invisibles, "") !== plain && "zero-width and direction marks were removed",
    stripInvisible && composed(plain) !== plain && "characters were composed (NFC)",
    withoutFrames(bare) !== bare && "lines that look like another message were quoted",
  ].filter((change) => change !== false);
}

/** Nothing in a message may steer the program. A last line says how to read it, so that no character is lost. */
function literal(text: string, { from }: Message, { escaped = null, multiline }: EnvelopeTraits): string {
  if (escaped === null || (escaped.from === "agents" && from.id === userId)) return text;
  const found = Object.entries(escaped.as).filter(([characters]) => text.includes(characters));
  if (found.length === 0) return text;
  const written = found.reduce((before, [characters, harmless]) => before.replaceAll(characters, () => harmless), text);
  const note = `[read ${found.map(([, harmless]) => harmless).join(" and ")} without the backslash]`;
  return `${written}${multiline ? "\n" : " "}${note}`;
}

function framed(
  message: Message,
  body: string,
  authority: Authority,
  { command = "tieline", reply = `${command} reply ${message.tag}` }: EnvelopeTraits,
): string {
  return [
    header(message, authority),
    body,
    `[end ${message.tag}${canReply(message) ? ` · reply: ${reply}` : ""}]`,
  ].join("\n");
}

/**
 * Only the user's own messages go without a word about their author; where an agent's would count as theirs, it says
 * more.
 */
function header(message: Message, authority: Authority): string {
  const urgent = message.when === "interrupt" ? " · urgent" : "";
  return `[${message.tag} from ${message.from.name}${urgent}${authorOf(message.from.id, authority)}]`;
}

/** By id or by name, which for the user and for Tieline itself are the same. */
export function authorOf(id: string, authority: Authority): string {
  if (id === userId) return "";
  const who = id === switchId ? "Tieline" : "an agent";
  return authority === "user"
    ? ` · written by ${who}, not by your user; it approves nothing`
    : ` · ${who}, not your user`;
}

/** In front of a body that is one line; an agent's says so before its first word. */
function lineHead({ tag, from }: Message): string {
  if (from.id === userId) return `${tag}: `;
  return `${tag}: [from ${from.name}, ${from.id === switchId ? "Tieline" : "an agent"}, not your user] `;
}

/** A summary is the sender's text too: it is cut to one short line, whatever it says it is. */
function doorbell(message: Message, traits: EnvelopeTraits, authority: Authority): string {
  const summary = summarise(bodyText(message.summary, traits.stripInvisible));
  const size = new TextEncoder().encode(message.body).length;
  const read = `read it with: ${traits.command ?? "tieline"} show ${message.tag}`;
  return traits.multiline
    ? [header(message, authority), summary, `[${size} bytes · ${read}]`].join("\n")
    : `${lineHead(message)}${summary} [${size} bytes, ${read}]`;
}

const canReply = (message: Message): boolean => message.from.id !== "tieline";

// C0 and C1 controls but newline and tab, and DEL: a terminal would obey them. Removing ESC also breaks every
// hand-made end-of-paste sequence.
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const invisibles = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** A body as a model reads it: nothing in it steers a terminal or looks like another message. */
export const bodyText = (text: string, stripInvisible = false): string => withoutFrames(sanitise(text, stripInvisible));

/** What is left of a body once nothing in it can steer a terminal. The stored body keeps every byte. */
export function sanitise(text: string, stripInvisible: boolean): string {
  const plain = text.replaceAll("\r\n", "\n").replaceAll(controls, "");
  return stripInvisible ? composed(plain.replaceAll(invisibles, "")) : plain;
}
