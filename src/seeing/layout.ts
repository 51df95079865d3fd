/**
 * All agents of a team in one view. Their panes move into the window of the lead, which stays top left, and each
 * remembers where it came from, so that it can be put back.
 */
import { listPanes, type PaneFacts } from "../tmux/pane.ts";
import { exactSession } from "../tmux/session.ts";
import type { TmuxServer } from "../tmux/server.ts";
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

/** Where a pane came from, kept on the pane: id, index and name of its window. */
const originOption = "@tieline_origin";
/** The name that a window had before it showed the team, kept on the window. */
const titleOption = "@tieline_title";

export async function arrange(server: TmuxServer, seats: readonly Seat[], layout: TmuxLayout, title: string): Promise<Arranged> {
  const panes = new Map((await listPanes(server)).map((pane) => [pane.id, pane]));
  const there = seats.flatMap((seat) => {
    const facts = panes.get(seat.pane);
    return facts ? [{ ...seat, facts }] : [];
  });
  const [lead] = there;
  if (lead === undefined) return { session: "", shown: [], leftOut: seats.map(({ name }) => ({ agent: name, reason: "its pane is closed" })) };
  // A pane of another session may be all that holds that session together, so it stays where it is.
  const together = there.filter(({ facts }) => facts.sessionId === lead.facts.sessionId);
  await server.run([
    ["set-option", "-w", "-o", "-q", "-t", lead.pane, titleOption, lead.facts.windowName],
    ["rename-window", "-t", lead.pane, title],
    ["select-layout", "-t", lead.pane, layout],
  ]);
  let last = lead.pane;
  for (const { pane, facts } of together) {
    if (facts.windowId === lead.facts.windowId) continue;
    await join(server, facts, last, layout);
    last = pane;
  }
  await toTopLeft(server, lead.pane);
  await server.run([["select-layout", "-t", lead.pane, layout]]);
  await showBorders(server, lead.pane);
  const leftOut = seats.filter(({ name }) => !together.some((one) => one.name === name));
  return {
    session: lead.facts.sessionName,
    shown: together.map(({ name }) => name),
    leftOut: leftOut.map(({ name, pane }) => ({ agent: name, reason: panes.has(pane) ? `it is in the session ${panes.get(pane)!.sessionName}` : "its pane is closed" })),
  };
}

/** After each pane the window is laid out anew, because tmux refuses to split a pane that has become too small. */
async function join(server: TmuxServer, pane: PaneFacts, after: string, layout: TmuxLayout): Promise<void> {
  const [index = "0"] = await server.read([["display-message", "-p", "-t", pane.id, "#{window_index}"]]);
  await server.rearrange([
    ["set-option", "-p", "-o", "-q", "-t", pane.id, originOption, `${pane.windowId} ${index} ${pane.windowName}`],
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
  const format = `#{pane_id} #{session_name}\t#{${titleOption}}\t#{${originOption}}`;
  const lines = await server.read([["list-panes", "-a", "-F", format]]);
  const restored: string[] = [];
  for (const { name, pane } of seats) {
    const [place = "", title = "", origin = ""] = (lines.find((line) => line.startsWith(`${pane} `)) ?? "").split("\t");
    if (origin !== "") {
      await goBack(server, pane, place.slice(pane.length + 1), origin);
      restored.push(name);
    } else if (title !== "") {
      await server.run([["rename-window", "-t", pane, title], ["set-option", "-w", "-u", "-t", pane, titleOption]]);
      restored.push(name);
    }
  }
  return restored;
}

async function goBack(server: TmuxServer, pane: string, session: string, origin: string): Promise<void> {
  const [window = "", index = "", ...words] = origin.split(" ");
  const windows = await server.read([["list-windows", "-t", exactSession(session), "-F", "#{window_id} #{window_index}"]]);
  await server.run([["set-option", "-p", "-u", "-t", pane, originOption]]);
  if (windows.some((line) => line.startsWith(`${window} `))) {
    await server.rearrange([["join-pane", "-d", "-s", pane, "-t", window]]);
    return;
  }
  const isFree = !windows.some((line) => line.endsWith(` ${index}`));
  const target = `${exactSession(session)}${isFree ? index : ""}`;
  await server.rearrange([["break-pane", "-d", "-s", pane, "-n", words.join(" "), "-t", target]]);
  await showBorders(server, pane);
}
