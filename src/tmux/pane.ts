import { asTielineError, TielineError } from "../model/errors.ts";
import type { TmuxServer } from "./server.ts";

export interface PaneFacts {
  /** `%14`; never reused while the server lives. */
  id: string;
  pid: number;
  tty: string;
  currentCommand: string;
  currentPath: string;
  title: string;
  /** In copy mode or another mode that takes the keys. */
  inMode: boolean;
  cursor: { x: number; y: number };
  /** False: the program draws a cursor of its own, or none; where tmux has the real one says nothing then. */
  cursorVisible: boolean;
  alternateOn: boolean;
  width: number;
  height: number;
  historySize: number;
  /** The program ended and `remain-on-exit` keeps the pane. */
  dead: boolean;
  /** Keys sent to this pane also reach the others of its window. */
  synchronized: boolean;
  /** Whether the program asked for bracketed paste; undefined where this tmux has no format for it. */
  bracketedPaste: boolean | undefined;
  /** When something was last printed in the pane's window, in whole seconds. */
  windowActivityAt: number;
  /** When a key was last pressed in a session that shows the pane, or a client attached, in whole seconds. */
  keysAt: number;
  serverPid: number;
  serverStartedAt: number;
  sessionId: string;
  sessionName: string;
  windowId: string;
  windowName: string;
  /** `@tieline_agent`, `@tieline_pasted`, `@tieline_entered`; empty where not set. */
  agent: string;
  pasted: string;
  entered: string;
  /** `@tieline_paused`: which pause of the users' keys lasts, and whether a key waits (pauseKeys.ts). */
  paused: string;
}

/** A client on some session. tmux knows the time of its last key to the second only. */
export interface ClientFacts {
  /** Program clients (`tmux -C`) are not people. */
  control: boolean;
  readOnly: boolean;
  activityAt: number;
  sessionId: string;
  windowId: string;
  /** The pane that gets this client's keys. */
  paneId: string;
  /** What `-c` takes. */
  name: string;
  keyTable: string;
}

/** One pane at one moment: facts, people and screen come from a single command list. */
export interface PaneSnapshot {
  pane: PaneFacts;
  clients: ClientFacts[];
  /** With SGR sequences, one string per row. */
  styled: string[];
  plain: string[];
}

export interface CaptureOptions {
  ansi?: boolean;
  /** How many lines of history above the screen. */
  history?: number;
}

export async function listPanes(server: TmuxServer): Promise<PaneFacts[]> {
  const border = server.uniqueWord();
  return parsePanes(await server.read([["list-panes", "-a", "-F", paneFormat(border)]]), border);
}

/** The little that tells whether a pane must be read again; a fifth of the price of all facts. */
export interface PaneListing {
  pid: number;
  dead: boolean;
  windowActivityAt: number;
  serverPid: number;
  serverStartedAt: number;
}

/** Every pane of the server by its id. */
export async function listPaneActivity(server: TmuxServer): Promise<Map<string, PaneListing>> {
  const [identity = "", ...lines] = await server.read([
    ["display-message", "-p", "#{pid} #{start_time}"],
    ["list-panes", "-a", "-F", "#{pane_id} #{pane_pid} #{window_activity} #{pane_dead}"],
  ]);
  const [serverPid = 0, startedAt = 0] = identity.split(" ").map(Number);
  return new Map(
    lines.map((line) => {
      const [id = "", pid, activity, dead] = line.split(" ");
      return [
        id,
        {
          pid: Number(pid),
          dead: dead === "1",
          windowActivityAt: Number(activity) * 1000,
          serverPid,
          serverStartedAt: startedAt * 1000,
        },
      ];
    }),
  );
}

export async function readPane(server: TmuxServer, paneId: string): Promise<PaneFacts> {
  const border = server.uniqueWord();
  return onlyPane(await server.read([showPane(paneId, border)]), paneId, border);
}

export async function listClients(server: TmuxServer): Promise<ClientFacts[]> {
  return parseClients(await server.read([["list-clients", "-F", clientFormat]]));
}

export async function capture(server: TmuxServer, paneId: string, options: CaptureOptions = {}): Promise<string[]> {
  return server.read([capturePane(paneId, options)]);
}

