/**
 * Hook calls as files: `<name>.call` has a first line of what the hook script knows about its caller, then the payload.
 * `<name>.done` beside it means that the file is complete and that the hook waits for no answer. A hook that does wait
 * names its call to the daemon instead. In both cases a call is handled by the process that removes its file.
 */
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../model/ids.ts";
import { Ages } from "../../os/ages.ts";
import { runForever } from "../../os/runForever.ts";
import { systemTimers, type Timers } from "../../os/timers.ts";
import { readUntrusted, refusalError } from "../../os/untrustedFile.ts";
import { createBell, renewWatcher, type Watcher } from "../../os/watchFolder.ts";

export interface SpooledCall {
  readonly provider: string;
  readonly payload: unknown;
  readonly takesAll: boolean;
  readonly caller: { readonly tmuxSocket?: string; readonly pane?: string; readonly pid?: number };
}

export interface SpoolParts {
  readonly folder: string;
  /** Called for each finished call, one at a time, in the order in which they ended. */
  readonly take: (spooled: SpooledCall) => Promise<void>;
  readonly report: (context: string, fault: unknown) => void;
  readonly clock?: Clock;
  readonly timers?: Timers;
  readonly sweepMs?: number;
}

/** A tool's result can be a large file. */
const maxCallBytes = 16 * 1024 * 1024;
/** Programs end a hook that runs this long, so that nothing completes its call any more. */
const abandonedMs = 60_000;

export class Spool {
  private draining: Promise<void> = Promise.resolve();
  private readonly ages: Ages;

  constructor(private readonly parts: SpoolParts) {
    this.ages = new Ages(parts.clock);
  }

  /** Takes the finished calls until the signal aborts. Never rejects. */
  async watch(signal: AbortSignal): Promise<void> {
    const { folder, report, timers = systemTimers, sweepMs = 5_000 } = this.parts;
    const bell = createBell(signal, timers);
    let watcher: Watcher | undefined;
    const step = async (): Promise<void> => {
      // Hooks that find no folder leave nothing behind.
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      watcher = renewWatcher(watcher, folder, bell.ring);
      await this.inTurn();
      this.removeAbandoned();
      await bell.wait(watcher ? sweepMs : Math.min(500, sweepMs));
    };
    await runForever(`hook calls in ${folder}`, signal, step, report, { timers });
    watcher?.close();
  }

  /**
   * Resolves when every call that had ended before is handled. Never rejects: what cannot be read now is read later.
   */
  async drain(): Promise<void> {
    await this.inTurn().catch((fault: unknown) => this.parts.report("spooled hook calls", fault));
  }

  private inTurn(): Promise<void> {
    const mine = this.draining.then(() => this.takeFinished());
    this.draining = mine.catch(() => undefined);
    return mine;
  }

  /**
   * The call of a hook that waits for its answer; null: it was handled before. Throws when it cannot be read. One that
   * the system cannot read for now (NotNow) is left for later.
   */
  claim(name: string): SpooledCall | null {
    const { folder } = this.parts;
    const path = join(folder, `${name}.call`);
    const file = readUntrusted(path, { maxBytes: maxCallBytes });
    if (!file.ok && file.why === "unreadable") throw new NotNow(refusalError(path, file));
    for (const ending of ["call", "done"]) rmSync(join(folder, `${name}.${ending}`), { force: true });
    if (file.ok) return parseSpooled(file.bytes.toString("utf8"));
    if (file.why === "missing") return null;
    throw refusalError(path, file);
  }

  private async takeFinished(): Promise<void> {
    const { folder, take, report } = this.parts;
    for (const name of finishedIn(folder)) {
      try {
        const spooled = this.claim(name);
        if (spooled) await take(spooled);
      } catch (fault) {
        // Those behind it wait, too: the order in which hooks ended matters.
        if (fault instanceof NotNow) throw fault.cause;
        report("a spooled hook call", fault);
      }
    }
  }

  private removeAbandoned(): void {
    const { folder } = this.parts;
    for (const name of readdirSync(folder).filter((one) => one.endsWith(".call"))) {
      const path = join(folder, name);
      const stats = statSync(path, { throwIfNoEntry: false });
      if (stats && this.ages.of(name, stats.mtimeMs) > abandonedMs) rmSync(path, { force: true });
    }
  }
}

/** The system has no room for it at this moment. */
class NotNow extends Error {
  constructor(override readonly cause: unknown) {
    super("not now");
  }
}

/**
 * In the order in which the hooks ended: a Stop that overtook the tool before it would leave the agent at work for
 * ever.
 */
function finishedIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".done"))
    .map((name) => ({
      name: name.slice(0, -".done".length),
      endedAt: statSync(join(folder, name), { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? 0n,
    }))
    .toSorted((a, b) => (a.endedAt < b.endedAt ? -1 : a.endedAt > b.endedAt ? 1 : Number(a.name) - Number(b.name)))
    .map(({ name }) => name);
}

/** What a hook's command says behind its event, where its program cuts no context; see `hookCommand`. */
const takesAllOption = "all";

function parseSpooled(text: string): SpooledCall {
  const end = text.indexOf("\n");
  const [provider = "", tmuxSocket, pane, pid, option] = text.slice(0, end).split("\t");
  const payload = JSON.parse(text.slice(end + 1)) as unknown;
  return {
    provider,
    payload,
    takesAll: option === takesAllOption,
    caller: { ...(tmuxSocket && { tmuxSocket }), ...(pane && { pane }), ...(pid && { pid: Number(pid) }) },
  };
}
