import { envelope, sanitise, type Envelope } from "../../model/envelope.ts";
import type { Authority } from "../../model/delivery.ts";
import type { Message } from "../../model/message.ts";
import type { TerminalTraits } from "../../providers/traits.ts";

/** A terminal that edits lines itself cuts longer ones off (4,096 bytes on Linux, 1,024 on macOS). */
export const canonicalLimit = (platform: NodeJS.Platform): number => (platform === "darwin" ? 1_000 : 4_000);

export interface Taking {
  readonly multiline: boolean;
  /** Bytes of one line, where the terminal limits them. */
  readonly lineLimit: number | null;
}

/** What is pasted for a message. */
export function paneText(message: Message, traits: TerminalTraits, taking: Taking, authority: Authority): Envelope {
  const { stripInvisible } = traits;
  const inlineLimit = Math.min(traits.pasteLimit, taking.lineLimit ?? Number.MAX_SAFE_INTEGER);
  if (traits.shell) return shellText(message, { ...taking, inlineLimit });
  return envelope(message, { multiline: taking.multiline, inlineLimit, stripInvisible }, authority);
}

/** `: '…'` does nothing and shows everything; inside single quotes a shell leaves all text alone. */
function shellText(message: Message, traits: Taking & { inlineLimit: number }): Envelope {
  const quoted = (text: string): string => `: '${text.replaceAll("'", `'\\''`)}'`;
  const whole = quoted(`${message.tag} from ${message.from.name}: ${sanitise(message.body, false)}`);
  const fits = traits.multiline || !whole.includes("\n");
  if (fits && Buffer.byteLength(whole) <= traits.inlineLimit) return { text: whole, inline: true };
  return { text: quoted(`${message.tag} from ${message.from.name}: ${sanitise(message.summary, false)} (tieline show ${message.tag})`), inline: false };
}
