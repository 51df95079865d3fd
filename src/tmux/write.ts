import { asTielineError } from "../model/errors.ts";
import { beginPause, type KeyPause } from "./pauseKeys.ts";
import { quote } from "./quote.ts";
import type { TmuxServer } from "./server.ts";

/**
 * The primitives that write into a pane. Each is one command list, which tmux runs without letting anything between:
 * the guards are compared in the same breath as the write. The marks are pane options, so they live exactly as long
 * as the pane and tell after a crash of ours how far a write came.
 */
export interface GuardedWrite {
  pane: string;
  /** The pane's own process: a pane id alone may belong to another program after a restart of the server. */
  panePid: number;
  guards?: Guards;
}

/** What must still be as it was seen. In a mode, dead, or synchronized with other panes, nothing is ever written. */
export interface Guards {
  serverPid?: number;
  title?: string;
  cursor?: { x: number; y: number };
  command?: string;
  /** A key that was pressed since then may be on its way to the program, and shows nowhere yet. */
  keysAt?: number;
  /** The mark of the last paste as it was seen: another one since then may still be in the composer. */
  pasted?: string;
  /** The pause of the users' keys that lasts. */
  paused?: string;
}

export type GuardName =
  | "pane"
  | "panePid"
  | "dead"
  | "inMode"
  | "synchronized"
  | "inputOff"
  | "serverPid"
  | "title"
  | "cursor"
  | "command"
  | "keys"
  | "pasted"
  | "paused";

export type Written = { done: true } | { done: false; failed: GuardName[] };

export interface Marks {
  pasted: string;
  entered: string;
}

export interface PasteWrite extends GuardedWrite {
  text: string;
  mark: string;
  bracketed?: boolean;
  /** Keys of the users who have the pane open wait from the paste on, until `endPause`. */
  pause?: KeyPause | null;
}

/**
 * Pastes as one bracketed paste, where the program asked for that, and marks the pane. `text` must not be empty, and
 * with `bracketed` it must not hold an escape: a program that has yet to ask, and would take a paste for keys until
 * then, is given the brackets as well.
 */
