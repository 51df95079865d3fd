/** What tmux's formats tell about a server, a session, a window, a pane and a client. */
import type { FormatScope } from "./language.ts";
import type { SimulatedClient, SimulatedPane, SimulatedSession, SimulatedWindow } from "./state.ts";

export const width = 200;
export const height = 50;

export interface FormatState {
  readonly pid: number;
  readonly startedAt: number;
  readonly panes: ReadonlyMap<string, SimulatedPane>;
  readonly sessions: ReadonlyMap<string, SimulatedSession>;
  /** Throws where there is none. */
  paneOf(target: string | undefined): SimulatedPane;
}

export class Formats {
  constructor(private readonly state: FormatState) {}

  /** A message without a target, or with one that is gone, expands with empty values. */
  of(target: string | undefined, lenient: boolean): FormatScope {
    if (target === undefined) return this.server();
    const pane = this.state.panes.get(target);
    if (pane !== undefined) return this.pane(pane);
    if (lenient && target.startsWith("%")) return { value: () => "", panes: () => [] };
    return this.pane(this.state.paneOf(target));
  }

  server(): FormatScope {
    const facts: Record<string, string> = { pid: String(this.state.pid), start_time: String(this.state.startedAt) };
    return { value: (name) => facts[name] ?? "", panes: () => [] };
  }

  session({ id, name, activityAt }: SimulatedSession): FormatScope {
    const facts: Record<string, string> = {
      session_id: id,
      session_name: name,
      session_activity: String(activityAt),
      "destroy-unattached": "off",
    };
    return { value: (key) => facts[key] ?? this.server().value(key), panes: () => [] };
  }

  window(session: SimulatedSession, { id, name }: SimulatedWindow): FormatScope {
    const facts: Record<string, string> = { window_id: id, window_name: name };
    const panes = [...this.state.panes.values()].filter(({ windowId }) => windowId === id);
    return {
      value: (key) => facts[key] ?? this.session(session).value(key),
      panes: () => panes.map((pane) => this.pane(pane)),
    };
  }

  pane(pane: SimulatedPane): FormatScope {
    const session = this.state.sessions.get(pane.sessionId)!;
    const window = session.windows.find(({ id }) => id === pane.windowId)!;
    const inWindow = this.window(session, window);
    return {
      value: (name) =>
        name.startsWith("@")
          ? (pane.options.get(name) ?? "")
          : (this.#fact(pane, window, name) ?? inWindow.value(name)),
      panes: inWindow.panes,
    };
  }

  #fact(pane: SimulatedPane, window: SimulatedWindow, name: string): string | undefined {
    const { program } = pane;
    const flag = (on: boolean): string => (on ? "1" : "0");
    switch (name) {
      case "pane_id":
        return pane.id;
      case "pane_pid":
        return String(pane.pid);
      case "pane_tty":
        return `/dev/pts/${pane.id.slice(1)}`;
      case "pane_title":
        return program?.title ?? "";
      case "pane_current_command":
        return program?.command ?? "";
      case "pane_current_path":
        return "/work";
      case "pane_width":
        return String(width);
      case "pane_height":
        return String(height);
      case "cursor_x":
        return String(program?.screen(width, height).cursor.x ?? 0);
      case "cursor_y":
        return String(program?.screen(width, height).cursor.y ?? 0);
      case "cursor_flag":
        return "1";
      case "history_size":
        return String(pane.historySize);
      case "window_activity":
        return String(pane.activityAt);
      case "pane_in_mode":
        return flag(pane.inMode);
      case "alternate_on":
        return flag(program?.alternateScreen ?? false);
      case "pane_dead":
        return flag(program === null);
      case "pane_synchronized":
        return flag(window.synchronized);
      case "pane_input_off":
        return flag(pane.inputOff);
      case "bracket_paste_flag":
        return flag(program?.bracketedPaste ?? false);
      default:
        return undefined;
    }
  }

  client(client: SimulatedClient): FormatScope {
    const facts: Record<string, string> = {
      client_control_mode: client.control ? "1" : "0",
      client_readonly: client.readOnly ? "1" : "0",
      client_activity: String(client.activityAt),
      client_key_table: client.keyTable,
      client_name: client.name,
    };
    const pane = this.state.panes.get(client.paneId);
    const scope = pane === undefined ? this.server() : this.pane(pane);
    return { value: (name) => facts[name] ?? scope.value(name), panes: () => [] };
  }
}
