import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { atomicWrite } from "../../os/atomicWrite.ts";
import { shellWord } from "../../providers/provider.ts";
import hookScript from "./scripts/hook.sh" with { type: "text" };
import waitScript from "./scripts/wait.sh" with { type: "text" };

/**
 * What hooks outside of the daemon need, in one folder of the home, so that settings files name paths that stay the
 * same when Tieline itself is moved or updated:
 *
 *     hook, wait      the programs that hooks run
 *     spool/          calls that no answer was needed for
 *     mail/<session>  there while mail waits for a session
 *     bells/<session> the FIFO on which an idle session is rung for
 */
export interface HookPlace {
  readonly root: string;
  readonly hook: string;
  readonly wait: string;
  readonly spool: string;
  readonly mail: string;
  readonly bells: string;
}

export function hookPlaceIn(home: string): HookPlace {
  const root = join(home, "hooks");
  return { root, hook: join(root, "hook"), wait: join(root, "wait"), spool: join(root, "spool"), mail: join(root, "mail"), bells: join(root, "bells") };
}

export interface Surroundings {
  /** The daemon's socket. */
  readonly socket: string;
  /** The `tieline` command. */
  readonly tieline: string;
}

/** Makes the folder and brings its programs up to date. */
export function layHookPlace(place: HookPlace, surroundings: Surroundings): void {
  for (const folder of [place.root, place.spool, place.mail, place.bells]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeProgram(place.hook, programText(hookScript, place, surroundings));
  writeProgram(place.wait, programText(waitScript, place, surroundings));
}

function programText(script: string, { root }: HookPlace, { socket, tieline }: Surroundings): string {
  const variables = Object.entries({ hooks: root, socket, tieline }).map(([name, value]) => `${name}=${shellWord(value)}`);
  return ["#!/bin/sh", ...variables, script].join("\n");
}

/** Whole or not at all, because a hook may run it at this moment. */
function writeProgram(path: string, text: string): void {
  if (readIfThere(path) !== text) atomicWrite(path, text, { mode: 0o700 });
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw thrown;
  }
}

/** Session ids become file names. */
export const isPlainSessionId = (sessionId: string): boolean => /^[A-Za-z0-9_-]{1,200}$/.test(sessionId);

/** Tells command hooks of a session that asking us is worth while. */
export function raiseFlag(place: HookPlace, sessionId: string, mailWaits: boolean): void {
  if (!isPlainSessionId(sessionId)) return;
  const flag = join(place.mail, sessionId);
  if (mailWaits) writeFileSync(flag, "");
  else rmSync(flag, { force: true });
}
