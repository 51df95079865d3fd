/** The messages of one agent, newest first, read from the daemon page by page. */
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { AgentView, ReceiptView, StreamedEvent } from "../../src/client/browser.ts";
import { failureOf } from "../actions.ts";
import { inTeam } from "../api.ts";
import { onEvent } from "../live.ts";
import { cellOf, overall, recipientOf } from "../messages.ts";
import { DeliveryState } from "../parts/badges.tsx";
import { linkTo } from "../route.ts";
import { connection, messageByTag, type MessageCell } from "../state.ts";
import { plain, visible } from "../text.ts";
import { exactTime, timeOf } from "../times.ts";
import { AgentLink } from "./link.tsx";
import { addressOf } from "./names.ts";

const pageSize = 50;

export function AgentMessages({ agent }: { readonly agent: AgentView }): VNode {
  const rows = useSignal<readonly MessageCell[]>([]);
  const state = useSignal<"loading" | "more" | "all">("loading");
  const failure = useSignal<string | null>(null);
  const isLive = connection.value === "live";

  async function load(before?: string): Promise<void> {
    state.value = "loading";
    failure.value = null;
    try {
      const page: ReceiptView[] = await inTeam(agent.team).call("log", {
        agent: addressOf(agent),
        limit: pageSize,
        ...(before !== undefined && { before }),
      });
      add(page.map(cellOf));
      state.value = page.length === pageSize ? "more" : "all";
    } catch (thrown) {
      failure.value = failureOf(thrown).message;
      state.value = "more";
    }
  }

  function add(cells: readonly MessageCell[]): void {
    const all = new Map([...rows.peek(), ...cells].map((cell) => [cell.id, cell]));
    rows.value = [...all.values()].toSorted((a, b) => (a.id < b.id ? 1 : -1));
  }

  useEffect(() => void (isLive && load()), [agent.id, isLive]);
  useEffect(
    () =>
      onEvent((event) => {
        if (event.type !== "message.accepted" || !concerns(event, agent)) return;
        const cell = messageByTag.get(event.tag);
        if (cell !== undefined) add([cell]);
      }),
    [agent.id],
  );

  const oldest = rows.value.at(-1)?.id;
  return (
    <section class="facet messages-of" aria-label="Messages">
      <h2>Messages</h2>
      {rows.value.length === 0 && state.value === "all" && <p class="muted">No messages yet.</p>}
      <ul>
        {rows.value.map((cell) => (
          <MessageRow key={cell.id} cell={cell} />
        ))}
      </ul>
      {failure.value !== null && <p class="failure">{`Cannot load messages: ${failure.value}`}</p>}
      {state.value === "more" && (
        <button disabled={!isLive} onClick={() => void load(oldest)}>
          Show older messages
        </button>
      )}
      {state.value === "loading" && isLive && <p class="muted">Loading…</p>}
    </section>
  );
}

function concerns(event: Extract<StreamedEvent, { type: "message.accepted" }>, { name, team, id }: AgentView): boolean {
  const ids: readonly string[] = event.message?.recipientIds ?? [];
  return (event.from === name && event.team === team) || ids.includes(id);
}

function MessageRow({ cell }: { readonly cell: MessageCell }): VNode {
  const receipt = cell.receipt.value;
  const { from, team, tag, summary, acceptedAt, deliveries } = receipt;
  return (
    <li data-tag={tag} data-state={overall(receipt)}>
      <time dateTime={new Date(acceptedAt).toISOString()} title={exactTime(acceptedAt)}>
        {timeOf(acceptedAt)}
      </time>
      <span class="parties">
        <AgentLink name={from} team={team} /> <span aria-label="to">→</span>{" "}
        {deliveries.length === 1 ? (
          <AgentLink name={deliveries[0]!.agent} team={deliveries[0]!.team} />
        ) : (
          <span class="agent-name">{recipientOf(receipt)}</span>
        )}
      </span>
      <a class="what" dir="auto" href={linkTo("messages", tag)}>
        {plain(visible(summary)) || tag}
      </a>
      <DeliveryState state={overall(receipt)} />
    </li>
  );
}
