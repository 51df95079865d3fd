/** Adding and removing edges. What an edge changes for others is said before, and everything can be undone. */
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { attempt, tell } from "../actions.ts";
import { inTeam } from "../api.ts";
import { Act } from "../parts/act.tsx";
import { refreshTopologies } from "../refresh.ts";
import { topologies, type Topology } from "../state.ts";

type Ends = { readonly from: string; readonly to: string };

const textOf = ({ from, to }: Ends): string => `${from} -> ${to}`;
const topologyOf = (team: string | null): Topology | null =>
  team === null ? null : (topologies.value.get(team) ?? null);

async function change(team: string | null, verb: "topologyAdd" | "topologyRemove", edge: string): Promise<boolean> {
  const close = verb === "topologyAdd" && topologyOf(team)?.edges === null;
  const worked = await attempt(() => inTeam(team).call(verb, { edge, ...(close && { close }) }));
  await attempt(refreshTopologies);
  return worked;
}

async function addEdge(team: string | null, edge: string): Promise<boolean> {
  const isFirst = topologyOf(team)?.edges === null;
  if (!(await change(team, "topologyAdd", edge))) return false;
  tell(isFirst ? `${edge} was added. Only listed edges count in ${team} now.` : `${edge} was added`, {
    undo: () => void change(team, "topologyRemove", edge),
  });
  return true;
}

export async function removeEdge(team: string | null, line: Ends): Promise<boolean> {
  const edge = textOf(line);
  const isConfigured = topologyOf(team)?.edges?.some((one) => textOf(one) === edge && one.origin === "config");
  if (!(await change(team, "topologyRemove", edge))) return false;
  const opened = topologyOf(team)?.edges === null;
  tell(
    isConfigured
      ? `${edge} was removed. tieline.yaml still lists it; the removal stays until you add the edge again.`
      : opened
        ? `${edge} was removed. ${team} has no edges left, so everyone may write to everyone.`
        : `${edge} was removed`,
    { undo: () => void change(team, "topologyAdd", edge) },
  );
  return true;
}

export function AddEdge({ team, names }: { team: string | null; names: readonly string[] }): VNode {
  const from = useSignal("");
  const to = useSignal("");
  const asks = useSignal(false);
  const isOpen = topologyOf(team)?.edges === null;
  const add = async (): Promise<void> => {
    asks.value = false;
    if (await addEdge(team, textOf({ from: from.value, to: to.value }))) from.value = to.value = "";
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    // The first edge closes the team for every other route, so it is explained and confirmed.
    if (isOpen) asks.value = true;
    else void add();
  };
  const options = names.map((name) => <option key={name} value={name} />);
  return (
    <>
      <form class="inline" onSubmit={submit} aria-label="Add an edge">
        <datalist id="names">{options}</datalist>
        <input
          list="names"
          placeholder="from"
          aria-label="From"
          aria-keyshortcuts="a"
          value={from.value}
          onInput={({ currentTarget }) => (from.value = currentTarget.value)}
          required
        />
        <span aria-hidden="true">→</span>
        <input
          list="names"
          placeholder="to"
          aria-label="To"
          value={to.value}
          onInput={({ currentTarget }) => (to.value = currentTarget.value)}
          required
        />
        <Act type="submit">Add edge</Act>
      </form>
      {asks.value && isOpen && (
        <FirstEdge
          team={team}
          line={{ from: from.value, to: to.value }}
          onAdd={() => void add()}
          onCancel={() => (asks.value = false)}
        />
      )}
    </>
  );
}

function FirstEdge({
  team,
  line: { from, to },
  onAdd,
  onCancel,
}: {
  team: string | null;
  line: Ends;
  onAdd: () => void;
  onCancel: () => void;
}): VNode {
  return (
    <div
      class="warning-box"
      role="alertdialog"
      aria-label="First edge"
      aria-describedby="first-edge"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onCancel();
      }}
    >
      <p id="first-edge">
        {`In ${team} everyone may write to everyone. With a first edge, only listed edges count: `}
        <strong>{`of the agents, only ${from} may start a message, and only to ${to}.`}</strong>
        {" Replies and mail from or to you still pass."}
      </p>
      <p class="actions">
        <Act class="danger" ref={(element) => element?.focus()} onClick={onAdd}>
          Add edge and close the team
        </Act>
        <button onClick={onCancel}>Cancel</button>
      </p>
    </div>
  );
}

/** Edges of tieline.yaml that were removed at run time. */
export function RemovedEdges({ team }: { team: string | null }): VNode | null {
  const removed = topologyOf(team)?.removed ?? [];
  if (removed.length === 0) return null;
  return (
    <span class="muted" aria-label="Removed edges">
      removed at run time:{" "}
      {removed.map((edge) => (
        <Act key={textOf(edge)} title={`Add ${textOf(edge)} again`} onClick={() => void addEdge(team, textOf(edge))}>
          {textOf(edge)}
        </Act>
      ))}
    </span>
  );
}