export async function pasteGuarded(
  server: TmuxServer,
  { text, mark, bracketed = false, pause = null, ...write }: PasteWrite,
): Promise<Written> {
  // A name of its own for each paste: parallel ones never mix, and the user's buffers are not touched.
  const buffer = `tieline-${server.uniqueWord()}`;
  const target = `-t ${write.pane}`;
  let settled = false;
  try {
    const written = await guarded(server, write, {
      before: [`set-buffer -b ${buffer} -- ${quote(bracketed ? `\x1b[200~${text}\x1b[201~` : text)}`],
      // -r: newlines stay newlines. -p: bracketed. -d: the buffer goes with the paste.
      whenTrue: [
        `paste-buffer ${bracketed ? "" : "-p"} -r -d -b ${buffer} ${target}`,
        `set-option -p ${target} @tieline_pasted ${quote(mark)}`,
        ...(pause ? beginPause(pause, server) : []),
      ],
      whenFalse: [`delete-buffer -b ${buffer}`],
    });
    settled = written.done || !written.failed.includes("pane");
    return written;
  } finally {
    // A list that broke off may have left its buffer; that there is none is the expected answer.
    if (!settled) await server.run(`delete-buffer -b ${buffer}`).catch(() => undefined);
  }
}

export function enterGuarded(
  server: TmuxServer,
  { mark, ...write }: GuardedWrite & { mark: string },
): Promise<Written> {
  const target = `-t ${write.pane}`;
  return guarded(server, write, {
    whenTrue: [`send-keys ${target} Enter`, `set-option -p ${target} @tieline_entered ${quote(mark)}`],
  });
}

/** Presses keys, by tmux's names for them, one after the other. */
export function pressGuarded(
  server: TmuxServer,
  { keys, ...write }: GuardedWrite & { keys: readonly string[] },
): Promise<Written> {
  return guarded(server, write, { whenTrue: [`send-keys -t ${write.pane} ${keys.map(quote).join(" ")}`] });
}

/** Types words as a user would, key by key, for programs that take a paste for plain text. */
export function typeGuarded(
  server: TmuxServer,
  { words, ...write }: GuardedWrite & { words: string },
): Promise<Written> {
  return guarded(server, write, { whenTrue: [`send-keys -l -t ${write.pane} -- ${quote(words)}`] });
}

/** Types what a keyboard sent: text, and control characters as the keys that they are. */
export function typeKeysGuarded(
  server: TmuxServer,
  { keys, ...write }: GuardedWrite & { keys: string },
): Promise<Written> {
  const runs = keys.match(/[\x00-\x1f\x7f]+|[^\x00-\x1f\x7f]+/g) ?? [];
  const hex = (run: string): string => [...run].map((key) => key.charCodeAt(0).toString(16)).join(" ");
  const typed = runs.map((run) =>
    run >= " " && run !== "\x7f"
      ? `send-keys -l -t ${write.pane} -- ${quote(run)}`
      : `send-keys -H -t ${write.pane} ${hex(run)}`,
  );
  return guarded(server, write, { whenTrue: typed });
}

/** Ends copy mode and every other mode of the pane. Done as well when there was none. */
export function leaveMode(server: TmuxServer, { pane, panePid }: GuardedWrite): Promise<Written> {
  return compareAndRun(server, pane, [{ name: "panePid", format: "#{pane_pid}", expected: String(panePid) }], {
    whenTrue: [`copy-mode -q -t ${pane}`],
  });
}

export async function readMarks(server: TmuxServer, pane: string): Promise<Marks> {
  const show = (option: string) => `show-options -p -q -v -t ${pane} ${option}`;
  const border = server.uniqueWord();
  const lines = await server.read(
    `${show("@tieline_pasted")} ; display-message -p ${border} ; ${show("@tieline_entered")}`,
  );
  const at = lines.indexOf(border);
  return { pasted: lines.slice(0, at).join("\n"), entered: lines.slice(at + 1).join("\n") };
}

export async function clearMarks(server: TmuxServer, pane: string): Promise<void> {
  await server.run(`set-option -p -u -t ${pane} @tieline_pasted ; set-option -p -u -t ${pane} @tieline_entered`);
}

interface Comparison {
  name: GuardName;
  format: string;
  expected: string;
}

interface Steps {
  before?: string[];
  whenTrue: string[];
  whenFalse?: string[];
}

function guarded(server: TmuxServer, { pane, panePid, guards = {} }: GuardedWrite, steps: Steps): Promise<Written> {
  const flag = (name: GuardName, format: string): Comparison => ({ name, format: `#{?${format},1,0}`, expected: "0" });
  const comparisons: Comparison[] = [
    { name: "panePid", format: "#{pane_pid}", expected: String(panePid) },
    flag("dead", "pane_dead"),
    flag("inMode", "pane_in_mode"),
    flag("synchronized", "pane_synchronized"),
    flag("inputOff", "pane_input_off"),
  ];
  const { serverPid, cursor, title, command, keysAt, pasted, paused } = guards;
  if (serverPid !== undefined) comparisons.push({ name: "serverPid", format: "#{pid}", expected: String(serverPid) });
  if (cursor)
    comparisons.push({ name: "cursor", format: "#{cursor_x};#{cursor_y}", expected: `${cursor.x};${cursor.y}` });
  if (title !== undefined) comparisons.push({ name: "title", format: "#{pane_title}", expected: title });
  // A name that is no text reaches us with other bytes than tmux has; the process ids tell the program apart as well.
  if (command !== undefined && !command.includes("\ufffd"))
    comparisons.push({ name: "command", format: "#{pane_current_command}", expected: command });
  if (keysAt !== undefined)
    comparisons.push({ name: "keys", format: "#{session_activity}", expected: String(keysAt / 1000) });
  if (pasted !== undefined) comparisons.push({ name: "pasted", format: "#{@tieline_pasted}", expected: pasted });
  if (paused !== undefined) comparisons.push({ name: "paused", format: "#{@tieline_paused}", expected: paused });
  return compareAndRun(server, pane, comparisons, steps);
}

/**
 * The expected values travel in a pane option and are compared as one text. Written into the format itself they
 * would need escaping that differs between tmux versions (`,` `}` `#[` in a title); an option's value is never parsed.
 */
async function compareAndRun(
  server: TmuxServer,
  pane: string,
  comparisons: Comparison[],
  steps: Steps,
): Promise<Written> {
  const actual = comparisons.map(({ format }) => format).join("\n");
  const expected = comparisons.map((comparison) => comparison.expected).join("\n");
  const whenTrue = [...steps.whenTrue, `display-message -p ${done}`];
  const whenFalse = [...(steps.whenFalse ?? []), `display-message -p -t ${pane} ${quote(actual)}`];
  const list = [
    `set-option -p -t ${pane} @tieline_expect ${quote(expected)}`,
    ...(steps.before ?? []),
    `if -F -t ${pane} ${quote(`#{==:${actual},#{@tieline_expect}}`)} { ${whenTrue.join(" ; ")} } { ` +
      `${whenFalse.join(" ; ")} }`,
    `set-option -p -u -t ${pane} @tieline_expect`,
  ];
  try {
    const lines = await server.run(list.join(" ; "));
    return lines[0] === done ? { done: true } : { done: false, failed: differing(comparisons, lines) };
  } catch (error) {
    if (asTielineError(error).code !== "PANE_UNKNOWN") throw error;
    return { done: false, failed: ["pane"] };
  }
}

const done = "tieline-done";

function differing(comparisons: Comparison[], actual: string[]): GuardName[] {
  return comparisons.filter(({ expected }, at) => actual[at] !== expected).map(({ name }) => name);
}
