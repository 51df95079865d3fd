/** How far one message has come in a conversation, entry by entry. */
import type { Message } from "../../model/message.ts";
import type { Entry } from "./entries.ts";
import type { Sign, TranscriptFile } from "./port.ts";

/** `held`: the conversation holds it. `answered`: the model has answered behind it. */
export type News =
  | { readonly kind: "held" | "queued" | "answered" | "discarded" }
  | { readonly kind: "failed"; readonly error: string };

interface Held {
  readonly file: TranscriptFile;
  readonly id: string | null;
  /** The answer that was being given when it was written down: more of that one proves nothing. */
  readonly answerBefore: string | null;
  /** The lines since. */
  readonly since: Set<string>;
  /** It, and the lines that follow it in the conversation. */
  readonly behind: Set<string>;
  /** Turns that began since. */
  turns: number;
}

export class Progress {
  private held: Held | null = null;
  private called = false;

  /** `fetched`: the agent got the text by a tool call of its own, so it is in a tool's result. */
  constructor(
    readonly message: Pick<Message, "id" | "tag">,
    readonly fetched = false,
  ) {}

  /** Where the conversation holds it; null: not found yet. */
  get file(): TranscriptFile | null {
    return this.held?.file ?? null;
  }

  take(entry: Entry, file: TranscriptFile): News | null {
    if (this.isHeldBy(entry)) {
      if (this.held?.file.path === file.path && !isRewound(entry, this.held)) {
        if (entry.id !== null) this.held.since.add(entry.id);
        return null;
      }
      this.held = {
        file,
        id: entry.id,
        answerBefore: entry.answerBefore,
        since: idsOf(entry),
        behind: idsOf(entry),
        turns: 0,
      };
      return { kind: "held" };
    }
    if (this.held === null) return entry.queued?.includes(this.message.tag) ? { kind: "queued" } : null;
    return this.held.file.path === file.path ? this.takeBehind(entry, this.held) : null;
  }

  private isHeldBy({ said, tool }: Entry): boolean {
    const { id, tag } = this.message;
    if (!this.fetched) return said !== null && (said.includes(`[${tag} from `) || said.includes(`"client_id":"${id}"`));
    if (tool === null || this.held !== null) return false;
    const named = tool.text.includes(tag);
    // The text of `tieline show` does not name the message; the call does.
    if (tool.kind === "call") this.called ||= named;
    return tool.kind === "result" && (named || this.called);
  }

  private takeBehind(entry: Entry, held: Held): News | null {
    const { id, sign } = entry;
    if (entry.belated) return held.behind.has(entry.follows!) ? newsOf(sign) : null;
    if (isRewound(entry, held)) return this.lose();
    if (id !== null && entry.follows && held.behind.has(entry.follows)) held.behind.add(id);
    if (sign?.kind === "prompt") held.turns++;
    if (id !== null) held.since.add(id);
    if (sign?.kind === "rollback" && sign.turns > held.turns) return this.lose();
    return sign?.kind === "answer" && sign.answer === held.answerBefore ? null : newsOf(sign);
  }

  /** It may be said again, in the same words. */
  private lose(): News {
    this.held = null;
    return { kind: "discarded" };
  }
}

function newsOf(sign: Sign | null): News | null {
  if (sign?.kind === "answer") return { kind: "answered" };
  return sign?.kind === "failure" ? { kind: "failed", error: sign.error } : null;
}

const idsOf = ({ id }: Entry): Set<string> => new Set(id === null ? [] : [id]);

/** The user went back in the conversation, to before the message, and says something else there. */
function isRewound({ sign }: Entry, { id, since }: Held): boolean {
  if (sign?.kind !== "prompt" || sign.replaces === undefined) return false;
  return sign.replaces === id || !since.has(sign.replaces);
}