export async function snapshotPane(server: TmuxServer, paneId: string): Promise<PaneSnapshot> {
  // The parts are separated by a line that no screen can contain by design or by chance.
  const border = server.uniqueWord();
  const cut = ["display-message", "-p", border];
  const list = [
    showPane(paneId, border),
    cut,
    ["list-clients", "-F", clientFormat],
    cut,
    capturePane(paneId, { ansi: true }),
  ];
  const [facts = [], clients = [], styled = []] = splitAt(await server.read(list), border);
  return {
    pane: onlyPane(facts, paneId, border),
    clients: parseClients(clients),
    styled,
    plain: styled.map(withoutStyles),
  };
}

/** The text on the line of the cursor. */
export const cursorLine = ({ pane, plain }: PaneSnapshot): string => (plain[pane.cursor.y] ?? "").trimEnd();

/**
 * Several panes in one list, for half the price of reading each. Clients are not listed. None, when one of them
 * is gone.
 */
export async function snapshotPanes(
  server: TmuxServer,
  paneIds: readonly string[],
): Promise<Map<string, PaneSnapshot>> {
  const border = server.uniqueWord();
  const cut = ["display-message", "-p", border];
  const list = paneIds.flatMap((id) => [showPane(id, border), cut, capturePane(id, { ansi: true }), cut]);
  const parts = await server
    .read(list)
    .then((lines) => splitAt(lines, border))
    .catch((error: unknown) => {
      if (asTielineError(error).code === "PANE_UNKNOWN") return [];
      throw error;
    });
  const snapshots = new Map<string, PaneSnapshot>();
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [pane] = parsePanes(parts[at]!, border);
    const styled = parts[at + 1]!;
    if (pane) snapshots.set(pane.id, { pane, clients: [], styled, plain: styled.map(withoutStyles) });
  }
  return snapshots;
}

/** Colours, links, and the shifts into and out of the character set of lines. */
const withoutStyles = (row: string): string => row.replaceAll(/\x1b\[[0-9;:]*m|\x1b\]8;[^\x1b]*\x1b\\|[\x0e\x0f]/g, "");

/** A user's keys go to this pane. */
export function isViewed(pane: PaneFacts, clients: readonly ClientFacts[]): boolean {
  return clients.some((client) => !client.control && !client.readOnly && client.paneId === pane.id);
}

/** A user sees this pane, perhaps beside the one that has the keys. */
export function isVisible(pane: PaneFacts, clients: readonly ClientFacts[]): boolean {
  return clients.some((client) => !client.control && client.windowId === pane.windowId);
}

/** When a key that may have gone to this pane was last pressed, in whole seconds; undefined: no client. */
export function lastKeyAt(pane: PaneFacts, clients: readonly ClientFacts[]): number | undefined {
  const times = clients.filter((client) => isViewed(pane, [client])).map((client) => client.activityAt);
  return times.length > 0 ? Math.max(...times) : undefined;
}

const words = [
  "pane_id",
  "pane_pid",
  "cursor_x",
  "cursor_y",
  "pane_width",
  "pane_height",
  "history_size",
  "window_activity",
  // Of the liveliest of the sessions that share the window.
  "session_activity",
  "pid",
  "start_time",
  "session_id",
  "window_id",
].map((name) => `#{${name}}`);

const flags = ["pane_in_mode", "alternate_on", "pane_dead", "pane_synchronized", "cursor_flag"].map(
  (name) => `#{?${name},1,0}`,
);

const texts = [
  "pane_tty",
  "pane_title",
  "session_name",
  "window_name",
  "@tieline_agent",
  "@tieline_pasted",
  "@tieline_entered",
  "@tieline_paused",
];

/**
 * Texts carry their length in bytes, because a title may hold any separator that we could choose. Command and
 * directory come from the system and may change between two readings, so each is read once and ended by the border.
 * Both may hold a slash: tmux takes only an absolute path off a command.
 */
function paneFormat(border: string): string {
  const measured = texts.map((name) => `#{n:${name}}:#{${name}}`);
  return [
    ...words,
    ...flags,
    "p#{bracket_paste_flag}",
    ...measured,
    `#{pane_current_command}${border}#{pane_current_path}${border}`,
  ].join(" ");
}

