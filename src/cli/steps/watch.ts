import type { Client } from "../../client/client.ts";
import type { AgentView } from "../../api/schema.ts";
import type { StreamedEvent } from "../../client/stream.ts";
import { agentTable } from "../output/agentTable.ts";
import type { Terminal } from "../output/terminal.ts";
import { systemTimers } from "../../os/timers.ts";

export interface Watching {
  readonly all?: boolean;
  readonly json: boolean;
  /** Everything that happens after an event's number, until the signal aborts. */
  readonly eventsAfter: (last: number) => AsyncIterable<StreamedEvent>;
  readonly stop: AbortSignal;
  /** Shown below the agents. */
  readonly hints?: readonly string[];
}

/** Several events of one moment make one picture. */
const momentMs = 50;
/** Times grow old without an event. */
const ageMs = 10_000;

/** Shows the agents until Ctrl-C: in place on a terminal, elsewhere once for every change. */
export async function watchAgents(
  daemon: Client,
  terminal: Terminal,
  { all = false, json, eventsAfter, stop, hints = [] }: Watching,
): Promise<number> {
  const inPlace = terminal.interactive && !json;
  let drawn = 0;
  let last = "";
  let news = Promise.withResolvers<void>();
  if (inPlace) await terminal.cursor(false);
  try {
    const { last: known } = await daemon.call("events", { limit: 0 }, stop);
    const listening = listen(eventsAfter(known));
    // Its failure is met below; it may come while the agents are asked for.
    listening.catch(() => undefined);
    while (!stop.aborted) {
      const agents = await daemon.call("ls", all ? { all } : {}, stop);
      const seen = JSON.stringify(agents);
      if (inPlace) drawn = await terminal.redraw(thatFit(shown(agents)), drawn);
      else if (seen !== last) await (json ? terminal.json(agents) : terminal.print([...shown(agents), ""]));
      last = seen;
      await Promise.race([news.promise, listening, systemTimers.pause(ageMs, stop)]);
      await systemTimers.pause(momentMs, stop);
      news = Promise.withResolvers();
    }
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    if (inPlace) await terminal.cursor(true);
  }
  return 0;

  async function listen(events: AsyncIterable<StreamedEvent>): Promise<void> {
    for await (const _ of events) news.resolve();
  }

  function shown(agents: readonly AgentView[]): string[] {
    const below = hints.length === 0 ? [] : ["", ...hints];
    return [...agentTable(agents, terminal, { now: terminal.now(), teams: all }), ...below];
  }

  function thatFit(lines: readonly string[]): readonly string[] {
    const rows = terminal.height();
    return lines.length < rows ? lines : [...lines.slice(0, rows - 2), `… and ${lines.length - rows + 2} more`];
  }
}
