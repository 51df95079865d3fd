import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { MessageView, ReceiptView } from "../../src/client/browser.ts";
import { AgentLink } from "../agent/link.tsx";
import { inTeam } from "../api.ts";
import { failureOf } from "../actions.ts";
import { InlineReply } from "../compose/inlineReply.tsx";
import { History } from "../history/history.tsx";
import { onEvent } from "../live.ts";
import { Body } from "../parts/body.tsx";
import { cellOf, recipientOf } from "../messages.ts";
import { Act } from "../parts/act.tsx";
import { Avatar } from "../parts/badges.tsx";
import { Icon } from "../parts/icons.tsx";
import { linkTo } from "../route.ts";
import { markRead, markUnread } from "../ownMail.ts";
import { keptUnread, messageByTag, type MessageCell } from "../state.ts";
import { plain, visible } from "../text.ts";
import { Time } from "../parts/time.tsx";
import { timeOf, whenWords } from "../times.ts";

/** A conversation, with the message that was chosen told in full. */
export function Thread({ tag }: { tag: string }): VNode {
  const thread = useSignal<readonly MessageCell[]>([]);
  const bodies = useSignal<ReadonlyMap<string, MessageView>>(new Map());
  const failure = useSignal<string | null>(null);
  const known = messageByTag.get(tag)?.receipt.value;

  const threadId = known?.thread;
  useEffect(() => refresh(true), [tag]);
  useEffect(
    () =>
      onEvent((event) => {
        if (event.type === "message.accepted" && event.message?.thread === threadId) refresh(false);
      }),
    [threadId],
  );

  function refresh(scrolls: boolean): void {
    load(scrolls).catch((thrown: unknown) => (failure.value = failureOf(thrown).message));
  }

  async function load(scrolls: boolean): Promise<void> {
    const client = inTeam(null);
    const receipts = await client.call("log", { thread: tag, limit: 100 });
    thread.value = receipts.map(cellOf);
    const missing = receipts.filter((receipt) => !bodies.peek().has(receipt.tag));
    const shown = await Promise.all(missing.map((receipt) => client.call("show", { tag: receipt.tag })));
    bodies.value = new Map([...bodies.peek(), ...shown.map((message) => [message.tag, message] as const)]);
    if (scrolls)
      requestAnimationFrame(() => document.querySelector(".thread .chosen")?.scrollIntoView({ block: "nearest" }));
  }

  return (
    <aside class="thread" aria-label="Conversation">
      <header>
        <a class="button quiet back" href={linkTo("messages")} aria-label="Back to the list">
          <Icon name="back" />
        </a>
        <h2>{known === undefined ? tag : plain(visible(known.summary))}</h2>
        {known && <ReadSwitch receipt={known} />}
      </header>
      {failure.value !== null && <p class="failure">{failure.value}</p>}
      <div class="letters">
        {thread.value.map((cell) => (
          <Letter key={cell.tag} cell={cell} chosen={cell.tag === tag} message={bodies.value.get(cell.tag)} />
        ))}
      </div>
      {known && <InlineReply answered={known} onSent={() => refresh(false)} />}
    </aside>
  );
}

/** Mail to the user is read when they say so, and unread again when they want to come back to it. */
function ReadSwitch({ receipt: { tag, deliveries } }: { receipt: ReceiptView }): VNode | null {
  const own = deliveries.find(({ agent }) => agent === "user");
  if (own === undefined) return null;
  const isUnread = own.state === "queued" || keptUnread.value.includes(tag);
  return (
    <Act
      class="quiet"
      aria-keyshortcuts="u"
      title={isUnread ? "Mark as read (u)" : "Mark as unread (u)"}
      onClick={() => void (isUnread ? markRead(tag) : markUnread(tag))}
    >
      {isUnread ? "Mark as read" : "Mark as unread"}
    </Act>
  );
}

function Letter({
  cell,
  chosen,
  message,
}: {
  cell: MessageCell;
  chosen: boolean;
  message: MessageView | undefined;
}): VNode {
  const { from, team, tag, acceptedAt, knownBy, when, expiresAt, kind, deliveries } = cell.receipt.value;
  const to = recipientOf(cell.receipt.value);
  return (
    <article class={`letter ${chosen ? "chosen" : ""}`} aria-label={`From ${from} to ${to}`} data-tag={tag}>
      <header>
        <Avatar name={from} />
        <strong>
          <AgentLink name={from} team={team} />
        </strong>
        <span class="arrow">→</span>
        {deliveries.length === 1 ? <AgentLink name={to} team={deliveries[0]!.team} /> : <span>{to}</span>}
        <Time at={acceptedAt} />
      </header>
      {message ? <Body text={message.body} /> : <p class="muted">…</p>}
      {chosen ? (
        <>
          <History cell={cell} {...(message && { body: message.body })} />
          <p class="facts muted">
            <code>{tag}</code> · {kind.replaceAll("_", " ")} · {whenWords[when]} · sender known by {knownBy}
            {expiresAt === null ? "" : ` · expires ${timeOf(expiresAt)}`}
          </p>
        </>
      ) : (
        <a class="muted small" href={linkTo("messages", tag)}>
          History
        </a>
      )}
    </article>
  );
}
