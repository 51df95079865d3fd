/**
 * A tmux server in memory. It runs whole command lists without letting anything between, as the real one does, prints
 * what the real one prints, and knows nothing of Tieline. Panes hold simulated programs.
 */
import type { SimulatedProgram } from "../program.ts";
import { Flags } from "./flags.ts";
import { Formats, height, width } from "./formats.ts";
import { Keys } from "./keys.ts";
import { parseCommands, TmuxReadings, type Command } from "./language.ts";
import {
  CommandFailure,
  type SimulatedClient,
  type SimulatedPane,
  type SimulatedSession,
  type SimulatedTmuxOptions,
  type SimulatedWindow,
} from "./state.ts";

export class SimulatedTmux {
  readonly startedAt: number;
  readonly sessions = new Map<string, SimulatedSession>();
  readonly panes = new Map<string, SimulatedPane>();
  readonly clients: SimulatedClient[] = [];
  readonly #formats = new Formats(this);
  readonly #keys = new Keys({
    clients: this.clients,
    deliver: (paneId, key) => this.#deliverKey(paneId, key),
    run: (command) => this.#command(command),
  });
  readonly #buffers = new Map<string, string>();
  #lastId = { session: -1, window: -1, pane: -1 };
  readonly #readings: TmuxReadings;
  alive = true;

  constructor(readonly options: SimulatedTmuxOptions) {
    this.#readings = options.readings ?? new TmuxReadings();
    this.startedAt = this.#second();
  }

  get pid(): number {
    return this.options.pid;
  }

  /** A session with one window and one pane, as `new-session` makes it. */
  addSession(name: string, program: SimulatedProgram | null): SimulatedPane {
    const session: SimulatedSession = {
      id: `$${++this.#lastId.session}`,
      name,
      activityAt: this.#second(),
      windows: [],
    };
    this.sessions.set(session.id, session);
    return this.addWindow(session.id, name, program);
  }

  addWindow(sessionId: string, name: string, program: SimulatedProgram | null): SimulatedPane {
    const session = this.sessions.get(sessionId)!;
    const window: SimulatedWindow = { id: `@${++this.#lastId.window}`, name, synchronized: false };
    session.windows.push(window);
    const pane: SimulatedPane = {
      id: `%${++this.#lastId.pane}`,
      windowId: window.id,
      sessionId,
      pid: this.options.nextPid(),
      program,
      inMode: false,
      inputOff: false,
      historySize: 0,
      activityAt: this.#second(),
      options: new Map(),
    };
    this.panes.set(pane.id, pane);
    this.options.notify?.({ type: "layout", window: window.id });
    return pane;
  }

  /** By `=name`; null: there is none. */
  sessionCalled(target: string): SimulatedSession | null {
    for (const session of this.sessions.values()) if (`=${session.name}` === target) return session;
    return null;
  }

  /** The program in the pane printed something. */
  printed(paneId: string, text = " "): void {
    const pane = this.panes.get(paneId);
    if (pane === undefined) return;
    pane.activityAt = this.#second();
    this.options.notify?.({ type: "output", pane: paneId, text });
  }

  removePane(paneId: string): void {
    const pane = this.panes.get(paneId);
    if (pane === undefined) return;
    this.panes.delete(paneId);
    const session = this.sessions.get(pane.sessionId)!;
    const at = session.windows.findIndex(({ id }) => id === pane.windowId);
    if (![...this.panes.values()].some(({ windowId }) => windowId === pane.windowId)) session.windows.splice(at, 1);
    if (session.windows.length === 0) this.sessions.delete(session.id);
    if (this.sessions.size === 0) this.alive = false;
    this.options.notify?.({ type: "layout", window: pane.windowId });
  }

  /** A user opens this pane at a terminal. */
  attach(paneId: string): SimulatedClient {
    const { sessionId } = this.paneOf(paneId);
    const client: SimulatedClient = {
      name: `/dev/pts/${100 + this.clients.length}`,
      control: false,
      readOnly: false,
      activityAt: this.#second(),
      sessionId,
      paneId,
      keyTable: "root",
      waiting: [],
      blocked: false,
    };
    this.clients.push(client);
    this.sessions.get(sessionId)!.activityAt = client.activityAt;
    this.options.notify?.({ type: "clients" });
    return client;
  }

  detach(client: SimulatedClient): void {
    const at = this.clients.indexOf(client);
    if (at >= 0) this.clients.splice(at, 1);
    this.options.notify?.({ type: "clients" });
  }

  /** A key that a user presses at a terminal. It waits while the key table of the client makes it wait. */
  pressKey(client: SimulatedClient, key: string): void {
    client.activityAt = this.#second();
    const session = this.sessions.get(client.sessionId);
    if (session) session.activityAt = client.activityAt;
    this.#keys.press(client, key);
  }

  /** Runs one line; answers with what it prints. Throws CommandFailure at the first command that fails. */
  run(line: string): string[] {
    if (!this.alive) throw new CommandFailure(`no server running on ${this.options.socketPath}`);
    let commands: Command[];
    try {
      commands = this.#readings.lines.of(line);
    } catch (thrown) {
      throw new CommandFailure((thrown as Error).message);
    }
    return commands.flatMap((command) => this.#command(command));
  }

  #deliverKey(paneId: string, key: string): void {
    const pane = this.panes.get(paneId);
    if (pane === undefined || pane.program === null || pane.inputOff) return;
    if (pane.inMode) {
      if (key === "q" || key === "Escape") this.#setMode(pane, false);
      return;
    }
    if (key.length === 1) pane.program.type(key, "user");
    else pane.program.key(key, "user");
  }

  #command([name = "", ...rest]: Command): string[] {
    const flags = new Flags(name, rest);
    switch (name) {
      case "display-message":
        return [this.#readings.formats.of(flags.words[0] ?? "")(this.#formats.of(flags.get("t"), true))].flatMap(
          (text) => text.split("\n"),
        );
      case "list-sessions":
        return [...this.sessions.values()].map((session) =>
          this.#readings.formats.of(flags.get("F") ?? "")(this.#formats.session(session)),
        );
      case "list-windows": {
        const session = this.#session(flags.get("t"));
        return session.windows.map((window) =>
          this.#readings.formats.of(flags.get("F") ?? "")(this.#formats.window(session, window)),
        );
      }
      case "list-panes":
        return this.#listed(flags).map((pane) =>
          this.#readings.formats.of(flags.get("F") ?? "")(this.#formats.pane(pane)),
        );
      case "list-clients":
        return this.clients.map((client) =>
          this.#readings.formats.of(flags.get("F") ?? "")(this.#formats.client(client)),
        );
      case "capture-pane":
        return this.#capture(this.paneOf(flags.get("t")), flags.has("e"));
      case "set-buffer":
        this.#buffers.set(flags.get("b") ?? "buffer0", flags.words[0] ?? "");
        return [];
      case "delete-buffer":
        if (!this.#buffers.delete(flags.get("b") ?? "")) throw new CommandFailure(`unknown buffer: ${flags.get("b")}`);
        return [];
      case "paste-buffer":
        return this.#paste(flags);
      case "send-keys":
        return this.#sendKeys(flags);
      case "set-option":
        return this.#setOption(flags);
      case "show-options":
        return this.#showOption(flags);
      case "copy-mode":
        this.#setMode(this.paneOf(flags.get("t")), !flags.has("q"));
        return [];
      case "if":
      case "if-shell":
        return this.#ifShell(flags);
      case "bind-key":
        return this.#keys.bind(flags);
      case "unbind-key":
        return this.#keys.unbind(flags);
      case "list-keys":
        return this.#keys.listKeys(flags.get("T") ?? "root");
      case "wait-for":
        return this.#keys.waitFor(flags);
      case "switch-client":
        return this.#switchClient(flags);
      case "kill-pane":
        this.removePane(this.paneOf(flags.get("t")).id);
        return [];
      case "new-window":
      case "new-session":
        return this.#open(name, flags);
      case "respawn-pane":
        return this.#respawn(flags);
      case "rename-window":
        this.#window(flags.get("t")).name = flags.words[0] ?? "";
        return [];
      case "run-shell":
        this.options.after?.(1_000 * Number(flags.get("d") ?? 0), () => this.#runShell(flags.words[0] ?? ""));
        return [];
      case "refresh-client":
      case "set-environment":
      case "select-window":
        return [];
      default:
        throw new CommandFailure(`unknown command: ${name}`);
    }
  }

  #listed(flags: Flags): SimulatedPane[] {
    const all = [...this.panes.values()];
    if (flags.has("a")) return all;
    const session = this.#session(flags.get("t"));
    return all.filter(({ sessionId }) => sessionId === session.id);
  }

  #capture(pane: SimulatedPane, styled: boolean): string[] {
    const rows = pane.program?.screen(width, height).rows ?? [];
    const shown = [...rows, ...Array.from({ length: height }, () => "")].slice(0, height);
    return styled ? shown : shown.map((row) => row.replaceAll(/\x1b\[[0-9;:]*m/g, ""));
  }

  #paste(flags: Flags): string[] {
    const name = flags.get("b") ?? "";
    const text = this.#buffers.get(name);
    if (text === undefined) throw new CommandFailure(`no buffer ${name}`);
    const pane = this.paneOf(flags.get("t"));
    if (flags.has("d")) this.#buffers.delete(name);
    if (pane.program === null) throw new CommandFailure("target pane has exited");
    if (pane.inMode) this.options.onModeWrite?.(pane.id);
    const marked = /^\x1b\[200~([^]*)\x1b\[201~$/.exec(text);
    const bracketed =
      (flags.has("p") && pane.program.bracketedPaste) || (marked !== null && pane.program.bracketedPaste);
    pane.program.paste(marked?.[1] ?? text, bracketed);
    return [];
  }

  #sendKeys(flags: Flags): string[] {
    const pane = this.paneOf(flags.get("t"));
    const { program } = pane;
    if (program === null) return [];
    if (pane.inMode) this.options.onModeWrite?.(pane.id);
    if (flags.has("l")) program.type(flags.words.join(""), "command");
    else if (flags.has("H"))
      for (const code of flags.words) program.key(keyOfCode(Number.parseInt(code, 16)), "command");
    else
      for (const key of flags.words) {
        if (key.length === 1) program.type(key, "command");
        else program.key(key, "command");
      }
    return [];
  }

  #setOption(flags: Flags): string[] {
    const [name = "", value = ""] = flags.words;
    if (!flags.has("p")) return [];
    const { options } = this.paneOf(flags.get("t"));
    if (flags.has("u")) options.delete(name);
    else options.set(name, value);
    return [];
  }

  #showOption(flags: Flags): string[] {
    const value = this.paneOf(flags.get("t")).options.get(flags.words[0] ?? "");
    return value === undefined ? [] : value.split("\n");
  }

  #ifShell(flags: Flags): string[] {
    const [condition = "", yes = "", no = ""] = flags.words;
    if (!flags.has("F")) throw new CommandFailure("only if-shell -F is simulated");
    const answer = this.#readings.formats.of(condition)(this.#formats.of(flags.get("t"), false));
    return parseCommands(answer !== "" && answer !== "0" ? yes : no).flatMap((command) => this.#command(command));
  }

  /** Only what Tieline runs there: tmux itself, with its output thrown away. */
  #runShell(text: string): void {
    const words = shellWords(text.replaceAll("##", "#").replace(/ >\/dev\/null.*$/, ""));
    try {
      if (this.alive) this.#command(words.slice(words.indexOf("-S") + 2));
    } catch (thrown) {
      if (!(thrown instanceof CommandFailure)) throw thrown;
    }
  }

  #switchClient(flags: Flags): string[] {
    const client = this.clients.find(({ name }) => name === flags.get("c"));
    if (client === undefined) throw new CommandFailure(`can't find client: ${flags.get("c")}`);
    const table = flags.get("T");
    if (table !== undefined) client.keyTable = table;
    return [];
  }

  #open(name: string, flags: Flags): string[] {
    const pane =
      name === "new-session"
        ? this.addSession(flags.get("s") ?? "0", null)
        : this.addWindow(this.#session(flags.get("t")).id, flags.get("n") ?? "", null);
    pane.program = this.options.launch(flags.words, pane.id);
    return flags.has("P") ? [this.#readings.formats.of(flags.get("F") ?? "")(this.#formats.pane(pane))] : [];
  }

  #respawn(flags: Flags): string[] {
    const pane = this.paneOf(flags.get("t"));
    pane.pid = this.options.nextPid();
    pane.inMode = false;
    pane.program = this.options.launch(flags.words, pane.id);
    return [];
  }

  #setMode(pane: SimulatedPane, inMode: boolean): void {
    if (pane.inMode === inMode) return;
    pane.inMode = inMode;
    this.options.notify?.({ type: "mode", pane: pane.id });
  }

  paneOf(target: string | undefined): SimulatedPane {
    const found = target?.startsWith("%") ? this.panes.get(target) : this.#lastPaneOf(target);
    if (found === undefined) throw new CommandFailure(`can't find pane: ${target}`);
    return found;
  }

  #lastPaneOf(target: string | undefined): SimulatedPane | undefined {
    const session = this.#session(target);
    return [...this.panes.values()].findLast(({ sessionId }) => sessionId === session.id);
  }

  #window(target: string | undefined): SimulatedWindow {
    for (const { windows } of this.sessions.values())
      for (const window of windows) if (window.id === target) return window;
    throw new CommandFailure(`can't find window: ${target}`);
  }

  #session(target: string | undefined): SimulatedSession {
    const name = target?.replace(/^=/, "").replace(/:.*$/, "");
    for (const session of this.sessions.values())
      if (name === undefined || session.name === name || session.id === name) return session;
    throw new CommandFailure(`can't find session: ${name}`);
  }

  #second(): number {
    return Math.floor(this.options.now() / 1000);
  }
}

const keyOfCode = (code: number): string =>
  code === 13 ? "Enter" : code === 27 ? "Escape" : code === 127 ? "BSpace" : String.fromCharCode(code);

const shellWords = (text: string): string[] =>
  [...text.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(([, quoted, bare]) => quoted?.replaceAll(`'\\''`, "'") ?? bare!);
