/**
 * A program that looks and behaves like an agent, under a test's control: a composer in a frame, dialogs that take the
 * keys, bracketed paste. It writes down every key, every input that was submitted, every key that would have answered a
 * dialog and every paste that a dialog swallowed. `bun scriptedAgent.ts <directory>`
 */
import { appendFileSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";

export const scriptedStates = ["idle", "working", "permission", "question", "dialog", "limited"] as const;
export type ScriptedState = (typeof scriptedStates)[number];

/** What a test may say to it. */
export interface Script {
  readonly state?: ScriptedState;
  /** The text in the composer. */
  readonly draft?: string;
  /** What it proposes in an empty composer; Enter alone would take it. */
  readonly suggestion?: string;
  /** So many of the next Enters do nothing. */
  readonly swallowEnters?: number;
  /** So many of the next pastes do nothing. */
  readonly swallowPastes?: number;
  /** Dialogs stay, whatever is answered. */
  readonly deaf?: boolean;
  /** Keys do nothing for so long after a dialog appears. */
  readonly deafMs?: number;
  /** The title, and a bullet above an open dialog, blink. */
  readonly blinks?: boolean;
  /** What is typed shows this much later. */
  readonly echoDelayMs?: number;
  /** The next paste makes this state come up before the paste is read, as a dialog that opens at the same moment. */
  readonly onPaste?: ScriptedState;
  /** A program that asks for no bracketed paste. */
  readonly bracketedPaste?: boolean;
}

export type LogEntry =
  | { readonly submitted: string; readonly state: ScriptedState }
  | { readonly answered: string; readonly state: ScriptedState }
  | { readonly swallowedPaste: string; readonly state: ScriptedState };

/** Under the name of a real program, because the pane's command is part of its identity. */
export function scriptedAgentCommand(dir: string): string[] {
  const program = join(dir, "claude");
  if (!existsSync(program)) symlinkSync(process.execPath, program);
  return [program, import.meta.path, dir];
}

export function logOf(dir: string): LogEntry[] {
  const file = join(dir, "log.jsonl");
  return existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as LogEntry)
    : [];
}

export const submittedTo = (dir: string): string[] =>
  logOf(dir).flatMap((entry) => ("submitted" in entry ? [entry.submitted] : []));

/** Every key that it was given, one behind the other; what is pasted is none. */
export const keysTypedTo = (dir: string): string =>
  existsSync(join(dir, "keys")) ? readFileSync(join(dir, "keys"), "utf8") : "";

/** Says it, and resolves when the screen was drawn. */
export async function direct(dir: string, script: Script): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect(join(dir, "control"), () => socket.write(`${JSON.stringify(script)}\n`));
  socket.on("data", () => resolve());
  socket.on("error", reject);
  await promise.finally(() => socket.destroy());
}

export const isListening = (dir: string): boolean => existsSync(join(dir, "listening"));

