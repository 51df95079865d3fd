import type { Screen } from "./screen.ts";

export type Json = Record<string, unknown>;

/** The folders of one bench, all under one temporary root. */
export interface Place {
  home: string;
  project: string;
  /** Outside the home, because Codex refuses a temporary folder that holds its own. */
  temporary: string;
  /** 0700, for sockets. */
  runtime: string;
}

export interface LaunchOptions {
  /** Merged into the program's own settings file. */
  settings: Json;
  args: readonly string[];
  /** `ask` brings up the program's permission dialogs, `allow` lets every tool run. */
  permissions: "ask" | "allow";
  modelUrl: string;
}

/** What the bench must know of one program: how to prepare a home, start it, and see that it waits for a prompt. */
export interface Recipe {
  /** Writes settings, trust and fake credentials, so that no dialog comes between start and prompt. */
  seed(place: Place, options: LaunchOptions): Promise<void>;
  env(place: Place, options: LaunchOptions): Record<string, string>;
  args(place: Place, options: LaunchOptions): string[];
  /** True when the screen waits for a prompt. */
  ready(screen: Screen): boolean;
  /** A tool call that the program asks the user about under `ask`, and the words of its dialog. */
  permissionDialog: string | undefined;
  /** The shell tool's call for a command. `escalate` makes programs with a sandbox ask. */
  shellCall(command: string, escalate?: boolean): { name: string; input: Json };
  /** Transcript files, as a glob under the home. */
  transcripts?: string;
  /** How long the program wants between paste and Enter. */
  enterGapMs?: number;
}
