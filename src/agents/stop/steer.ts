/** A user's hand on an agent in its pane: answer its dialog, stop its turn. */
import type { Directory } from "../directory/directory.ts";
import { endpointBy, notRunningWords, type Agent, type Endpoint } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import type { DialogKeys, Provider } from "../../providers/port.ts";
import type { Providers } from "../../providers/providers.ts";
import { systemTimers, type Timers } from "../../os/timers.ts";
import { snapshotPane, type PaneSnapshot } from "../../tmux/pane.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import { pressGuarded, type Guards, type Written } from "../../tmux/write.ts";
import { type PaneLocator, tmuxEndpoint } from "../../delivery/transports/paneEndpoint.ts";
import type { ProbingTransport } from "../../delivery/transports/port.ts";

export interface SteerParts {
  readonly providers: Pick<Providers, "of">;
  readonly directory: Pick<Directory, "agent">;
  readonly servers: { at(socket: string): TmuxServer };
  readonly tmux: Pick<ProbingTransport, "probe" | "watch">;
  readonly timers?: Timers;
}

export interface Choice {
  readonly place: number;
  readonly label: string;
}

export interface Dialog {
  readonly state: Agent["state"];
  /** Its lines in the pane. */
  readonly text: string;
  readonly choices: readonly Choice[];
  /** Changes with the words: an answer is for what was read, and for nothing that came since. */
  readonly mark: string;
}

const dialogStates: readonly Agent["state"][] = ["permission", "question", "dialog"];
/** Rows above the first choice that are taken for part of the dialog. */
const rowsAbove = 20;
/**
 * Claude Code 2.1.325 ignores keys for up to 200 ms after a dialog appears, so that a user who is typing answers
 * nothing.
 */
const opensMs = 400;
/** A title that blinks can change between the look and the key so many times. */
const mostPresses = 5;
/** A program that was given a choice has shown that it took it by then. */
const takenMs = 3_000;

/** The open dialog in the agent's pane. Throws CONFLICT when there is none. */
export async function dialogOf(agent: Agent, parts: SteerParts): Promise<Dialog> {
  return (await openDialog(agent, parts)).dialog;
}

/** Takes a choice of the dialog that was read under this mark. Throws NOT_IN_TIME when the dialog does not take it. */
export async function choose(agent: Agent, wanted: string, mark: string, parts: SteerParts): Promise<Choice> {
  const choice = choiceIn((await dialogUnder(mark, agent, parts)).dialog.choices, wanted, agent);
  await (parts.timers ?? systemTimers).pause(opensMs);
  await pressFor(choice, mark, agent, parts);
  if (!(await hasLeft(agent, mark, parts))) throw notTaken(agent, choice);
  return choice;
}

/** Presses the keys of a choice once, while the dialog is the one that was read. */
async function pressFor({ place }: Choice, mark: string, agent: Agent, parts: SteerParts): Promise<void> {
  for (let left = mostPresses - 1; ; left--) {
    const { keys, seen, locator } = await dialogUnder(mark, agent, parts);
    const { title, cursor, currentCommand: command } = seen.pane;
    const guards = { serverPid: locator.serverPid, title, cursor, command };
    const written = await pressIn(locator, keys.keys(place), guards, parts);
    if (written.done) return;
    // Nothing was pressed, so the screen decides again.
    if (left === 0 || written.failed.some((guard) => guard !== "title")) throw changed(agent, written.failed);
  }
}

/** The open dialog. Throws CONFLICT when it is not the one that was read under this mark. */
async function dialogUnder(mark: string, agent: Agent, parts: SteerParts): Promise<OpenDialog> {
  const open = await openDialog(agent, parts);
  if (open.dialog.mark !== mark) throw changed(agent);
  return open;
}

/**
 * Whether the dialog that was read under this mark gives way to something else, another dialog perhaps, before long.
 */
