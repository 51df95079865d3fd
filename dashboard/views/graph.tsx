import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { ReceiptView } from "../../src/client/browser.ts";
import { failureOf } from "../actions.ts";
import { inTeam } from "../api.ts";
import { Drawing } from "../graph/drawing.tsx";
import { AddEdge, RemovedEdges, removeEdge } from "../graph/edit.tsx";
import { labelOf, leftOut, lineKey, lines, loadEdges, nodes, shownTeams, type GraphLine } from "../graph/model.ts";
import { Act } from "../parts/act.tsx";
import { Icon } from "../parts/icons.tsx";
import { soon } from "../refresh.ts";
import { go, linkTo, opened } from "../route.ts";
import { actingTeam, connection, denials, teamNames, topologies } from "../state.ts";
import { visible } from "../text.ts";
import { timeOf } from "../times.ts";

export function GraphView(): VNode {
  const isLive = connection.value === "live";
  useEffect(() => void (isLive && soon(loadEdges)), [isLive]);
  const chosen = lines.value.find((line) => lineKey(line) === opened.value);
  return (
    <section class="view graph">
      <Toolbar />
      <div class="stage">
        <Drawing />
        {chosen && <Traffic key={lineKey(chosen)} line={chosen} />}
      </div>
      <Legend />
      <Refused />
    </section>
  );
}

/** Edges belong to a team, so they are changed while one is chosen. */
function Toolbar(): VNode {
  const team = actingTeam.value;
  const edges = team === null ? undefined : topologies.value.get(team)?.edges;
  const names = nodes.value.flatMap(({ key, name }) =>
    team === null || key === "user" ? [] : [nameFor(team, key, name)],
  );
  return (
    <div class="toolbar">
      {team !== null && <AddEdge team={team} names={[...names, "user"]} />}
      <span class="muted">
        {team === null
          ? `${teamNames.value.length} teams. Choose one to change its edges.`
          : `${teamNames.value.length > 1 ? `${team}: ` : ""}${
              edges === null ? "no topology, everyone may write to everyone" : `${edges?.length ?? 0} edges`
            }`}
      </span>
      {leftOut.value > 0 && (
        <span class="muted">{`${leftOut.value.toLocaleString()} quieter connections are not drawn`}</span>
      )}
      {team !== null && <RemovedEdges team={team} />}
    </div>
  );
}

const nameFor = (team: string, key: string, name: string): string => (key.startsWith(`${team}:`) ? name : key);

const meanings = [
  ["idle", "idle"],
  ["working", "working"],
  ["permission", "asks"],
  ["offline", "not running"],
] as const;

function Legend(): VNode {
  return (
    <ul class="key" aria-label="Legend">
      {meanings.map(([kind, word]) => (
        <li key={kind}>
          <svg viewBox="-8 -8 16 16" aria-hidden="true" class={`node ${kind}`}>
            <circle r="6" />
          </svg>
          {word}
        </li>
      ))}
      <li>
        <svg viewBox="0 0 26 8" aria-hidden="true" class="edge written wide">
          <path class="line" d="M1 4H25" />
        </svg>
        edge
      </li>
      <li>
        <svg viewBox="0 0 26 8" aria-hidden="true" class="edge seen wide">
          <path class="line" d="M1 4H25" />
        </svg>
        mail without an edge
      </li>
      <li>
        <span class="muted">12</span> messages
      </li>
    </ul>
  );
}

const mostListed = 30;

/** The newest messages of an edge. */
function Traffic({ line }: { line: GraphLine }): VNode {
  const found = useSignal<{ readonly count: number; readonly messages: readonly ReceiptView[] } | null>(null);
  const failure = useSignal<string | null>(null);
  const { from, to, edge, count } = line;
  useEffect(() => {
    let isOpen = true;
    const ends = { from, to };
    Promise.all([inTeam(null).call("logCount", ends), inTeam(null).call("log", { ...ends, limit: mostListed })]).then(
      ([total, messages]) => void (isOpen && (found.value = { count: total.count, messages })),
      (thrown: unknown) => void (isOpen && (failure.value = failureOf(thrown).message)),
    );
    return () => void (isOpen = false);
  }, [from, to, count]);
  const remove = async (): Promise<void> => {
    if (edge !== null && (await removeEdge(edge.team, edge))) go("graph");
  };
  return (
    <aside class="traffic" aria-label={`Traffic from ${labelOf(from)} to ${labelOf(to)}`}>
      <header>
        <h2>
          {labelOf(from)} → {labelOf(to)}
        </h2>
        <button class="quiet" aria-label="Close" title="Close (Esc)" onClick={() => go("graph")}>
          <Icon name="close" />
        </button>
      </header>
      <p class="muted">
        {found.value === null ? "…" : `${found.value.count.toLocaleString()} messages`} ·{" "}
        {edge === null
          ? "not an edge: a reply, or no topology"
          : edge.origin === "config"
            ? "from tieline.yaml"
            : "added at run time"}
      </p>
      {failure.value !== null && <p class="failure">{`Cannot list them: ${failure.value}`}</p>}
      <ul>
        {found.value?.messages.toReversed().map(({ tag, summary, acceptedAt }) => (
          <li key={tag}>
            <a href={linkTo("messages", tag)} dir="auto">
              <time>{timeOf(acceptedAt)}</time> {visible(summary)}
            </a>
          </li>
        ))}
      </ul>
      {edge !== null && (
        <Act class="danger" aria-keyshortcuts="x" title="Remove this edge (x)" onClick={() => void remove()}>
          Remove this edge
        </Act>
      )}
    </aside>
  );
}

function Refused(): VNode | null {
  const those = denials.value
    .filter(({ team }) => shownTeams.value.includes(team))
    .slice(-5)
    .toReversed();
  if (those.length === 0) return null;
  return (
    <ul class="refused" aria-label="Refused">
      {those.map(({ at, from, to, allowed }) => (
        <li key={`${at} ${from} ${to}`}>
          <time>{timeOf(at)}</time> <strong>{visible(from)}</strong> may not write to <strong>{visible(to)}</strong>
          {allowed.length === 0 ? "; it has no edges" : `; allowed: ${allowed.join(", ")}`}
        </li>
      ))}
    </ul>
  );
}
