import type { Permission } from "./agent.ts";

export const sandboxes = ["none", "bwrap", "command"] as const;
export type Sandbox = (typeof sandboxes)[number];

/**
 * What a sandboxed agent reaches over the network. `internet`: everything but this machine's loopback. `none`: nothing.
 * `host`: the same as programs outside.
 */
export const networks = ["internet", "none", "host"] as const;
export type Network = (typeof networks)[number];

/**
 * How mail reaches it: typed at its prompt (or written to its standard input), or only to the files of its workspace.
 */
export const inputs = ["terminal", "files"] as const;
export type ProgramInput = (typeof inputs)[number];

/** How the program asks before it acts; default `ask`. */
export const permissionModes = ["ask", "auto", "skip"] as const;
export type PermissionMode = (typeof permissionModes)[number];

/** A pane in copy mode: always wait, or wait while a client shows the pane and end copy mode otherwise. */
export const copyModes = ["hold", "leave"] as const;
export type CopyMode = (typeof copyModes)[number];

/** Where a profile was found; the first of these that has the name wins. */
export const profileOrigins = ["project", "user", "built in"] as const;
export type ProfileOrigin = (typeof profileOrigins)[number];

/** What an agent is started from. Paths are absolute. */
export interface Profile {
  readonly name: string;
  readonly origin: ProfileOrigin;
  /** The file that says so, for people. */
  readonly source: string;
  /** The directory of the project whose files it is made from, at least in part; null: from no project. */
  readonly project: string | null;
  readonly description: string | null;
  readonly provider: string;
  /** argv; null: the provider knows its own program. */
  readonly command: readonly string[] | null;
  readonly args: readonly string[];
  /** It runs without a terminal: mail is its standard input, and its output is read for text markers. */
  readonly headless: boolean;
  readonly role: string | null;
  readonly cwd: string | null;
  /** Appended to the program's own system prompt. */
  readonly prompt: string | null;
  /** Who wrote the prompt. */
  readonly promptOrigin: ProfileOrigin | null;
  readonly model: string | null;
  readonly skill: string | null;
  readonly env: Readonly<Record<string, string>>;
  /** The directory whose .inbox and .outbox belong to this agent alone. */
  readonly workspace: string | null;
  readonly sandbox: Sandbox;
  /** argv in front of the agent's own, with `sandbox: command`. */
  readonly sandboxCommand: readonly string[] | null;
  readonly network: Network;
  /** Ports of this machine's loopback that a sandboxed agent with `network: internet` reaches all the same. */
  readonly hostPorts: readonly number[];
  /** Further paths that a sandboxed agent may read. */
  readonly readable: readonly string[];
  readonly input: ProgramInput;
  readonly permissions: PermissionMode;
  readonly may: readonly Permission[];
  /** Files with the agent's output, read for text markers. */
  readonly logs: readonly string[];
  /** Read the last message of each turn for text markers, too? For programs with hooks. */
  readonly markers: boolean;
  /** What a generic program's last line looks like when it waits for input. */
  readonly promptPattern: string | null;
  readonly bracketedPaste: boolean | null;
  /** Bytes that may be pasted whole; above it a doorbell goes instead. */
  readonly pasteLimit: number | null;
  readonly echo: boolean | null;
  readonly copyMode: CopyMode | null;
  /** May mail start it? */
  readonly autostart: boolean;
}