async function hasLeft(agent: Agent, mark: string, parts: SteerParts): Promise<boolean> {
  const over = (parts.timers ?? systemTimers).timeout(takenMs);
  let changed = Promise.withResolvers<void>();
  using _ = parts.tmux.watch(agent, endpointOf(agent), () => changed.resolve());
  over.addEventListener("abort", () => changed.resolve());
  for (;;) {
    const open = await openDialog(agent, parts).catch((thrown: unknown) => {
      if (thrown instanceof TielineError && thrown.code === "CONFLICT") return null;
      throw thrown;
    });
    if (open?.dialog.mark !== mark) return true;
    if (over.aborted) return false;
    await changed.promise;
    changed = Promise.withResolvers();
    if (over.aborted) changed.resolve();
  }
}

/** Stops the running turn, as the user's own key would. */
export async function interrupt(agent: Agent, parts: SteerParts): Promise<void> {
  const { locator, state } = await there(agent, parts);
  const provider = parts.providers.of(agent.provider);
  if (dialogStates.includes(state)) throw asksSomething(agent, state);
  if (isAtRest(provider, state, locator)) throw nothingToStop(agent, state);
  const written = await pressIn(locator, provider.interruptKeys, { serverPid: locator.serverPid }, parts);
  if (!written.done) throw changed(agent, written.failed);
}

/** Where nothing runs, the same key means something else: it edits, goes back or leaves. */
function isAtRest({ program, name }: Provider, state: Agent["state"], { terminal }: PaneLocator): boolean {
  if (program !== null) return state !== "working";
  // A program without a `promptPattern` counts as idle by its silence, and may still be working.
  const isGuess = name === "generic" && (terminal.prompt ?? null) === null;
  return state === "idle" && !isGuess;
}

/** The choices on the screen: the last list that is there. */
export function choicesOn(rows: readonly string[], { choice }: DialogKeys): (Choice & { readonly row: number })[] {
  const every = new RegExp(choice.source, `${choice.flags.replace("g", "")}g`);
  const found = rows.flatMap((text, row) =>
    [...text.matchAll(every)].map(({ groups = {} }, at) => ({
      row,
      place: Number(groups["number"] ?? at + 1),
      label: groups["label"] ?? "",
    })),
  );
  const first = found.findLastIndex(({ place }) => place === 1);
  if (first < 0) return [];
  return found.slice(first).filter(({ place }, at) => place === at + 1);
}

interface OpenDialog {
  readonly dialog: Dialog;
  readonly keys: DialogKeys;
  readonly seen: PaneSnapshot;
  readonly locator: PaneLocator;
}

async function openDialog(agent: Agent, parts: SteerParts): Promise<OpenDialog> {
  const { locator, state } = await there(agent, parts);
  if (!dialogStates.includes(state)) throw noDialog(agent, state);
  const keys = parts.providers.of(agent.provider).dialogs;
  if (keys === null) throw unknownKeys(agent);
  const seen = await snapshotPane(parts.servers.at(locator.socket), locator.pane);
  const choices = choicesOn(seen.plain, keys);
  if (choices.length === 0) throw unknownKeys(agent);
  const rows = seen.plain.slice(Math.max(0, choices[0]!.row - rowsAbove)).map((row) => row.trimEnd());
  const text = rows.join("\n").trim();
  const dialog = {
    state,
    text,
    choices: choices.map(({ place, label }) => ({ place, label })),
    mark: digest(rows.map(withoutLights).join("\n").trim()),
  };
  return { dialog, keys, seen, locator };
}

/** Looks at the agent: it must be in its pane. */
async function there(
  agent: Agent,
  { tmux, directory }: SteerParts,
): Promise<{ locator: PaneLocator; state: Agent["state"] }> {
  const endpoint = endpointOf(agent);
  const readiness = await tmux.probe(agent, endpoint);
  if (readiness.kind === "gone") throw notThere(agent, readiness.detail);
  return { locator: tmuxEndpoint.locatorOf(endpoint), state: directory.agent(agent.id)?.state ?? "unknown" };
}