const clientFormat =
  "#{?client_control_mode,1,0} #{?client_readonly,1,0} #{client_activity} #{session_id} #{window_id} " +
  "#{pane_id} #{client_key_table} #{client_name}";

function showPane(paneId: string, border: string): string[] {
  return ["display-message", "-p", "-t", paneId, paneFormat(border)];
}

function capturePane(paneId: string, { ansi = false, history = 0 }: CaptureOptions): string[] {
  const argv = ["capture-pane", "-p", "-t", paneId];
  if (ansi) argv.push("-e");
  if (history > 0) argv.push("-S", String(-history));
  return argv;
}

function onlyPane(lines: string[], paneId: string, border: string): PaneFacts {
  const pane = parsePanes(lines, border)[0];
  if (pane?.id === paneId) return pane;
  throw new TielineError("PANE_UNKNOWN", `no pane ${paneId}`, {
    remedy: "`tieline ls` shows which panes there are",
    operands: { pane: paneId },
  });
}

function parsePanes(lines: string[], border: string): PaneFacts[] {
  const parts = lines.join("\n").split(border).slice(0, -1);
  return parts.flatMap((facts, at) =>
    at % 2 === 0 ? (parsePane(facts.replace(/^\n/, ""), parts[at + 1] ?? "") ?? []) : [],
  );
}

function parsePane(record: string, currentPath: string): PaneFacts | undefined {
  const reader = new FactReader(record);
  const [
    id = "",
    pid,
    x,
    y,
    width,
    height,
    historySize,
    activity,
    keysAt,
    serverPid,
    serverStart,
    sessionId = "",
    windowId = "",
  ] = words.map(() => reader.word());
  // Without a pane every field is empty.
  if (!id) return undefined;
  const [inMode = false, alternateOn = false, dead = false, synchronized = false, cursorVisible = true] = flags.map(
    () => reader.word() === "1",
  );
  const paste = reader.word();
  const [tty = "", title = "", sessionName = "", windowName = "", agent = "", pasted = "", entered = "", paused = ""] =
    texts.map(() => reader.text());
  return {
    id,
    pid: Number(pid),
    tty,
    currentCommand: reader.rest(),
    currentPath,
    title,
    inMode,
    cursor: { x: Number(x), y: Number(y) },
    cursorVisible,
    alternateOn,
    width: Number(width),
    height: Number(height),
    historySize: Number(historySize),
    dead,
    synchronized,
    bracketedPaste: paste === "p" ? undefined : paste === "p1",
    windowActivityAt: Number(activity) * 1000,
    keysAt: Number(keysAt) * 1000,
    serverPid: Number(serverPid),
    serverStartedAt: Number(serverStart) * 1000,
    sessionId,
    sessionName,
    windowId,
    windowName,
    agent,
    pasted,
    entered,
    paused,
  };
}

/** Reads `word word length:text length:text rest`; a text may hold spaces and line breaks. */
class FactReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(record: string) {
    this.#bytes = Buffer.from(record);
  }

  word(): string {
    return this.#until(0x20);
  }

  text(): string {
    const length = Number(this.#until(0x3a));
    const text = this.#bytes.toString("utf8", this.#at, this.#at + length);
    this.#at += length + 1;
    return text;
  }

  rest(): string {
    return this.#bytes.toString("utf8", this.#at);
  }

  #until(stop: number): string {
    const found = this.#bytes.indexOf(stop, this.#at);
    const end = found < 0 ? this.#bytes.length : found;
    const text = this.#bytes.toString("utf8", this.#at, end);
    this.#at = end + 1;
    return text;
  }
}

function parseClients(lines: string[]): ClientFacts[] {
  return lines.filter(Boolean).map((line) => {
    const [control, readOnly, activity, sessionId = "", windowId = "", paneId = "", keyTable = "", ...name] =
      line.split(" ");
    const activityAt = Number(activity) * 1000;
    return {
      control: control === "1",
      readOnly: readOnly === "1",
      activityAt,
      sessionId,
      windowId,
      paneId,
      keyTable,
      name: name.join(" "),
    };
  });
}

function splitAt(lines: string[], border: string): string[][] {
  const parts: string[][] = [[]];
  for (const line of lines) {
    if (line === border) parts.push([]);
    else parts.at(-1)?.push(line);
  }
  return parts;
}
