import { computed, useComputed } from "@preact/signals";
import type { VNode } from "preact";
import type { AgentView } from "../../src/client/browser.ts";
import { PruneGone } from "../agent/prune.tsx";
import { inTeam } from "../api.ts";
import { attempt } from "../actions.ts";
import { writeTo } from "../compose/draft.ts";
import { kept } from "../kept.ts";
import { beatsUpTo } from "../agents.ts";
import { refresh } from "../refresh.ts";
import { Act } from "../parts/act.tsx";
import { AgentState, Avatar, Presence, Sparkline } from "../parts/badges.tsx";
import { Icon } from "../parts/icons.tsx";
import { Menu } from "../parts/menu.tsx";
import { Sure } from "../parts/sure.tsx";
import { addressParam, linkTo } from "../route.ts";
import {
  askingStates,
  connection,
  now,
  panel,
  search,
  shownAgents,
  stable,
  teamNames,
  type AgentCell,
} from "../state.ts";
import { plain, visible } from "../text.ts";
import { age } from "../times.ts";

const isRunning = (presence: AgentView["presence"]): boolean => presence !== "offline" && presence !== "terminated";

const filters = {
  all: () => true,
  working: ({ state }: AgentView) => state === "working" || state === "starting",
  idle: ({ state }: AgentView) => state === "idle",
  asking: ({ state }: AgentView) => (askingStates as readonly string[]).includes(state),
  "with mail": ({ pending }: AgentView) => pending > 0,
  "not running": ({ presence }: AgentView) => !isRunning(presence),
} as const;
type Filter = keyof typeof filters;

const urgency = ({ state, presence }: AgentView): number =>
  (askingStates as readonly string[]).includes(state)
    ? 0
    : state === "limited"
      ? 1
      : state === "working"
        ? 2
        : !isRunning(presence)
          ? 4
          : 3;
const sorts = {
  // By name within a group: cards that change places at every event cannot be clicked.
  "needs you first": (a: AgentView, b: AgentView) => urgency(a) - urgency(b) || (a.name < b.name ? -1 : 1),
  name: (a: AgentView, b: AgentView) => (a.name < b.name ? -1 : 1),
  "last active": (a: AgentView, b: AgentView) => b.lastActivityAt - a.lastActivityAt,
  "pending mail": (a: AgentView, b: AgentView) => b.pending - a.pending,
} as const;

const filter = addressParam<Filter>("show", Object.keys(filters) as Filter[], "all");
const sort = kept<keyof typeof sorts>("team.order", "needs you first");

const matches = (agent: AgentView, words: string): boolean =>
  words === "" ||
  [agent.name, agent.role, agent.provider, agent.team, agent.state, agent.note].some((one) =>
    one?.toLowerCase().includes(words),
  );

const shown = stable(() => {
  const words = search.value.trim().toLowerCase();
  const wanted = shownAgents.value.filter(
    ({ view }) => filters[filter.value](view.value) && matches(view.value, words),
  );
  return wanted.toSorted((a, b) => sorts[sort.value](a.view.value, b.view.value));
});

const counts = stable(() =>
  (Object.keys(filters) as Filter[]).map(
    (one) => shownAgents.value.filter(({ view }) => filters[one](view.value)).length,
  ),
);

const goneCount = computed(
  () => shownAgents.value.filter(({ view }) => ["gone", "done"].includes(view.value.state)).length,
);