function endpointOf(agent: Agent): Endpoint {
  const endpoint = endpointBy("tmux", agent);
  if (endpoint === undefined) throw notThere(agent, "it is in no pane");
  return endpoint;
}

/**
 * Claude Code blinks the bullet of a call that waits for permission, and its logo. A symbol before the first word is no
 * part of what was read; a blank takes its place.
 */
const withoutLights = (row: string): string =>
  row.replace(/^[\s\p{So}]+/u, (lead) => " ".repeat(lead.length)).trimEnd();

const pressIn = (
  { socket, pane, panePid }: PaneLocator,
  keys: readonly string[],
  guards: Guards,
  { servers }: SteerParts,
): Promise<Written> => pressGuarded(servers.at(socket), { pane, panePid, keys, guards });

/** A number, the whole label, or the beginning of one label only. */
function choiceIn(choices: readonly Choice[], wanted: string, agent: Agent): Choice {
  const word = wanted.trim().toLowerCase();
  const exact = choices.find(({ place, label }) => String(place) === word || label.toLowerCase() === word);
  if (exact) return exact;
  const beginning = choices.filter(({ label }) => word !== "" && label.toLowerCase().startsWith(word));
  if (beginning.length === 1) return beginning[0]!;
  throw new TielineError(
    "USAGE",
    `${JSON.stringify(wanted)} is ${beginning.length === 0 ? "none" : "more than one"} of the choices that ` +
      `${agent.name} gives`,
    {
      remedy: `choose one of ${choices.map(({ place, label }) => `${place} (${label})`).join(", ")}`,
      operands: { agent: agent.name, choices: choices.map(({ place, label }) => ({ choice: place, label })) },
    },
  );
}

const digest = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 16);

const conflict = (message: string, remedy: string, agent: Agent, more: object = {}): TielineError =>
  new TielineError("CONFLICT", message, { remedy, operands: { agent: agent.name, ...more } });

const notTaken = (agent: Agent, { place, label }: Choice): TielineError =>
  new TielineError(
    "NOT_IN_TIME",
    `choice ${place} (${label}) was sent to ${agent.name}, and its dialog is still open`,
    {
      remedy: `\`tieline read ${agent.name}\` shows its screen; answer again if nothing happened`,
      operands: { agent: agent.name, choice: place, label },
    },
  );

const noDialog = (agent: Agent, state: string): TielineError =>
  conflict(`${agent.name} asks nothing: it is ${state}`, `\`tieline read ${agent.name}\` shows its screen`, agent, {
    state,
  });

const unknownKeys = (agent: Agent): TielineError =>
  conflict(
    `Tieline cannot read the choices of this ${agent.provider} dialog`,
    `answer it by hand: tieline attach ${agent.name}`,
    agent,
  );

const changed = (agent: Agent, failed: readonly string[] = []): TielineError =>
  conflict(
    `the screen of ${agent.name} changed since you read it; nothing was pressed`,
    "read it again, then decide",
    agent,
    { changed: failed },
  );

const asksSomething = (agent: Agent, state: string): TielineError =>
  conflict(
    `${agent.name} asks something (${state}); an interrupt would answer it`,
    `\`tieline answer ${agent.name}\` shows what it asks`,
    agent,
    { state },
  );

const nothingToStop = (agent: Agent, state: string): TielineError =>
  conflict(
    `${agent.name} is ${state}; there is nothing to interrupt`,
    `\`tieline read ${agent.name}\` shows its screen`,
    agent,
    { state },
  );

const notThere = (agent: Agent, why: string): TielineError =>
  new TielineError("PANE_UNKNOWN", notRunningWords(agent.name, why), {
    remedy:
      agent.launch === null
        ? "start it by hand and adopt it again"
        : `\`tieline resume ${agent.name}\` starts it again`,
    operands: { agent: agent.name },
  });
