/** Everything that happens, as it happens and back to the retention. */
import { computed } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { StreamedEvent } from "../../src/client/browser.ts";
import { AgentLink } from "../agent/link.tsx";
import * as log from "../events/log.ts";
import { lineOf, type Party } from "../events/words.ts";
import { onEvent } from "../live.ts";
import { Windowed } from "../parts/windowed.tsx";
import { linkTo } from "../route.ts";
import { agents, connection, search } from "../state.ts";
import { visible } from "../text.ts";
import { exactTime, timeOf } from "../times.ts";

const rowHeight = 34;
const mostWords = 300;
/** A name is asked for when it is typed, and not letter by letter. */
const typingMs = 120;

/** The search field looks through what is loaded. */
const shown = computed(() => {
  const words = search.value.trim().toLowerCase();
  return words === "" ? log.rows.value : log.rows.value.filter((event) => textOf(event).includes(words));
});

function textOf(event: StreamedEvent): string {
  const { from, to, tag, words } = lineOf(event);
  return `${event.type} ${from.name} ${to?.name ?? ""} ${tag ?? ""} ${words}`.toLowerCase();
}

export function EventsView(): VNode {
  const isLive = connection.value === "live";
  useEffect(() => onEvent(log.add), []);
  useEffect(() => {
    if (!isLive) return;
    const soon = setTimeout(() => void log.reload(), typingMs);
    return () => clearTimeout(soon);
  }, [isLive, log.question.value]);
  return (
    <section class="view events">
      <Filters />
      {log.failure.value !== null && (
        <p class="failure" role="alert">
          {`Cannot load events: ${visible(log.failure.value)}`}{" "}
          <button onClick={() => void log.loadOlder()}>Try again</button>
        </p>
      )}
      {shown.value.length === 0 ? <Nothing /> : null}
      <Windowed
        rows={shown.value}
        rowHeight={rowHeight}
        keyOf={({ seq }) => String(seq)}
        label="Events, newest last"
        draw={(event) => <Row event={event} />}
        onTop={() => void (log.failure.peek() === null && log.loadOlder())}
      />
    </section>
  );
}

function Filters(): VNode {
  const { kind, agent, range, isPaused, held } = log;
  return (
    <div class="toolbar">
      <select
        aria-label="Kind"
        aria-keyshortcuts="o"
        value={kind.value}
        onChange={({ currentTarget }) => (kind.value = currentTarget.value as keyof typeof log.kinds)}
      >
        {Object.entries(log.kinds).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <input
        aria-label="Agent"
        aria-keyshortcuts="a"
        placeholder="All agents"
        list="event-agents"
        spellcheck={false}
        autocomplete="off"
        value={agent.value}
        onInput={({ currentTarget }) => (agent.value = currentTarget.value)}
      />
      <datalist id="event-agents">
        {agents.value.map(({ id, view: { value } }) => (
          <option key={id} value={`${value.team}:${value.name}`} />
        ))}
      </datalist>
      <select
        aria-label="Time"
        value={range.value}
        onChange={({ currentTarget }) => (range.value = currentTarget.value as keyof typeof log.ranges)}
      >
        {Object.entries(log.ranges).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <span class="muted" role="status">
        {`${shown.value.length.toLocaleString()} loaded${log.hasOlder.value ? ", older ones on scrolling up" : ""}`}
      </span>
      <span class="grow" />
      <button aria-pressed={isPaused.value} aria-keyshortcuts="p" onClick={() => log.setPaused(!isPaused.value)}>
        {isPaused.value ? `Continue${held.value.length === 0 ? "" : ` (${held.value.length} new)`}` : "Pause"}
      </button>
    </div>
  );
}

function Nothing(): VNode {
  if (log.isLoading.value) return <p class="empty">Loading…</p>;
  const isNarrowed = log.isFiltered.value || search.value.trim() !== "";
  return (
    <div class="empty">
      <p>{isNarrowed ? "No events match." : "No events yet."}</p>
      {log.hasOlder.value && (
        <p class="actions centred">
          <button onClick={() => void log.loadOlder()}>Search further back</button>
        </p>
      )}
    </div>
  );
}

const Name = ({ party: { name, team } }: { party: Party }): VNode => <AgentLink name={visible(name)} team={team} />;

function Row({ event }: { event: StreamedEvent }): VNode {
  const { from, to, tag, words } = lineOf(event);
  return (
    <div class="event" data-seq={event.seq} data-type={event.type}>
      <time dateTime={new Date(event.at).toISOString()} title={timeOf(event.at)}>
        {exactTime(event.at)}
      </time>
      <span class="type">{event.type}</span>
      <span class="parties">
        <Name party={from} />
        {to !== null && (
          <>
            <span aria-label="to">→</span> <Name party={to} />
          </>
        )}
      </span>
      {tag === null ? null : (
        <a class="tag" href={linkTo("messages", tag)}>
          {tag}
        </a>
      )}
      <span class="words" dir="auto">
        {visible(words.slice(0, mostWords))}
      </span>
    </div>
  );
}
