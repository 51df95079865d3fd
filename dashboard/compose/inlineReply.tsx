import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { mayHaveArrived, TielineError, type ReceiptView } from "../../src/client/browser.ts";
import { failureOf } from "../actions.ts";
import { connection } from "../state.ts";
import { correspondentsOf, replyIn, sendReply, writeReply } from "./replies.ts";

export interface InlineReplyProps {
  /** The message that is open in the conversation. */
  readonly answered: ReceiptView;
  readonly onSent: () => void;
}

/** A field below a conversation. What is written there is kept until it is sent. */
export function InlineReply({ answered, onSent }: InlineReplyProps): VNode | null {
  const busy = useSignal(false);
  const failure = useSignal<{ readonly message: string; readonly remedy: string | null } | null>(null);
  const chosen = useSignal("");
  const who = correspondentsOf(answered);
  const to = who.find((one) => one.to === chosen.value) ?? who[0];
  if (to === undefined) return null;
  const { thread, from, tag } = answered;
  const body = replyIn(thread)?.body ?? "";
  const ready = body.trim() !== "" && !busy.value && connection.value === "live";

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    if (!ready) return;
    busy.value = true;
    failure.value = null;
    try {
      await sendReply(answered, to!);
      onSent();
    } catch (thrown) {
      failure.value = unsent(thrown);
    } finally {
      busy.value = false;
    }
  }

  const label = from === "user" ? `Follow up on ${tag}` : `Reply to ${from}`;
  return (
    <form
      class="inline-reply"
      aria-label={label}
      onSubmit={(event) => void submit(event)}
      onKeyDown={(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && void submit(event)}
    >
      {failure.value !== null && (
        <div class="failure" role="alert">
          <strong>{failure.value.message}</strong>
          {failure.value.remedy !== null && <p>{failure.value.remedy}</p>}
        </div>
      )}
      <textarea
        aria-label={label}
        aria-keyshortcuts="r"
        dir="auto"
        rows={Math.min(8, Math.max(2, body.split("\n").length))}
        placeholder={`${from === "user" ? "Follow up" : "Reply"} (r). Ctrl+Enter sends.`}
        value={body}
        disabled={busy.value}
        onInput={({ currentTarget }) => writeReply(thread, currentTarget.value)}
      />
      <footer>
        {who.length > 1 ? (
          <label class="inline">
            <span>To</span>
            <select
              aria-label="To"
              value={to.to}
              onChange={({ currentTarget }) => (chosen.value = currentTarget.value)}
            >
              {who.map((one) => (
                <option key={one.to} value={one.to}>
                  {one.name}
                </option>
              ))}
            </select>
          </label>
        ) : (
          <span class="muted small agent-name">{`To ${to.name}`}</span>
        )}
        <span class="grow" />
        <button type="submit" class="primary" disabled={!ready}>
          {busy.value ? "Sending…" : "Send"}
        </button>
      </footer>
    </form>
  );
}

/** The draft is still there, so what matters is whether it was sent. */
function unsent(thrown: unknown): { readonly message: string; readonly remedy: string | null } {
  if (!(thrown instanceof TielineError) || thrown.code !== "DAEMON_UNAVAILABLE") return failureOf(thrown);
  return mayHaveArrived(thrown)
    ? {
        message: "The daemon stopped answering. It is not known whether the reply was sent.",
        remedy: "Send it again when the daemon is back: the same text is sent once.",
      }
    : { message: "The reply was not sent: the daemon does not answer.", remedy: "It is kept here." };
}
