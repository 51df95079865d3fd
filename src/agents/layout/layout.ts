/**
 * All agents of a team in one view. Their panes move into the window of the lead, which stays top left, and each
 * remembers where it came from, so that it can be put back. In a session that would end with the pane, a window stays
 * in for it.
 */
import { oneLine } from "../../model/visible.ts";
import { listPanes, type PaneFacts } from "../../tmux/pane.ts";
import { newWindow } from "../../tmux/session.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import { showBorders } from "./borders.ts";

export const tmuxLayouts = ["tiled", "even-horizontal", "even-vertical", "main-horizontal", "main-vertical"] as const;
export type TmuxLayout = (typeof tmuxLayouts)[number];

/** An agent and the pane that it is in. The first of a list leads. */
export interface Seat {
  readonly name: string;
  readonly pane: string;
}

export interface Arranged {
  readonly session: string;
  readonly shown: readonly string[];
  readonly leftOut: readonly { readonly agent: string; readonly reason: string }[];
}

/** Where a pane came from, kept on the pane: its session, and id, index and name of its window. */
const originOption = "@tieline_origin";
/** The name that a window had before it showed the team, kept on the window. */
const titleOption = "@tieline_title";
/** The pane that a window replaces, stored on the window. */
const standInOption = "@tieline_stands_in";

export async function arrange(
  server: TmuxServer,
  seats: readonly Seat[],
  layout: TmuxLayout,
  title: string,
): Promise<Arranged> {
  const all = await listPanes(server);
  const panes = new Map(all.map((pane) => [pane.id, pane]));
  const there = seats.flatMap((seat) => {
    const facts = panes.get(seat.pane);
    return facts ? [{ ...seat, facts }] : [];
  });
  const leftOut = seats
    .filter(({ pane }) => !panes.has(pane))
    .map(({ name }) => ({ agent: name, reason: "its pane is closed" }));
  const [lead] = there;
  if (lead === undefined) return { session: "", shown: [], leftOut };
  await server.run([
    ["set-option", "-w", "-o", "-q", "-t", lead.pane, titleOption, lead.facts.windowName],
    ["rename-window", "-t", lead.pane, title],
    ["select-layout", "-t", lead.pane, layout],
  ]);
  let last = lead.pane;
  const left = Map.groupBy(all, ({ sessionId }) => sessionId);
  for (const { name, pane, facts } of there) {
    if (facts.windowId === lead.facts.windowId) continue;
    const session = left.get(facts.sessionId)!;
    if (facts.sessionId !== lead.facts.sessionId && session.length === 1)
      await standIn(server, facts, name, lead.facts.sessionName);
    else
      left.set(
        facts.sessionId,
        session.filter(({ id }) => id !== pane),
      );
    await join(server, facts, last, layout);
    last = pane;
  }
  await toTopLeft(server, lead.pane);
  await server.run([["select-layout", "-t", lead.pane, layout]]);
  await showBorders(server, lead.pane);
  return { session: lead.facts.sessionName, shown: there.map(({ name }) => name), leftOut };
}

/** Keeps the session of its last pane, and shows there where the agent is. */
async function standIn(
  server: TmuxServer,
  { id, sessionName, windowName }: PaneFacts,
  agent: string,
  shownIn: string,
): Promise<void> {
  const words = oneLine(
    `${agent} is shown with its team in the session ${shownIn}; \`tieline layout restore\` brings it back`,
  );
  const { windowId } = await newWindow(server, {
    session: sessionName,
    name: windowName,
    command: ["sh", "-c", 'echo "$1"; exec tail -f /dev/null', "sh", words],
  });
  await server.run([["set-option", "-w", "-t", windowId, standInOption, id]]);
}

/** After each pane the layout is applied again, because tmux refuses to split a pane that has become too small. */
async function join(server: TmuxServer, pane: PaneFacts, after: string, layout: TmuxLayout): Promise<void> {
  const [index = "0"] = await server.read([["display-message", "-p", "-t", pane.id, "#{window_index}"]]);
  await server.rearrange([
    [
      "set-option",
      "-p",
      "-o",
      "-q",
      "-t",
      pane.id,
      originOption,
      `${pane.sessionId} ${pane.windowId} ${index} ${pane.windowName}`,
    ],
    ["join-pane", "-d", "-s", pane.id, "-t", after],
    ["select-layout", "-t", pane.id, layout],
  ]);
}

async function toTopLeft(server: TmuxServer, pane: string): Promise<void> {
  const [first = pane] = await server.read([["list-panes", "-t", pane, "-F", "#{pane_id}"]]);
  if (first !== pane) await server.rearrange([["swap-pane", "-d", "-s", pane, "-t", first]]);
}

/** Every pane that was moved goes back to its window, or to a new one in the same place where that is gone. */
export async function restore(server: TmuxServer, seats: readonly Seat[]): Promise<string[]> {
  const format = `#{pane_id} #{session_id}\t#{${titleOption}}\t#{${originOption}}`;
  const lines = await server.read([["list-panes", "-a", "-F", format]]);
  const restored: string[] = [];
  for (const { name, pane } of seats) {
    const [place = "", title = "", origin = ""] = (lines.find((line) => line.startsWith(`${pane} `)) ?? "").split("\t");
    if (origin !== "") {
      await goBack(server, pane, place.slice(pane.length + 1), origin);
      restored.push(name);
    } else if (title !== "") {
      await server.run([
        ["rename-window", "-t", pane, title],
        ["set-option", "-w", "-u", "-t", pane, titleOption],
      ]);
      restored.push(name);
    }
  }
  await endStandIns(server);
  return restored;
}

/** Those whose pane came back, or is not there any more. */
async function endStandIns(server: TmuxServer): Promise<void> {
  const lines = await server.read([
    ["list-panes", "-a", "-F", `#{pane_id} #{window_id} #{${standInOption}}\t#{${originOption}}`],
  ]);
  const away = new Set(lines.filter((line) => !line.endsWith("\t")).map((line) => line.split(" ")[0]));
  for (const line of lines) {
    const [, window = "", pane = ""] = line.slice(0, line.indexOf("\t")).split(" ");
    if (pane !== "" && !away.has(pane)) await server.rearrange([["kill-window", "-t", window]]);
  }
}

async function goBack(server: TmuxServer, pane: string, sessionNow: string, origin: string): Promise<void> {
  const [sessionBefore = "", window = "", index = "", ...words] = origin.split(" ");
  const every = await server.read([["list-windows", "-a", "-F", "#{session_id} #{window_id} #{window_index}"]]);
  const session = every.some((line) => line.startsWith(`${sessionBefore} `)) ? sessionBefore : sessionNow;
  const windows = every.filter((line) => line.startsWith(`${session} `));
  await server.run([["set-option", "-p", "-u", "-t", pane, originOption]]);
  if (windows.some((line) => line.split(" ")[1] === window)) {
    await server.rearrange([["join-pane", "-d", "-s", pane, "-t", window]]);
    return;
  }
  const isFree = !windows.some((line) => line.endsWith(` ${index}`));
  const target = `${session}:${isFree ? index : ""}`;
  await server.rearrange([["break-pane", "-d", "-s", pane, "-n", words.join(" "), "-t", target]]);
  await showBorders(server, pane);
}
