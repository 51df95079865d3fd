/** What the palette offers: views, actions, and agents with what can be done to them. */
import { addressOf } from "../agent/names.ts";
import { broadcast, writeTo } from "../compose/draft.ts";
import { nextTheme } from "../parts/theme.tsx";
import { titleOf } from "../parts/shell.tsx";
import { go, views } from "../route.ts";
import { agents, panel, teamNames, theme } from "../state.ts";
import { fuzzy } from "./fuzzy.ts";

export interface Entry {
  readonly id: string;
  readonly group: "Agents" | "Actions" | "Messages";
  readonly label: string;
  readonly about: string;
  readonly run: () => void;
}

export interface Found {
  readonly entry: Entry;
  readonly marked: readonly number[];
}

const mostOfGroup = 8;
const mostUnasked = 20;

/** Best first. Without a query the entries are shown as they are. */
export function find(query: string, entries: readonly Entry[]): readonly Found[] {
  if (query.trim() === "") return entries.slice(0, mostUnasked).map((entry) => ({ entry, marked: [] }));
  const matches = entries.flatMap((entry) => {
    const match = fuzzy(query, entry.label);
    return match === null ? [] : [{ entry, marked: match.at, score: match.score }];
  });
  return matches.toSorted((a, b) => b.score - a.score).slice(0, mostOfGroup);
}

export function agentEntries(): readonly Entry[] {
  const isOneTeam = teamNames.value.length < 2;
  return agents.value.map(({ id, view: { value } }) => ({
    id: `agent ${id}`,
    group: "Agents",
    label: isOneTeam ? value.name : addressOf(value),
    about: [value.role, value.provider, value.state].filter(Boolean).join(" · "),
    run: () => go("agents", addressOf(value)),
  }));
}

/** Actions on an agent are found by its name, so there are none before something is typed. */
export function actionEntries(query: string): readonly Entry[] {
  const action = (label: string, about: string, run: () => void): Entry => ({
    id: `action ${label}`,
    group: "Actions",
    label,
    about,
    run,
  });
  const open = [
    ...views.filter((one) => one !== "agents").map((one) => action(`Go to ${titleOf(one)}`, "", () => go(one))),
    action("Write a message", "c", () => (panel.value = { kind: "compose" })),
    action("Write to all agents", "b", broadcast),
    action("Start an agent", "s", () => (panel.value = { kind: "spawn" })),
    action("Teams", "t", () => (panel.value = { kind: "teams", agent: null })),
    action("Change the theme", "l", () => (theme.value = nextTheme())),
    action("Shortcuts", "?", () => (panel.value = { kind: "help" })),
  ];
  if (query.trim() === "") return open;
  const own = agents.value.flatMap(({ view: { value } }) => {
    const address = addressOf(value);
    return [
      action(`Write to ${address}`, "", () => writeTo(value)),
      action(`Queue of ${address}`, "", () => go("queue", address)),
      ...(value.pane === null ? [] : [action(`Terminal of ${address}`, "", () => go("terminal", address))]),
      ...(value.kind === "program"
        ? [action(`Stop, restart or remove ${address}`, "on its page", () => go("agents", address))]
        : []),
    ];
  });
  return [...open, ...own];
}
