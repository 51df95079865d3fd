import type { VNode } from "preact";
import type { AgentView } from "../../src/client/browser.ts";
import { BulkBar } from "../bulk/bar.tsx";
import { PickBox } from "../bulk/pick.tsx";
import { selection } from "../bulk/selection.ts";
import { resend } from "../compose/draft.ts";
import { cancel, retry } from "../deliveries.ts";
import { Act } from "../parts/act.tsx";
import { Avatar, DeliveryState } from "../parts/badges.tsx";
import { Windowed } from "../parts/windowed.tsx";
import { linkTo, opened } from "../route.ts";
import { agents, isNarrow, now, queue, search, team, type Waiting } from "../state.ts";
import { summarise } from "../../src/model/summary.ts";
import { plain, visible } from "../text.ts";
import { age, span, whenWords } from "../times.ts";

const picked = selection();
const pickKey = ({ tag, agent }: Pick<Waiting, "tag" | "agent">): string => `${tag} ${agent}`;

type Head = { readonly kind: "agent"; readonly agent: string; readonly team: string; readonly count: number };
type Row = Head | { readonly kind: "message"; readonly message: Waiting };

const keyOf = (row: Row): string =>
  row.kind === "agent" ? `${row.team}:${row.agent}` : `${row.message.tag} ${row.message.agent}`;

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
  const rows = [...groups.values()].flatMap((those): Row[] => [
    { kind: "agent", agent: those[0]!.agent, team: those[0]!.team, count: those.length },
    ...those.map((message): Row => ({ kind: "message", message })),
  ]);
  const wantedKeys = (): string[] => rows.flatMap((row) => (row.kind === "message" ? [pickKey(row.message)] : []));
  const views = new Map(agents.value.map(({ view: { value } }) => [`${value.team}:${value.name}`, value]));
  const viewOf = ({ team: of, agent }: { team: string; agent: string }): AgentView | null =>
    views.get(`${of}:${agent}`) ?? null;
  return (
    <section class="view queue">
      {opened.value !== null && (
        <p class="toolbar">
          Only {opened.value} · <a href={linkTo("queue")}>show all</a>
        </p>
      )}
      <BulkBar selection={picked} rows={wanted.map((row) => ({ ...row, key: pickKey(row) }))} />
      {rows.length === 0 ? (
        <Nothing isFiltered={queue.value.length > 0} />
      ) : (
        <div class="agent-queue">
          <Windowed
            rows={rows}
            rowHeight={isNarrow.value ? 92 : 52}
            keyOf={keyOf}
            label="Undelivered messages"
            grows={false}
            draw={(row) =>
              row.kind === "agent" ? (
                <AgentHead head={row} view={viewOf(row)} />
              ) : (
                <Pending
                  row={row.message}
                  held={viewOf(row.message)?.held ?? null}
                  onPick={(isRange) => picked.toggle(pickKey(row.message), wantedKeys(), isRange)}
                />
              )
            }
          />
        </div>
      )}
    </section>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }): VNode {
  return (
    <div class="empty">
      <h2>{isFiltered ? "No undelivered messages match" : "All messages are delivered"}</h2>
      <p>
        {isFiltered
          ? "Others wait: clear the search or choose all teams."
          : "Undelivered messages appear here with the reason."}
      </p>
    </div>
  );
}

function AgentHead({ head: { agent, team: of, count }, view }: { head: Head; view: AgentView | null }): VNode {
  return (
    <div class="queue-head">
      <Avatar name={agent} />
      <h2>
        <a class="agent-name" href={linkTo("agents", `${of}:${agent}`)}>
          {agent}
        </a>
      </h2>
      <span class="muted">{count.toLocaleString()} waiting</span>
      {view?.held && (
        <span class="why" title={visible(view.held)}>
          {visible(view.held)}
          {view.heldAt === null ? "" : `, for ${span(now.value - view.heldAt)}`}
        </span>
      )}
    </div>
  );
}

/** `held`: the reason that is shown above all of the agent's messages. */
interface PendingProps {
  readonly row: Waiting;
  readonly held: string | null;
  readonly onPick: (isRange: boolean) => void;
}

function Pending({ row, held, onPick }: PendingProps): VNode {
  const { tag, agent, team: of, from, to, body, state, reason, at, when, kind } = row;
  const delivery = { tag, agent, team: of };
  const edit = (): void => resend({ to: to.startsWith("@") ? agent : to, team: of, body, replaces: delivery });
  // A notice does not wake an agent.
  const due = kind === "bounce" ? "notice, comes with its next message" : whenWords[when];
  return (
    <div class="queue-row" data-tag={tag} data-item tabIndex={-1} aria-label={`From ${from} to ${agent}`}>
      <PickBox isPicked={picked.has(pickKey(row))} label={`Select ${tag} to ${agent}`} onPick={onPick} />
      <a href={linkTo("messages", tag)} class="what">
        <strong>{from}</strong>{" "}
        <span class="text" dir="auto">
          {plain(visible(summarise(body.slice(0, 4_000))))}
        </span>
      </a>
      <span class="meta">
        <DeliveryState state={state} />
        <span class="muted small due">
          {due} · {age(now.value - at)}
        </span>
        {reason !== null && reason !== held && (
          <span class="why small" title={visible(reason)}>
            {visible(reason)}
          </span>
        )}
      </span>
      <span class="actions">
        {state === "uncertain" && (
          <Act aria-keyshortcuts="t" title="Retry (t)" onClick={() => void retry(delivery)}>
            Retry
          </Act>
        )}
        {state === "queued" && (
          <button aria-keyshortcuts="e" title="Edit and resend (e)" onClick={edit}>
            Edit and resend
          </button>
        )}
        <Act aria-keyshortcuts="x" title="Cancel (x)" onClick={() => void cancel(delivery)}>
          Cancel
        </Act>
      </span>
    </div>
  );
}
