import type { VNode } from "preact";
import { resend } from "../compose/draft.ts";
import { cancel, retry } from "../deliveries.ts";
import { Act } from "../parts/act.tsx";
import { Avatar, DeliveryState } from "../parts/badges.tsx";
import { linkTo, opened } from "../route.ts";
import { agents, now, queue, search, team, type Waiting } from "../state.ts";
import { visible } from "../text.ts";
import { span } from "../times.ts";

/** What is not delivered yet, for each agent, and why. */
export function QueueView(): VNode {
  const words = search.value.trim().toLowerCase();
  const wanted = queue.value.filter(
    (row) =>
      (team.value === null || row.team === team.value) &&
      (opened.value === null || `${row.team}:${row.agent}` === opened.value) &&
      (words === "" || `${row.agent} ${row.from} ${row.body}`.toLowerCase().includes(words)),
  );
  const groups = Map.groupBy(wanted, ({ team: of, agent }) => `${of}:${agent}`);
  return (
    <section class="view queue">
      {opened.value !== null && (
        <p class="toolbar">
          Only {opened.value} · <a href={linkTo("queue")}>show all</a>
        </p>
      )}
      {groups.size === 0 && (
        <div class="empty">
          <h2>All messages are delivered</h2>
          <p>Undelivered messages appear here with the reason.</p>
        </div>
      )}
      {[...groups].map(([address, rows]) => (
        <AgentQueue key={address} rows={rows} />
      ))}
    </section>
  );
}

function AgentQueue({ rows }: { rows: readonly Waiting[] }): VNode {
  const { agent, team: of } = rows[0]!;
  const view = agents.value.find(({ view: one }) => one.value.name === agent && one.value.team === of)?.view.value;
  return (
    <section class="agent-queue" aria-label={`Mail for ${agent}`}>
      <header>
        <Avatar name={agent} />
        <h2>{agent}</h2>
        <span class="muted">{rows.length} waiting</span>
        {view?.held && (
          <span class="why">
            {visible(view.held)}
            {view.heldAt === null ? "" : `, for ${span(now.value - view.heldAt)}`}
          </span>
        )}
      </header>
      <ul>
        {rows.map((row) => (
          <Pending key={row.tag} row={row} held={view?.held ?? null} />
        ))}
      </ul>
    </section>
  );
}

/** `held`: the reason that is shown above all of the agent's messages. */
function Pending({ row, held }: { row: Waiting; held: string | null }): VNode {
  const { tag, agent, team: of, from, to, body, state, reason, at, when } = row;
  const delivery = { tag, agent, team: of };
  const edit = (): void =>
    resend({ to: to.startsWith("@") ? agent : to, team: of, body, replaces: { tag, agent, team: of } });
  return (
    <li data-tag={tag} data-item tabIndex={-1} aria-label={`From ${from} to ${agent}`}>
      <a href={linkTo("messages", tag)} class="what">
        <strong>{from}</strong> <span>{visible(body.split("\n", 1)[0]!)}</span>
      </a>
      <span class="muted small">
        {when} · {span(now.value - at)}
      </span>
      <DeliveryState state={state} />
      {reason !== null && reason !== held && <span class="why small">{visible(reason)}</span>}
      <span class="actions">
        <Act aria-keyshortcuts="x" title="Cancel (x)" onClick={() => void cancel(delivery)}>
          Cancel
        </Act>
        {state === "uncertain" && (
          <Act aria-keyshortcuts="t" title="Retry (t)" onClick={() => void retry(delivery)}>
            Retry
          </Act>
        )}
        {state === "queued" && (
          <button aria-keyshortcuts="e" title="Edit and resend (e)" onClick={() => edit()}>
            Edit and resend
          </button>
        )}
      </span>
    </li>
  );
}
