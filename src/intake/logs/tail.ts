/** Follows an agent's log files, also as they are rotated, and hands on the messages in them. */
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { asTielineError, TielineError } from "../../model/errors.ts";
import { nextTurn } from "../../os/nextTurn.ts";
import { runForever } from "../../os/runForever.ts";
import { pause } from "../../os/pause.ts";
import { isErrno } from "../../workspace/directory.ts";
import { createBell, renewWatcher, type Watcher } from "../../workspace/watching.ts";
import { FileTail, type FileTailOptions } from "./fileTail.ts";

export interface TailOptions extends FileTailOptions {
  /** Where the pattern starts from. */
  root: string;
  /** A glob such as `logs/*.txt`. */
  pattern: string;
  onFault?: (fault: TielineError, path: string) => void;
  /** Everything that was there is read and accepted. */
  onIdle?: () => void;
  /** What to do with the content of files that are there at the start and that nothing is remembered of. */
  unknownFiles?: "read" | "skip";
  rescanMs?: number;
}

/** Runs until the signal aborts; resolves when nothing is open any more. Never rejects. */
export async function tailLogs(options: TailOptions): Promise<void> {
  const bell = createBell(options.signal);
  const tails = new Map<string, FileTail>();
  const watchers = new Map<string, Watcher | undefined>();
  /** How long the files were that are there at the start and to be skipped. */
  let skipped: Map<string, number> | null = null;
  const step = async (): Promise<void> => {
    const paths = pathsOf(options);
    skipped ??= new Map(options.unknownFiles === "skip" ? paths.map((path) => [path, statSync(path, { throwIfNoEntry: false })?.size ?? 0]) : []);
    const unwatched = renewWatchers(watchers, options.root, paths, bell.ring);
    const { dueInMs, refused } = await sweep(options, tails, paths, skipped);
    const rescanMs = unwatched ? 500 : (options.rescanMs ?? 5_000);
    if (!refused && dueInMs > 0) options.onIdle?.();
    // More text changes nothing about a refusal, and each look costs something.
    if (refused) await pause(Math.min(refusedMs, rescanMs), options.signal);
    else if (dueInMs === 0) await nextTurn();
    else await bell.wait(Math.min(rescanMs, dueInMs));
  };
  await runForever(`the logs ${options.pattern}`, options.signal, step, (_, fault) => options.onFault?.(asTielineError(fault), options.root));
  for (const watcher of watchers.values()) watcher?.close();
  for (const tail of tails.values()) tail.close();
}

/** How long a message that was refused for now waits. */
const refusedMs = 1_000;

function pathsOf({ root, pattern, partOf }: TailOptions): string[] {
  try {
    const paths = [...new Bun.Glob(pattern).scanSync({ cwd: root, dot: true, onlyFiles: true })].sort().map((path) => join(root, path));
    return partOf ? latestParts(paths, partOf) : paths;
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
}

/** Of a stream, the part from which the most was cut off: it has all that is left of those before it. */
function latestParts(paths: readonly string[], partOf: NonNullable<TailOptions["partOf"]>): string[] {
  const latest = new Map<string, string>();
  for (const path of paths.toSorted((a, b) => partOf(a).before - partOf(b).before)) latest.set(partOf(path).stream, path);
  return [...latest.values()].sort();
}

/** Says whether some directory cannot be watched. */
function renewWatchers(watchers: Map<string, Watcher | undefined>, root: string, paths: string[], ring: () => void): boolean {
  const directories = new Set([root, ...paths.map((path) => dirname(path))]);
  for (const [directory, watcher] of watchers) {
    if (directories.has(directory)) continue;
    watcher?.close();
    watchers.delete(directory);
  }
  for (const directory of directories) watchers.set(directory, renewWatcher(watchers.get(directory), directory, ring));
  return [...watchers.values()].includes(undefined);
}

interface Sweep {
  /** In how many milliseconds a quiet file is due, 0 when there is more to read. */
  dueInMs: number;
  /** Something could not be accepted or read for now. */
  refused: boolean;
}

/** Reads what is new in each file. */
async function sweep(options: TailOptions, tails: Map<string, FileTail>, paths: string[], skipped: Map<string, number>): Promise<Sweep> {
  let dueInMs = Infinity;
  let refused = false;
  followRenames(tails, paths);
  for (const path of new Set([...tails.keys(), ...paths])) {
    if (options.signal.aborted) break;
    try {
      const inode = inodeOf(path);
      let tail = tails.get(path);
      if (tail && (tail.inode !== inode || (options.partOf && !paths.includes(path)))) {
        // The rest of a stream goes on in its next part.
        if (!options.partOf) await tail.finish();
        tail.close();
        tails.delete(path);
        tail = undefined;
      }
      if (inode === undefined || !(paths.includes(path) || tail)) continue;
      if (!tail) {
        tails.set(path, (tail = new FileTail(path, options, skipped.get(path) ?? 0)));
        skipped.delete(path);
      }
      dueInMs = Math.min(dueInMs, await tail.read());
    } catch (error) {
      const tail = tails.get(path);
      // What was not accepted for now waits in its tail. Any other trouble: it is read again from what is remembered.
      if (!tail?.waits) {
        tail?.close();
        tails.delete(path);
      }
      if (isErrno(error, "ENOENT") || whyRefused(error) === "missing") continue;
      refused ||= whyRefused(error) === undefined;
      options.onFault?.(asTielineError(error), path);
    }
  }
  return { dueInMs, refused };
}

/** A log that was rotated to a name that also matches is still the same log. */
function followRenames(tails: Map<string, FileTail>, paths: string[]): void {
  for (const path of paths) {
    const inode = inodeOf(path);
    if (tails.get(path)?.inode === inode) continue;
    for (const tail of tails.values()) {
      if (tail.inode !== inode || inodeOf(tail.path) === inode) continue;
      tails.delete(tail.path);
      tail.moveTo(path);
      tails.set(path, tail);
      break;
    }
  }
}

/** Undefined: nothing is wrong with the file. */
const whyRefused = (thrown: unknown): unknown => (thrown instanceof TielineError && thrown.code === "FILE_REFUSED" ? thrown.operands["why"] : undefined);

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}
