import { effect, signal, useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { attempt } from "../actions.ts";
import { BulkBar } from "../bulk/bar.tsx";
import { PickBox } from "../bulk/pick.tsx";
import type { Selected } from "../bulk/run.ts";
import { selection } from "../bulk/selection.ts";
import { highlight } from "../highlight.ts";
import {
  agentFilter,
  clearFilters,
  countText,
  failure,
  followList,
  isEmpty,
  isFiltered,
  listKey,
  loadOlder,
  rangeFilter,
  rangeFilters,
  rows,
  stateFilter,
  stateFilters,
} from "../messageList.ts";
import { overall, recipientOf } from "../messages.ts";
import { Avatar, DeliveryState } from "../parts/badges.tsx";
import { Windowed } from "../parts/windowed.tsx";
import { linkTo, opened, type AddressParam } from "../route.ts";
import { readUpTo, search, shownAgents, teamNames, timeline, type MessageCell } from "../state.ts";
import { plain, visible } from "../text.ts";
import { Time } from "../parts/time.tsx";
import { withSeconds } from "../times.ts";
import { Thread } from "./thread.tsx";

const rowHeight = 58;
const picked = selection();
const isSelecting = signal(false);
const selectable = (cell: MessageCell): Selected => {
  const { tag, team, from } = cell.receipt.value;
  return { key: tag, tag, team, agent: null, from, state: overall(cell.receipt.value) };
};

export function MessagesView(): VNode {
  const tag = opened.value;
  const view = useRef<HTMLElement>(null);
  useEffect(followList, []);
  useEffect(() => highlight(view.current!, search), []);
  return (
    <section class={`view messages ${tag === null ? "" : "reading"}`} ref={view}>
      <div class="list">
        <div class="toolbar">
          <AgentFilter />
          <Choice label="State" shortcut="o" options={stateFilters} param={stateFilter} />
          <Choice label="Time" shortcut="i" options={rangeFilters} param={rangeFilter} />
          <span class="muted counted" role="status">
            {countText.value ?? "…"}
          </span>
          {isFiltered.value && (
            <button class="quiet" onClick={clearFilters}>
              Show all
            </button>
          )}
          <span class="grow" />
          <button
            class="quiet seconds"
            aria-pressed={withSeconds.value}
            title="Show seconds (.)"
            onClick={() => (withSeconds.value = !withSeconds.value)}
          >
            Seconds
          </button>
          <button
            class="quiet"
            aria-pressed={isSelecting.value}
            title="Select messages to cancel or retry them"
            onClick={() => {
              isSelecting.value = !isSelecting.value;
              picked.clear();
            }}
          >
            Select
          </button>
          <Unread />
        </div>
        {isSelecting.value && (
          <BulkBar selection={picked} rows={rows.value.filter(({ tag: one }) => picked.has(one)).map(selectable)} />
        )}
        {failure.value !== null && <p class="failure" role="alert">{`Cannot search: ${failure.value}`}</p>}
        {isEmpty.value && (
          <p class="empty">{isFiltered.value ? "No messages match these filters." : "No messages yet."}</p>
        )}
        <Windowed
          key={listKey.value}
          rows={rows.value}
          rowHeight={rowHeight}
          keyOf={({ id }) => id}
          label="Messages, newest last"
          draw={(cell) => (isSelecting.value ? <PickRow cell={cell} /> : <Row cell={cell} />)}
          onTop={() => void attempt(loadOlder)}
          onBottom={markRead}
        />
      </div>
      {tag !== null && <Thread key={tag} tag={tag} />}
    </section>
  );
}

/** Names are unique only in a team, so an agent is chosen by its address. */
function AgentFilter(): VNode {
  const addresses = shownAgents.value.map(({ view }) => `${view.value.team}:${view.value.name}`).toSorted();
  const chosen = agentFilter.value;
  const isKnown = chosen === "" || chosen === "user" || addresses.includes(chosen);
  return (
    <select
      class="agent-filter"
      aria-label="Agent"
      aria-keyshortcuts="a"
      value={chosen}
      onChange={({ currentTarget }) => (agentFilter.value = currentTarget.value)}
    >
      <option value="">All agents</option>
      <option value="user">you</option>
      {!isKnown && <option value={chosen}>{chosen}</option>}
      {addresses.map((address) => (
        <option key={address} value={address}>
          {teamNames.value.length > 1 ? address : address.slice(address.indexOf(":") + 1)}
        </option>
      ))}
    </select>
  );
}

function Choice<Value extends string>({
  label,
  shortcut,
  options,
  param,
}: {
  label: string;
  shortcut: string;
  options: readonly Value[];
  param: AddressParam<Value>;
}): VNode {
  return (
    <select
      aria-label={label}
      aria-keyshortcuts={shortcut}
      value={param.value}
      onChange={({ currentTarget }) => (param.value = currentTarget.value as Value)}
    >
      {options.map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
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

function PickRow({ cell }: { cell: MessageCell }): VNode {
  const toggle = (isRange: boolean): void =>
    picked.toggle(
      cell.tag,
      rows.peek().map(({ tag }) => tag),
      isRange,
    );
  return (
    <div class="pick-row">
      <PickBox isPicked={picked.has(cell.tag)} label={`Select ${cell.tag}`} onPick={toggle} />
      <Row cell={cell} />
    </div>
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
        <Time at={acceptedAt} />
      </span>
      <span class="line second">
        <span class="summary" dir="auto">
          {inReplyTo === null ? "" : "↳ "}
          {plain(visible(summary))}
        </span>
        <DeliveryState state={overall(receipt)} isOwn={recipientOf(receipt) === "user"} />
      </span>
    </a>
  );
}