export function TeamView(): VNode {
  const everyone = shownAgents.value;
  return (
    <section class="view team">
      <div class="toolbar">
        <Chips />
        <label class="inline sort">
          <span>Sort</span>
          <select
            aria-label="Sort"
            aria-keyshortcuts="o"
            value={sort.value}
            onChange={({ currentTarget }) => (sort.value = currentTarget.value as keyof typeof sorts)}
          >
            {Object.keys(sorts).map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <button onClick={() => (panel.value = { kind: "teams", agent: null })} title="Teams (t)">
          Teams
        </button>
        <button onClick={() => (panel.value = { kind: "spawn" })} title="Start an agent (s)">
          <Icon name="plus" /> Start agent
        </button>
      </div>
      {everyone.length === 0 && connection.value === "live" ? <NoAgentsYet /> : null}
      {filter.value === "not running" && <PruneGone gone={goneCount.value} />}
      <div class="cards">
        {shown.value.map((cell) => (
          <Card key={cell.id} cell={cell} />
        ))}
      </div>
    </section>
  );
}

function Chips(): VNode {
  return (
    <div class="chips" role="group" aria-label="Show">
      {(Object.keys(filters) as Filter[]).map((one, at) => (
        <button
          key={one}
          class="chip"
          aria-pressed={filter.value === one}
          aria-keyshortcuts={String(at + 1)}
          onClick={() => (filter.value = one)}
        >
          {one}
          <small>{counts.value[at]}</small>
        </button>
      ))}
    </div>
  );
}

function NoAgentsYet(): VNode {
  return (
    <div class="empty">
      <h2>No agents yet</h2>
      <p>
        Start an agent from a profile, or run <code>tieline adopt</code> for one that is already running.{" "}
        <code>tieline demo</code> shows an example.
      </p>
    </div>
  );
}

/** Time passes for every card at once; only those that look different afterwards are drawn again. */
function Activity({ cell }: { cell: AgentCell }): VNode {
  const beats = useComputed(() => beatsUpTo(cell, now.value).join(" "));
  return <Sparkline beats={beats.value.split(" ").map(Number)} />;
}

function LastActive({ cell }: { cell: AgentCell }): VNode {
  const words = useComputed(() => {
    const { lastActivityAt } = cell.view.value;
    return lastActivityAt === 0 ? "" : age(now.value - lastActivityAt);
  });
  return <span class="muted">{words.value}</span>;
}

function Card({ cell }: { cell: AgentCell }): VNode {
  const agent = cell.view.value;
  const address = `${agent.team}:${agent.name}`;
  return (
    <article
      class={`card ${agent.presence} ${(askingStates as readonly string[]).includes(agent.state) ? "asks" : ""}`}
      aria-label={agent.name}
      data-item
      tabIndex={-1}
      data-agent={agent.name}
      data-state={agent.state}
    >
      <header>
        <Avatar name={agent.name} />
        <div class="who">
          <h2>
            <a
              class="agent-name"
              href={linkTo("agents", address)}
              aria-keyshortcuts="a"
              title={`${agent.name}: its page (a)`}
            >
              {agent.name}
            </a>{" "}
            <Presence presence={agent.presence} />
          </h2>
          <p>
            {[teamNames.value.length > 1 ? agent.team : null, agent.role, agent.provider].filter(Boolean).join(" · ")}
          </p>
        </div>
        <CardMenu agent={agent} />
      </header>
      <p class="doing">
        <AgentState agent={agent} />
        <span class="reason" title={agent.reason ?? undefined}>
          {visible((agent.state === "working" ? cell.tool.value : null) ?? agent.reason ?? agent.note ?? "")}
        </span>
      </p>
      {agent.pending > 0 && (
        <a
          class="mail"
          href={linkTo("queue", address)}
          title={agent.held === null ? "Its queue (q)" : `${visible(agent.held)} (q)`}
          aria-keyshortcuts="q"
        >
          {agent.pending} waiting{agent.held === null ? "" : `: ${visible(agent.held)}`}
        </a>
      )}
      <p class="last" dir="auto">
        {cell.last.value === null ? <span class="muted">no messages yet</span> : plain(visible(cell.last.value.text))}
      </p>
      <Activity cell={cell} />
      <footer>
        <LastActive cell={cell} />
        <span class="grow" />
        {agent.pane !== null && (
          <a
            class="button quiet"
            href={linkTo("terminal", address)}
            aria-label={`Terminal of ${agent.name}`}
            title="Terminal (e)"
            aria-keyshortcuts="e"
          >
            <Icon name="terminal" />
          </a>
        )}
        <button
          class="quiet"
          onClick={() => writeTo(agent)}
          aria-label={`Write to ${agent.name}`}
          title="Write (w)"
          aria-keyshortcuts="w"
        >
          <Icon name="compose" />
        </button>
      </footer>
    </article>
  );
}

function CardMenu({ agent }: { agent: AgentView }): VNode | null {
  if (agent.kind !== "program") return null;
  const { name, team } = agent;
  const run = (verb: "interrupt" | "stop" | "restart" | "kill", said: string) => () =>
    void attempt(() => inTeam(team).call(verb, { agent: name }), `${name}: ${said}`).then(() => attempt(refresh));
  const resume = (): void =>
    void attempt(() => inTeam(team).call("resume", { agents: [name] }), `${name} starts again`).then(() =>
      attempt(refresh),
    );
  const running = isRunning(agent.presence);
  return (
    <Menu label={`More for ${name}`}>
      {running && <Act onClick={run("interrupt", "interrupted")}>Interrupt</Act>}
      {running && <Act onClick={run("stop", "stops")}>Stop</Act>}
      {running && agent.profile !== null && <Act onClick={run("restart", "restarts")}>Restart</Act>}
      {!running && agent.profile !== null && <Act onClick={resume}>Resume</Act>}
      <Act onClick={() => (panel.value = { kind: "teams", agent })}>Move to a team…</Act>
      {running && <Sure label="Kill" really="Kill? Unsaved work is lost" onSure={run("kill", "killed")} />}
    </Menu>
  );
}
