import type { HookSetup } from "./provider.ts";

/** How our hooks get into a program's own settings, and out again. Each step may be repeated. */
export interface HookInstaller {
  /** The program, as people call it. */
  readonly title: string;
  /** The file that the hooks go into. */
  file(scope: Scope, place: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> }): string;
  /** `memory` is a file of ours for what has to be known to undo it. */
  install(file: string, setup: HookSetup, memory: string): Installation;
  undo(file: string, memory: string): Installation;
}

/** All sessions of the person, or those in one project on this machine. */
export type Scope = "user" | "project";

export interface Installation {
  readonly file: string;
  readonly changed: boolean;
  /** What the person should know or do besides. */
  readonly notes: readonly string[];
}
