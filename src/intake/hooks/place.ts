import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { atomicUpdate } from "../../os/atomicWrite.ts";
import { shellWord } from "../../os/shell.ts";
import askProgram from "./scripts/ask.mjs" with { type: "text" };
import hookScript from "./scripts/hook.sh" with { type: "text" };
import waitScript from "./scripts/wait.sh" with { type: "text" };

/**
 * What hooks outside of the daemon need, in one folder of the home, so that settings files name paths that stay the
 * same when Tieline itself is moved or updated:
 *
 *     hook, wait      the programs that hooks run
 *     ask.mjs         what the hook program runs to ask for an answer
 *     spool/          calls, until the daemon has read them
 *     mail/<session>  the events at which a session's hooks have to ask
 *     bells/<session> the FIFO on which an idle session is rung for
 */
export interface HookPlace {
  readonly root: string;
  readonly hook: string;
  readonly wait: string;
  readonly ask: string;
  readonly spool: string;
  readonly mail: string;
  readonly bells: string;
}

export function hookPlaceIn(home: string): HookPlace {
  const root = join(home, "hooks");
  return {
    root,
    hook: join(root, "hook"),
    wait: join(root, "wait"),
    ask: join(root, "ask.mjs"),
    spool: join(root, "spool"),
    mail: join(root, "mail"),
    bells: join(root, "bells"),
  };
}

export interface Surroundings {
  /** The daemon's socket. */
  readonly socket: string;
  /** The Bun that the daemon runs on. */
  readonly bun: string;
}

/** Makes the folder and brings its programs up to date. */
export function layHookPlace(place: HookPlace, surroundings: Surroundings): void {
  for (const folder of [place.root, place.spool, place.mail, place.bells])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Whole or not at all, because a hook may run it at this moment.
  atomicUpdate(place.hook, programText(hookScript, place, surroundings), 0o700);
  atomicUpdate(place.wait, programText(waitScript, place, surroundings), 0o700);
  atomicUpdate(place.ask, askProgram, 0o700);
}

function programText(script: string, { root }: HookPlace, { socket, bun }: Surroundings): string {
  const variables = Object.entries({ hooks: root, socket, bun }).map(([name, value]) => `${name}=${shellWord(value)}`);
  return ["#!/bin/sh", ...variables, script].join("\n");
}
