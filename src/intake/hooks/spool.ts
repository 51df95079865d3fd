/**
 * Hook calls as files: `<name>.call` has a first line of what the hook script knows about its caller, then the payload.
 * `<name>.done` beside it means that the file is complete and that the hook waits for no answer. A hook that does wait
 * names its call to the daemon instead. Either way a call is handled by whoever removes its file.
 */
import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { untrustedText } from "../../os/untrustedFile.ts";
import { createBell, renewWatcher, type Watcher } from "../../workspace/watching.ts";

export interface SpooledCall {
  readonly provider: string;
  readonly payload: unknown;
  readonly caller: { readonly tmuxSocket?: string; readonly pane?: string; readonly pid?: number };
}

export interface SpoolParts {
  readonly folder: string;
  /** Called for each finished call, one at a time, in the order in which they ended. */
  readonly take: (spooled: SpooledCall) => Promise<void>;
  readonly report: (context: string, fault: unknown) => void;
  readonly sweepMs?: number;
}

/** A tool's result can be a large file. */
const maxCallBytes = 16 * 1024 * 1024;
/** Programs end a hook that runs this long, so that nothing completes its call any more. */
const abandonedMs = 60_000;

export class Spool {
  private draining: Promise<void> = Promise.resolve();

  constructor(private readonly parts: SpoolParts) {}

  /** Takes the finished calls until the signal aborts. Never rejects. */
  async watch(signal: AbortSignal): Promise<void> {
    const { folder, sweepMs = 5_000 } = this.parts;
    const bell = createBell(signal);
    let watcher: Watcher | undefined;
    while (!signal.aborted) {
      watcher = this.renewed(watcher, bell.ring);
      await this.drain();
      this.guarded(`abandoned hook calls in ${folder}`, () => this.removeAbandoned());
      await bell.wait(watcher ? sweepMs : Math.min(500, sweepMs));
    }
    watcher?.close();
  }

  /** Resolves when every call that had ended before is handled. Never rejects. */
  drain(): Promise<void> {
    this.draining = this.draining.then(() => this.takeFinished());
    return this.draining;
  }

  /** The call of a hook that waits for its answer; null: it was handled before. Throws when it cannot be read. */
  claim(name: string): SpooledCall | null {
    const { folder } = this.parts;
    const path = join(folder, `${name}.call`);
    try {
      const text = untrustedText(path, { maxBytes: maxCallBytes });
      return text === null ? null : parseSpooled(text);
    } finally {
      for (const ending of ["call", "done"]) rmSync(join(folder, `${name}.${ending}`), { force: true });
    }
  }

  private async takeFinished(): Promise<void> {
    const { folder, take, report } = this.parts;
    for (const name of this.guarded(`hook calls in ${folder}`, () => finishedIn(folder)) ?? []) {
      try {
        const spooled = this.claim(name);
        if (spooled) await take(spooled);
      } catch (fault) {
        report("a spooled hook call", fault);
      }
    }
  }

  private removeAbandoned(): void {
    const { folder } = this.parts;
    const before = Date.now() - abandonedMs;
    for (const name of readdirSync(folder).filter((one) => one.endsWith(".call"))) {
      const path = join(folder, name);
      if ((statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? before) < before) rmSync(path, { force: true });
    }
  }

  private renewed(watcher: Watcher | undefined, ring: () => void): Watcher | undefined {
    return this.guarded("the watch on the hook calls", () => renewWatcher(watcher, this.parts.folder, ring));
  }

  /** A folder that cannot be read now, for want of file descriptors or because it is gone, is tried again at the next sweep. */
  private guarded<Result>(context: string, run: () => Result): Result | undefined {
    try {
      return run();
    } catch (fault) {
      this.parts.report(context, fault);
      return undefined;
    }
  }
}

/** In the order in which the hooks ended: a Stop that overtook the tool before it would leave the agent at work for ever. */
function finishedIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".done"))
    .map((name) => ({ name: name.slice(0, -".done".length), endedAt: statSync(join(folder, name), { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? 0n }))
    .toSorted((a, b) => (a.endedAt < b.endedAt ? -1 : a.endedAt > b.endedAt ? 1 : Number(a.name) - Number(b.name)))
    .map(({ name }) => name);
}

function parseSpooled(text: string): SpooledCall {
  const end = text.indexOf("\n");
  const [provider = "", tmuxSocket, pane, pid] = text.slice(0, end).split("\t");
  const payload = JSON.parse(text.slice(end + 1)) as unknown;
  return { provider, payload, caller: { ...(tmuxSocket && { tmuxSocket }), ...(pane && { pane }), ...(pid && { pid: Number(pid) }) } };
}
