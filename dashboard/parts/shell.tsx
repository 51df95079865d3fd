import type { VNode } from "preact";
import { linkTo, setParams, view, views, type View } from "../route.ts";
import {
  connection,
  isAway,
  notices,
  panel,
  search,
  team,
  teamNames,
  unread,
  pendingCount,
  waitingCount,
} from "../state.ts";
import { dropNotice } from "../actions.ts";
import { focusMain } from "../focus.ts";
import { Count } from "./badges.tsx";
import { Icon, Mark } from "./icons.tsx";
import { ThemeSwitch } from "./theme.tsx";

const labels: Record<View, string> = {
  team: "Team",
  messages: "Messages",
  waiting: "Waiting for you",
  queue: "Queue",
  graph: "Graph",
  numbers: "Numbers",
  terminal: "Terminal",
  events: "Events",
  agents: "Agent",
};
const keys: Partial<Record<View, string>> = {
  team: "t",
  messages: "m",
  waiting: "w",
  queue: "q",
  graph: "g",
  numbers: "n",
  terminal: "e",
  events: "l",
};

/** The page of an agent is reached from what names the agent. */
const listed = views.filter((one) => one !== "agents");

export const titleOf = (one: View): string => labels[one];

export function Navigation(): VNode {
  const counts: Partial<Record<View, VNode | null>> = {
    messages: <Count of={unread.value} label="unread" />,
    waiting: <Count of={waitingCount.value} label="things wait for you" />,
    queue: <Count of={pendingCount.value} label="not delivered yet" />,
  };
  return (
    <nav class="navigation" aria-label="Views">
      <a class="brand" href={linkTo("team")} aria-label="Tieline">
        <Mark />
        <span>Tieline</span>
      </a>
      {listed.map((one) => (
        <a
          key={one}
          href={linkTo(one)}
          class={`nav ${one}`}
          aria-current={view.value === one ? "page" : undefined}
          title={`${labels[one]} (g ${keys[one]})`}
        >
          <Icon name={one} />
          <span class="label">{one === "waiting" ? "Waiting" : labels[one]}</span>
          {counts[one]}
        </a>
      ))}
      <span class="grow" />
      <button
        class="nav help"
        onClick={() => (panel.value = { kind: "palette" })}
        title="Go to an agent, a message, an action (Ctrl K)"
        aria-label="Go to"
      >
        <Icon name="search" />
        <span class="label">Go to…</span>
        <kbd aria-hidden="true">Ctrl K</kbd>
      </button>
      <ThemeSwitch kind="nav" />
      <button
        class="nav help"
        onClick={() => (panel.value = { kind: "help" })}
        title="Shortcuts (?)"
        aria-label="Shortcuts"
      >
        <Icon name="help" />
        <span class="label">Shortcuts</span>
      </button>
    </nav>
  );
}

export function TopBar(): VNode {
  return (
    <header class="topbar">
      <h1>{labels[view.value]}</h1>
      <ConnectionState />
      <label class="search">
        <Icon name="search" />
        <input
          id="search"
          type="search"
          placeholder="Search"
          aria-label="Search (press /)"
          value={search.value}
          onInput={({ currentTarget }) => (search.value = currentTarget.value)}
          onKeyDown={leaveOnEscape}
        />
        <kbd aria-hidden="true">/</kbd>
      </label>
      {teamNames.value.length > 1 && (
        <select
          aria-label="Team"
          value={team.value ?? ""}
          onChange={({ currentTarget }) => setParams({ team: currentTarget.value || null })}
        >
          <option value="">All teams</option>
          {teamNames.value.map((name) => (
            <option value={name} key={name}>
              {name}
            </option>
          ))}
        </select>
      )}
      <ThemeSwitch kind="quiet" />
      <button
        class="primary"
        onClick={() => (panel.value = { kind: "compose" })}
        title="Write a message (c)"
        aria-label="Write a message"
      >
        <Icon name="compose" />
        <span class="label">Write</span>
      </button>
    </header>
  );
}

function leaveOnEscape(event: KeyboardEvent): void {
  if (event.key !== "Escape") return;
  search.value = "";
  (event.currentTarget as HTMLInputElement).blur();
}

const said = {
  connecting: "connecting…",
  live: "live",
  away: "disconnected",
  stranger: "disconnected",
  "signed out": "signed out",
} as const;

/** The first Tab leads here, past the navigation. */
export function SkipLink(): VNode {
  const skip = (event: Event): void => {
    event.preventDefault();
    focusMain();
  };
  return (
    <a class="skip" href="#main" onClick={skip}>
      Skip to content
    </a>
  );
}

/** What the user must know while the page is not up to date. */
export function AwayBanner(): VNode {
  return (
    <div class="away-banner" role="alert">
      {isAway.value && (
        <p>
          <strong>
            {connection.value === "away"
              ? "The daemon is away. Reconnecting…"
              : "Another program has the daemon's port. Nothing is sent to it."}
          </strong>{" "}
          The page shows what was known before, and actions are off. Your draft is kept.{" "}
          <span>
            If it stays away: <code>tieline daemon start</code>
          </span>
        </p>
      )}
    </div>
  );
}

function ConnectionState(): VNode {
  return (
    <span class={`connection ${connection.value}`} role="status">
      <i aria-hidden="true" />
      <span>{said[connection.value]}</span>
    </span>
  );
}

export function Notices(): VNode {
  return (
    <div class="notices" role="log" aria-live="polite">
      {notices.value.map(({ id, text, remedy, bad, undo }) => (
        <div key={id} class={`notice ${bad ? "bad" : ""}`}>
          <div>
            <strong>{text}</strong>
            {remedy && <p>{remedy}</p>}
          </div>
          {undo && (
            <button
              class="quiet undo"
              onClick={() => {
                undo();
                dropNotice(id);
              }}
            >
              Undo
            </button>
          )}
          <button class="quiet" aria-label="Dismiss" onClick={() => dropNotice(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