function run(dir: string): void {
  let state: ScriptedState = "idle";
  /**
   * Who gets the keys. A dialog listens once the terminal shows it, which the terminal's answer to a question about its
   * cursor tells: keys that were typed earlier come before that answer. It stops listening before it is cleared.
   */
  let keysFor: ScriptedState = "idle";
  let onShown: () => void = () => undefined;
  let composer = "";
  let suggestion = "";
  let swallow = 0;
  let swallowPastes = 0;
  let deaf = false;
  let deafMs = 0;
  let openedAt = 0;
  /** null: nothing blinks. */
  let lit: boolean | null = null;
  let blinking: ReturnType<typeof setInterval> | undefined;
  let echoDelayMs = 0;
  let onPaste: ScriptedState | null = null;
  const transcript: string[] = [];
  const decoder = new TextDecoder();
  let unread = "";
  let paste: string | null = null;

  const log = (entry: LogEntry): void => appendFileSync(join(dir, "log.jsonl"), `${JSON.stringify(entry)}\n`);
  const isOpen = (which: ScriptedState): boolean => which !== "idle" && which !== "working";

  process.stdin.setRawMode(true);
  process.stdin.on("data", (bytes) => {
    unread = read(unread + decoder.decode(bytes as Uint8Array<ArrayBuffer>, { stream: true }));
    show();
  });
  process.stdout.on("resize", draw);
  process.stdout.write("\x1b[?1049h\x1b[?2004h");
  draw();
  createServer((socket) => {
    socket.on("data", (line) => {
      obey(JSON.parse(String(line)) as Script);
      if (!isOpen(state)) keysFor = state;
      draw();
      onShown = () => socket.write("ok\n");
      process.stdout.write("\x1b[6n");
    });
    socket.on("error", () => undefined);
  }).listen(join(dir, "control"), () => writeFileSync(join(dir, "listening"), ""));

  function obey(script: Script): void {
    state = script.state ?? state;
    composer = script.draft ?? composer;
    suggestion = script.suggestion ?? suggestion;
    swallow = script.swallowEnters ?? swallow;
    swallowPastes = script.swallowPastes ?? swallowPastes;
    deaf = script.deaf ?? deaf;
    deafMs = script.deafMs ?? deafMs;
    if (script.blinks !== undefined) blink(script.blinks);
    echoDelayMs = script.echoDelayMs ?? echoDelayMs;
    onPaste = script.onPaste ?? onPaste;
    if (script.bracketedPaste !== undefined)
      process.stdout.write(script.bracketedPaste ? "\x1b[?2004h" : "\x1b[?2004l");
  }

  function blink(on: boolean): void {
    clearInterval(blinking);
    lit = on || null;
    if (!on) return;
    blinking = setInterval(() => {
      lit = !lit;
      draw();
    }, 100);
  }

  /** Takes whole keys and whole pastes; the rest waits for more. */
  function read(input: string): string {
    let rest = input;
    while (rest !== "") {
      if (paste !== null) {
        const end = rest.indexOf("\x1b[201~");
        if (end < 0) return rest;
        takePaste(rest.slice(0, end));
        paste = null;
        rest = rest.slice(end + 6);
      } else if (rest.startsWith("\x1b[200~")) {
        paste = "";
        rest = rest.slice(6);
      } else if (/^\x1b(\[[0-9;]*)?$/.test(rest)) {
        return rest;
      } else {
        const [key = ""] = /^\x1b\[[0-9;]*[A-Za-z~]|^./su.exec(rest) ?? [];
        if (/^\x1b\[\d+;\d+R$/.test(key)) shown();
        else takeKey(key);
        rest = rest.slice(key.length);
      }
    }
    return "";
  }

  function shown(): void {
    if (keysFor !== state) openedAt = performance.now();
    keysFor = state;
    onShown();
  }

  function takePaste(text: string): void {
    if (onPaste !== null) [state, keysFor, onPaste] = [onPaste, onPaste, null];
    if (isOpen(keysFor) || swallowPastes-- > 0) log({ swallowedPaste: text, state: keysFor });
    else composer += text.replaceAll("\r", "\n");
  }

  function takeKey(key: string): void {
    appendFileSync(join(dir, "keys"), key);
    if (isOpen(keysFor)) return answer(key);
    if (key === "\r") return submit();
    if (key === "\x7f" || key === "\b") composer = [...composer].slice(0, -1).join("");
    else if (key >= " " || key === "\n") composer += key;
  }

  function answer(key: string): void {
    log({ answered: key, state: keysFor });
    if (!deaf && performance.now() - openedAt >= deafMs && /^[1-9\r]$/.test(key)) state = keysFor = "idle";
  }

  function submit(): void {
    if (swallow > 0) return void swallow--;
    composer ||= suggestion;
    if (composer === "") return;
    log({ submitted: composer, state });
    transcript.push(composer.split("\n")[0]!);
    composer = "";
  }

  function show(): void {
    if (echoDelayMs === 0) draw();
    else setTimeout(draw, echoDelayMs);
  }

  function draw(): void {
    const width = process.stdout.columns || 80;
    const height = process.stdout.rows || 24;
    const { rows, cursor } = isOpen(state) ? dialog(state, lit) : composerRows(composer, suggestion, state, width);
    const above = transcript.slice(-3).map((line) => `> ${line}`.slice(0, width - 1));
    const room = Math.max(0, height - rows.length);
    const lines = [
      ...above.slice(-room),
      ...Array.from({ length: Math.max(0, room - above.length) }, () => ""),
      ...rows,
    ];
    const shown = lines.slice(-height);
    const y = cursor.y + (lines.length - rows.length) - (lines.length - shown.length);
    const title = `${state === "working" ? "⠂" : "✳"} Scripted${lit ? " !" : ""}`;
    const body = shown.map((line) => `\x1b[0m${line}\x1b[0m\x1b[K`).join("\r\n");
    // One write, so that no reader sees half a screen.
    process.stdout.write(`\x1b]2;${title}\x07\x1b[H${body}\x1b[J\x1b[${y + 1};${cursor.x + 1}H`);
  }
}

interface Drawn {
  readonly rows: string[];
  readonly cursor: { x: number; y: number };
}

const grey = (text: string): string => `\x1b[38;5;244m${text}\x1b[39m`;
const blue = (text: string): string => `\x1b[38;5;153m${text}\x1b[39m`;

function composerRows(text: string, suggestion: string, state: ScriptedState, width: number): Drawn {
  const inner = width - 3;
  const wrapped = text
    .replaceAll("\t", "    ")
    .split("\n")
    .flatMap((line) => wrap(line, inner));
  const border = grey("─".repeat(width));
  const above = state === "working" ? [blue("✻ Thinking… (3s · esc to interrupt)"), ""] : [""];
  const typed = wrapped.map((line, index) => (index === 0 ? `❯\u00a0${line}` : `  ${line}`));
  if (text === "" && suggestion !== "") typed[0] += `\x1b[7m${suggestion[0]}\x1b[0;2m${suggestion.slice(1)}\x1b[0m`;
  const rows = [...above, border, ...typed, border, grey("  ? for shortcuts")];
  return {
    rows,
    cursor: { x: Math.min(2 + Bun.stringWidth(wrapped.at(-1)!), width - 1), y: above.length + wrapped.length },
  };
}

function wrap(line: string, width: number): string[] {
  const rows = [""];
  for (const { segment } of new Intl.Segmenter().segment(line)) {
    if (Bun.stringWidth(rows.at(-1)! + segment) > width) rows.push("");
    rows[rows.length - 1] += segment;
  }
  return rows;
}

function dialog(state: ScriptedState, lit: boolean | null): Drawn {
  const choice = (text: string): string => ` ${blue("❯")} ${text}`;
  const menus: Record<string, string[]> = {
    permission: [
      " Bash command",
      "",
      "   rm -rf build",
      "",
      " Do you want to proceed?",
      choice("1. Yes"),
      "   2. No",
      "",
      grey(" Esc to cancel · Tab to amend"),
    ],
    question: [" Which colour?", "", choice("1. Red"), "   2. Green", "", grey("Enter to select · Esc to cancel")],
    dialog: [" Choose a model", "", choice("1. Large"), "   2. Small", "", grey(" Enter to confirm · Esc to cancel")],
    limited: [
      " You have reached your limit",
      "",
      choice("1. Stop and wait for the limit to reset"),
      "   2. Upgrade",
      "",
      grey(" Enter to confirm · Esc to cancel"),
    ],
  };
  const call = lit === null ? [] : [`${lit ? "●" : " "} Scripted call`, ""];
  const rows = [...call, ...(menus[state] ?? [])];
  return { rows, cursor: { x: 1, y: rows.findIndex((row) => row.includes("❯")) } };
}

if (import.meta.main) run(process.argv[2]!);
