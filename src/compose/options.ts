import type { HomeConfig } from "../config/home.ts";
import type { Agent } from "../model/agent.ts";
import type { Clock, RandomBytes } from "../model/ids.ts";
import type { Timers } from "../os/timers.ts";

export interface ComposeOptions {
  readonly root: string;
  readonly mailboxPath: string;
  /** Where copies of the mailbox are kept. */
  readonly backupsDirectory: string;
  readonly configPath: string;
  readonly profilesDirectory: string;
  readonly screensDirectory: string;
  /** Where programs of agents that Tieline starts may listen; short enough for the path of a socket. */
  readonly socketsDirectory: string;
  /** The tmux server for agents that Tieline starts, unless the caller names another. */
  readonly tmuxSocket: string;
  /** The environment of tmux processes, and so of a tmux server that Tieline starts. */
  readonly env: Record<string, string>;
  /** Where the `tieline` command is, for agents that Tieline starts. */
  readonly binDirectory: string;
  readonly report: (context: string, fault: unknown) => void;
  /** Receives every tmux command and its answer; null: nothing does. */
  readonly debug?: ((line: string) => void) | null;
  /** The NATS server that the environment names; null: the one of the settings. */
  readonly natsUrl?: string | null;
  /** For the log: something that is no fault. */
  readonly note?: (text: string) => void;
  readonly clock?: Clock;
  readonly timers?: Timers;
  /** Where ids and chance come from. */
  readonly random?: RandomBytes;
}

/** What every area is built on. */
export interface Foundation {
  readonly options: ComposeOptions;
  readonly config: HomeConfig;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomBytes;
  readonly report: (context: string, fault: unknown) => void;
  /** How an agent runs `tieline`. */
  readonly command: (agent: Agent) => string;
}

export const mebibyte = 1024 * 1024;
