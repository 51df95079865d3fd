import { computed, effect, signal, useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import { inTeam } from "../api.ts";
import { attempt, failureOf, tell } from "../actions.ts";
import { kept } from "../kept.ts";
import { cellOf, loadOlder, overall, recipientOf } from "../messages.ts";
import { Avatar, DeliveryState } from "../parts/badges.tsx";
import { Windowed } from "../parts/windowed.tsx";
import { linkTo, opened, view } from "../route.ts";
import { agents, readUpTo, search, team, timeline, type MessageCell } from "../state.ts";
import { plain, visible } from "../text.ts";
import { timeOf } from "../times.ts";
import { Thread } from "./thread.tsx";

const rowHeight = 58;
const states = ["every state", "open", "dead", "seen", "unread"] as const;
const stateFilter = kept<(typeof states)[number]>("messages.state", "every state");
const agentFilter = signal("");

/** The search results; null: no search. */
const found = signal<readonly MessageCell[] | null>(null);
let searching = 0;
effect(() => {
  const words = search.value.trim();
  if (view.value !== "messages" || words === "") {
    found.value = null;
    return;
  }
  const mine = ++searching;
  setTimeout(() => {
    if (mine !== searching) return;
    inTeam(team.peek())
      .call("log", { grep: words, limit: 500 })
      .then((receipts) => {
        if (mine === searching) found.value = receipts.map(cellOf);
      })
      .catch((thrown: unknown) => tell(failureOf(thrown).message, { bad: true }));
  }, 120);
});

const isOpen = (cell: MessageCell): boolean => ["queued", "claimed", "uncertain"].includes(overall(cell.receipt.value));
const tests: Record<(typeof states)[number], (cell: MessageCell) => boolean> = {
  "every state": () => true,
  open: isOpen,
  dead: (cell) => ["failed", "expired"].includes(overall(cell.receipt.value)),
  seen: (cell) => ["seen", "answered"].includes(overall(cell.receipt.value)),
  unread: ({ id }) => id > readUpTo.value,
};

const rows = computed(() => {
  const all = found.value ?? timeline.value;
  const who = agentFilter.value;
  if (team.value === null && who === "" && stateFilter.value === "every state") return all;
  const test = tests[stateFilter.value];
  return all.filter((cell) => {
    const { from, team: of, deliveries } = cell.receipt.value;
    return (
      (team.value === null || of === team.value) &&
      (who === "" || from === who || deliveries.some(({ agent }) => agent === who)) &&
      test(cell)
    );
  });
});

export function MessagesView(): VNode {
  const tag = opened.value;
  return (
    <section class={`view messages ${tag === null ? "" : "reading"}`}>
      <div class="list">
        <div class="toolbar">
          <label class="inline">
            <span class="hidden">Agent</span>
            <select
              aria-label="Agent"
              aria-keyshortcuts="a"
              value={agentFilter.value}
              onChange={({ currentTarget }) => (agentFilter.value = currentTarget.value)}
            >
              <option value="">All agents</option>
              <option value="user">you</option>
              {[...new Set(agents.value.map(({ view: one }) => one.value.name))].toSorted().map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <select
            aria-label="State"
            aria-keyshortcuts="o"
            value={stateFilter.value}
            onChange={({ currentTarget }) => (stateFilter.value = currentTarget.value as (typeof states)[number])}
          >
            {states.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
          <span class="muted">{rows.value.length.toLocaleString()} messages</span>
          <span class="grow" />
          <Unread />
        </div>
        {rows.value.length === 0 ? (
          <p class="empty">No messages{search.value === "" ? " yet" : ` with “${search.value}”`}.</p>
        ) : null}
        <Windowed
          rows={rows.value}
          rowHeight={rowHeight}
          keyOf={({ id }) => id}
          label="Messages, newest last"
          draw={(cell) => <Row cell={cell} />}
          onTop={() => found.value === null && void attempt(loadOlder)}
          onBottom={markRead}
        />
      </div>
      {tag !== null && <Thread key={tag} tag={tag} />}
    </section>
  );
}

function markRead(): void {
  const newest = timeline.peek().at(-1)?.id;
  if (document.hidden || newest === undefined || newest <= readUpTo.peek()) return;
  setTimeout(() => {
    if (newest > readUpTo.peek()) readUpTo.value = newest;
  }, 1_500);
}

function Unread(): VNode | null {
  const newest = timeline.value.at(-1)?.id ?? "";
  if (newest <= readUpTo.value) return null;
  return (
    <button class="quiet" onClick={() => (readUpTo.value = newest)}>
      Mark all read
    </button>
  );
}

/** What was unread on arrival stays marked while the view is open. */
function Row({ cell }: { cell: MessageCell }): VNode {
  const receipt = cell.receipt.value;
  const isNew = useSignal(cell.id > readUpTo.peek() && receipt.from !== "user");
  useEffect(() => effect(() => void (cell.id <= readUpTo.value && (isNew.value = false))), [cell]);
  const { from, summary, kind, acceptedAt, inReplyTo, tag } = receipt;
  return (
    <a
      class={`row ${isNew.value ? "new" : ""} ${opened.value === tag ? "open" : ""}`}
      href={linkTo("messages", tag)}
      data-item
      data-tag={tag}
      data-state={overall(receipt)}
    >
      <Avatar name={from} />
      <span class="line">
        <strong>{from}</strong>
        <span class="arrow" aria-label="to">
          →
        </span>
        <span class="to">{recipientOf(receipt)}</span>
        {kind === "text" ? null : <span class="kind">{kind.replaceAll("_", " ")}</span>}
        <time dateTime={new Date(acceptedAt).toISOString()}>{timeOf(acceptedAt)}</time>
      </span>
      <span class="line second">
        <span class="summary">
          {inReplyTo === null ? "" : "↳ "}
          {plain(visible(summary))}
        </span>
        <DeliveryState state={overall(receipt)} />
      </span>
    </a>
  );
}
