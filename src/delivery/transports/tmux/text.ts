import { bodyText, envelope, type Envelope } from "../../../model/envelope.ts";
import type { Authority } from "../../../model/delivery.ts";
import { type Message } from "../../../model/message.ts";
import { summarise } from "../../../model/summary.ts";
import { showsPlainly } from "../../../providers/screen.ts";
import type { TerminalTraits } from "../../../providers/traits.ts";

/** A terminal that edits lines itself cuts longer ones off (4,096 bytes on Linux, 1,024 on macOS). */
export const canonicalLimit = (platform: NodeJS.Platform): number => (platform === "darwin" ? 1_000 : 4_000);

export interface Taking {
  readonly multiline: boolean;
  /** Bytes of one line, where the terminal limits them. */
  readonly lineLimit: number | null;
  /** The size of the pane, where the composer has to show all of a text for it to be checked. */
  readonly room: { readonly columns: number; readonly rows: number } | null;
  /** From so many lines on the program shows a paste as one short mark. */
  readonly collapsesFrom?: number | undefined;
  /** What begins a line that an interpreter does not run. */
  readonly comment?: string | null;
  /**
   * Whether a shell is known to read quotes as POSIX has them; others, and those that cannot be seen, get none to read.
   */
  readonly posix?: boolean;
  /** By which word the reader runs `tieline`. */
  readonly command?: string | undefined;
}

/** What is pasted for a message; null: no form fits into the pane. */
export function paneText(
  message: Message,
  traits: TerminalTraits,
  taking: Taking,
  authority: Authority,
): Envelope | null {
  const { stripInvisible, escaped } = traits;
  const { multiline, room, command } = taking;
  const inlineLimit = Math.min(traits.pasteLimit, taking.lineLimit ?? Number.MAX_SAFE_INTEGER);
  if (traits.shell) return shellText(message, { ...taking, inlineLimit });
  if (traits.interpreter) return commentText(message, { ...taking, inlineLimit }, authority);
  const forms = [inlineLimit, 0].map((limit) =>
    envelope(message, { multiline, inlineLimit: limit, stripInvisible, escaped, command }, authority),
  );
  const form =
    traits.collapsesAbove === null
      ? forms.find(({ text }) => isCollapsed(text, taking) || fits(text, room))
      : collapsible(forms[0]!, traits.collapsesAbove, room);
  if (form === undefined) return null;
  const expanded = traits.expandsTabs && form.inline && message.body.includes("\t");
  return expanded ? { ...form, changes: [...form.changes, "tabs became blanks"] } : form;
}

/** A composer may grow to at least this part of the pane before it scrolls. */
const composerShare = 1 / 3;

/**
 * What a screen might show wrongly, or not whole, is filled up with blanks: the mark of its size can be checked
 * anywhere.
 */
function collapsible(form: Envelope, above: number, room: Taking["room"]): Envelope {
  const missing = above + 1 - [...form.text].length;
  const shows =
    showsPlainly(form.text) && (room === null || rowsOf(form.text, room.columns) <= room.rows * composerShare);
  return shows || missing <= 0 ? form : { ...form, text: form.text + " ".repeat(missing) };
}

/** Programs show a longer paste as one short mark, whatever the size of the pane. */
const surelyCollapsed = 1_200;
/** What a composer's frame and the lines around it take, and how full rows are when words are wrapped. */
const frame = { columns: 4, rows: 6, fill: 0.75 };

function isCollapsed(text: string, { collapsesFrom = Number.POSITIVE_INFINITY }: Taking): boolean {
  return text.length > surelyCollapsed || text.split("\n").length >= collapsesFrom;
}

function fits(text: string, room: Taking["room"]): boolean {
  if (room === null) return true;
  return rowsOf(text, room.columns) <= room.rows - frame.rows;
}

function rowsOf(text: string, paneColumns: number): number {
  const columns = Math.max(1, Math.floor((paneColumns - frame.columns) * frame.fill));
  return text.split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil(Bun.stringWidth(line) / columns)), 0);
}

/**
 * One line that the interpreter leaves alone. Some separators end a line for JavaScript; a tab would ask for a
 * completion.
 */
function commentText(
  message: Message,
  { comment, inlineLimit }: Taking & { inlineLimit: number },
  authority: Authority,
): Envelope | null {
  if (!comment) return null;
  const { text, inline, changes } = envelope(
    message,
    { multiline: false, inlineLimit: inlineLimit - comment.length },
    authority,
  );
  const flat = text.replaceAll(/[\s\p{Zl}\p{Zp}]/gu, " ");
  return {
    text: `${comment}${flat}`,
    inline,
    changes: flat === text ? changes : [...changes, "white space became blanks"],
  };
}

/**
 * `: '…'` does nothing and shows everything; inside single quotes a POSIX shell leaves all text alone. Others see an
 * escape in a backslash, and an earlier command in an exclamation mark: there these three look alike and are not the
 * same.
 */
function shellText(message: Message, traits: Taking & { inlineLimit: number }): Envelope {
  const harmless: Readonly<Record<string, string>> = { "'": "’", "\\": "＼", "!": "！" };
  const replaced = !traits.posix && /['\\!]/.test(message.body);
  const quoted = (text: string): string =>
    `: '${traits.posix ? text.replaceAll("'", `'\\''`) : text.replaceAll(/['\\!]/g, (mark) => harmless[mark]!)}'`;
  const whole = quoted(`${message.tag} from ${message.from.name}: ${bodyText(message.body)}`);
  const fits = traits.multiline || !whole.includes("\n");
  if (fits && Buffer.byteLength(whole) <= traits.inlineLimit)
    return {
      text: whole,
      inline: true,
      changes: replaced ? ["quotes, backslashes and exclamation marks were replaced"] : [],
    };
  return {
    text: quoted(
      `${message.tag} from ${message.from.name}: ${summarise(bodyText(message.summary))} (tieline show ${message.tag})`,
    ),
    inline: false,
    changes: [],
  };
}
