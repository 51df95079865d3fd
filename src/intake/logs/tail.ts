/** Follows an agent's log files, also as they are rotated, and hands on the messages in them. */
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { asTielineError, TielineError } from "../../model/errors.ts";
import { runForever } from "../../os/runForever.ts";
import { pacer, systemTimers } from "../../os/timers.ts";
import { isErrno } from "../../os/openDirectory.ts";
import { createBell, renewWatcher, type Watcher } from "../../os/watchFolder.ts";
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
  const { timers = systemTimers } = options;
  const bell = createBell(options.signal, timers);
  const followed: Followed = { tails: new Map(), read: new Map() };
  const watchers = new Map<string, Watcher | undefined>();
  /** How long the files were that are there at the start and to be skipped. */
  let skipped: Map<string, number> | null = null;
  const step = async (): Promise<void> => {
    const files = await filesOf(options);
    skipped ??= new Map(options.unknownFiles === "skip" ? [...files].map(([path, { size }]) => [path, size]) : []);
    const unwatched = renewWatchers(watchers, options.root, [...files.keys()], bell.ring);
    const { dueInMs, refused } = await sweep(options, followed, files, skipped);
    const rescanMs = unwatched ? 500 : (options.rescanMs ?? 5_000);
    if (!refused && dueInMs > 0) options.onIdle?.();
    // More text changes nothing about a refusal, and each look costs something.
    if (refused) await timers.pause(Math.min(refusedMs, rescanMs), options.signal);
    else if (dueInMs === 0) await timers.nextTurn();
    else await bell.wait(Math.min(rescanMs, dueInMs));
  };
  const report = (_: string, fault: unknown): void => options.onFault?.(asTielineError(fault), options.root);
  await runForever(`the logs ${options.pattern}`, options.signal, step, report, { timers });
  for (const watcher of watchers.values()) watcher?.close();
  for (const tail of followed.tails.values()) tail.close();
}

/** What shows that a file has not changed. */
interface FileMark {
  readonly inode: number;
  readonly size: number;
  readonly changedAt: number;
}

interface Followed {
  /** Open files, the one that grew last at the end. */
  readonly tails: Map<string, FileTail>;
  /** How each file was before it was last opened or read; it may be closed since. */
  readonly read: Map<string, FileMark>;
}

/**
 * An agent may make as many logs as it likes. Those that are read to their end and quiet are closed when others need
 * the room.
 */
const mostOpen = 64;

/** How long a message that was refused for now waits. */
const refusedMs = 1_000;

async function filesOf({
  root,
  pattern,
  partOf,
  signal,
  timers = systemTimers,
}: TailOptions): Promise<Map<string, FileMark>> {
  const files = new Map<string, FileMark>();
  const pace = pacer(timers);
  for (const path of await pathsOf(root, pattern, partOf)) {
    if (signal.aborted) break;
    const mark = markOf(path);
    if (mark) files.set(path, mark);
    await pace();
  }
  return files;
}

async function pathsOf(root: string, pattern: string, partOf: TailOptions["partOf"]): Promise<string[]> {
  const paths: string[] = [];
  try {
    for await (const path of new Bun.Glob(pattern).scan({ cwd: root, dot: true, onlyFiles: true }))
      paths.push(join(root, path));
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
  return partOf ? latestParts(paths, partOf) : paths.sort();
}

/** Of a stream, the part from which the most was cut off: it has all that is left of those before it. */
function latestParts(paths: readonly string[], partOf: NonNullable<TailOptions["partOf"]>): string[] {
  const latest = new Map<string, string>();
  for (const path of paths.toSorted((a, b) => partOf(a).before - partOf(b).before))
    latest.set(partOf(path).stream, path);
  return [...latest.values()].sort();
}

/** Says whether some directory cannot be watched. */
function renewWatchers(
  watchers: Map<string, Watcher | undefined>,
  root: string,
  paths: string[],
  ring: () => void,
): boolean {
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
async function sweep(
  options: TailOptions,
  { tails, read }: Followed,
  files: ReadonlyMap<string, FileMark>,
  skipped: Map<string, number>,
): Promise<Sweep> {
  const pace = pacer(options.timers ?? systemTimers);
  let [dueInMs, refused, leftOut] = [Infinity, false, false];
  followRenames(tails, files);
  for (const path of read.keys()) if (!files.has(path) && !tails.has(path)) read.delete(path);
  for (const path of new Set([...tails.keys(), ...files.keys()])) {
    if (options.signal.aborted) break;
    await pace();
    try {
      const mark = files.get(path) ?? markOf(path);
      let tail = tails.get(path);
      if (tail && (tail.inode !== mark?.inode || (options.partOf && !files.has(path)))) {
        // A stream continues in its next part.
        if (!options.partOf) await tail.finish();
        tail.close();
        tails.delete(path);
        tail = undefined;
      }
      if (mark === undefined || (!tail && (!files.has(path) || isSame(read.get(path), mark)))) continue;
      if (!tail) {
        if (tails.size >= mostOpen && !closeQuiet(tails)) {
          leftOut = true;
          continue;
        }
        read.set(path, mark);
        tail = new FileTail(path, options, skipped.get(path) ?? 0);
        skipped.delete(path);
      } else if (!isSame(read.get(path), mark)) tails.delete(path);
      tails.set(path, tail);
      read.set(path, mark);
      dueInMs = Math.min(dueInMs, await tail.read());
    } catch (error) {
      const tail = tails.get(path);
      // What was not accepted for now waits in its tail. Any other trouble: it is read again from what is remembered.
      if (!tail?.waits) {
        tail?.close();
        tails.delete(path);
      }
      const why = whyRefused(error);
      // A file that is no log is looked at again when it has changed.
      if (!tail?.waits && (why === undefined || why === "missing")) read.delete(path);
      if (isErrno(error, "ENOENT") || why === "missing") continue;
      refused ||= why === undefined;
      options.onFault?.(asTielineError(error), path);
    }
  }
  // There is room for those that were left out as soon as one is quiet.
  if (leftOut && [...tails.values()].some(({ isQuiet }) => isQuiet)) dueInMs = 0;
  return { dueInMs, refused };
}

/** The one that has not grown for longest; false: all still have something to read or to wait for. */
function closeQuiet(tails: Map<string, FileTail>): boolean {
  for (const [path, tail] of tails) {
    if (!tail.isQuiet) continue;
    tail.close();
    return tails.delete(path);
  }
  return false;
}

/** A log that was rotated to a name that also matches is still the same log. */
function followRenames(tails: Map<string, FileTail>, files: ReadonlyMap<string, FileMark>): void {
  const moved = new Map(
    [...tails.values()].filter(({ path, inode }) => markOf(path)?.inode !== inode).map((tail) => [tail.inode, tail]),
  );
  for (const [path, { inode }] of moved.size === 0 ? [] : files) {
    const tail = moved.get(inode);
    if (tail === undefined || tails.get(path)?.inode === inode) continue;
    tails.delete(tail.path);
    tail.moveTo(path);
    tails.set(path, tail);
    moved.delete(inode);
  }
}

/** Undefined: nothing is wrong with the file. */
const whyRefused = (thrown: unknown): unknown =>
  thrown instanceof TielineError && thrown.code === "FILE_REFUSED" ? thrown.operands["why"] : undefined;

const isSame = (a: FileMark | undefined, b: FileMark): boolean =>
  a?.inode === b.inode && a.size === b.size && a.changedAt === b.changedAt;

function markOf(path: string): FileMark | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && { inode: stats.ino, size: stats.size, changedAt: stats.ctimeMs };
}
