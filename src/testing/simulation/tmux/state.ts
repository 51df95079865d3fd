/** What a simulated tmux server consists of. */
import type { SimulatedProgram } from "../program.ts";
import type { TmuxReadings } from "./language.ts";

export interface SimulatedPane {
  readonly id: string;
  readonly windowId: string;
  readonly sessionId: string;
  pid: number;
  /** Null: it exited, and `remain-on-exit` keeps the pane. */
  program: SimulatedProgram | null;
  inMode: boolean;
  inputOff: boolean;
  historySize: number;
  /** In seconds. */
  activityAt: number;
  readonly options: Map<string, string>;
}

export interface SimulatedWindow {
  readonly id: string;
  name: string;
  synchronized: boolean;
}

export interface SimulatedSession {
  readonly id: string;
  name: string;
  /** In seconds: the last key of a client, or its coming. */
  activityAt: number;
  readonly windows: SimulatedWindow[];
}

/** A terminal of a user. */
export interface SimulatedClient {
  readonly name: string;
  readonly control: boolean;
  readonly readOnly: boolean;
  activityAt: number;
  sessionId: string;
  paneId: string;
  keyTable: string;
  /** Keys that were pressed while an earlier one waits for a lock. */
  readonly waiting: string[];
  blocked: boolean;
}

/** What a client on the control channel hears. */
export type SimulatedNotice =
  | { readonly type: "output"; readonly pane: string; readonly text: string }
  | { readonly type: "mode"; readonly pane: string }
  | { readonly type: "layout"; readonly window: string }
  | { readonly type: "clients" };

export interface SimulatedTmuxOptions {
  readonly pid: number;
  /** Wall time in milliseconds. */
  readonly now: () => number;
  readonly socketPath: string;
  readonly nextPid: () => number;
  /** Makes the program of a new pane. */
  readonly launch: (argv: readonly string[], pane: string) => SimulatedProgram | null;
  /** Shared by servers, to save time. */
  readonly readings?: TmuxReadings;
  /** Left out: what is to run later never does. */
  readonly after?: (ms: number, run: () => void) => void;
  /** Told of what a command writes into a pane in copy mode. */
  readonly onModeWrite?: (pane: string) => void;
  readonly notify?: (notice: SimulatedNotice) => void;
}

export class CommandFailure extends Error {}
