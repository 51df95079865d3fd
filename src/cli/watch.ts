import type { Client } from "../client/client.ts";
import type { AgentView } from "../client/schema.ts";
import { pause, type StreamedEvent } from "../client/stream.ts";
import { agentTable } from "./agent-table.ts";
import { fit } from "./table.ts";
import type { Terminal } from "./terminal.ts";

export interface Watching {
  readonly all?: boolean;
  readonly json: boolean;
  /** Everything that happens after an event's number, until the signal aborts. */
  readonly eventsAfter: (last: number) => AsyncIterable<StreamedEvent>;
  readonly stop: AbortSignal;
}

const hideCursor = "\u001b[?25l";
const showCursor = "\u001b[?25h";
const clearBelow = "\u001b[J";
/** Several events of one moment make one picture. */
const momentMs = 50;
/** Times grow old without an event. */
const ageMs = 10_000;

/** Shows the agents until Ctrl-C: in place on a terminal, elsewhere once for every change. */
export async function watchAgents(daemon: Client, terminal: Terminal, { all = false, json, eventsAfter, stop }: Watching): Promise<number> {
  const inPlace = terminal.interactive && !json;
  let drawn = 0;
  let last = "";
  let news = Promise.withResolvers<void>();
  if (inPlace) await terminal.write(hideCursor);
  try {
    const { last: known } = await daemon.call("events", { limit: 0 }, stop);
    const listening = listen(eventsAfter(known));
    while (!stop.aborted) {
      const agents = await daemon.call("ls", all ? { all } : {}, stop);
      const seen = JSON.stringify(agents);
      if (inPlace) drawn = await redraw(agents, drawn);
      else if (seen !== last) await (json ? terminal.json(agents) : terminal.print(`${shown(agents)}\n`));
      last = seen;
      await Promise.race([news.promise, listening, pause(ageMs, stop)]);
      await pause(momentMs, stop);
      news = Promise.withResolvers();
    }
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    if (inPlace) await terminal.write(showCursor);
  }
  return 0;

  async function listen(events: AsyncIterable<StreamedEvent>): Promise<void> {
    for await (const _ of events) news.resolve();
  }

  function shown(agents: readonly AgentView[]): string {
    return agentTable(agents, terminal, { now: Date.now(), teams: all });
  }

  async function redraw(agents: readonly AgentView[], before: number): Promise<number> {
    const rows = process.stdout.rows || 24;
    const lines = shown(agents).split("\n");
    const visible = lines.length < rows ? lines : [...lines.slice(0, rows - 2), fit(`… and ${lines.length - rows + 2} more`, terminal.width())];
    const up = before > 0 ? `\u001b[${before}A` : "";
    await terminal.write(`${up}\r${visible.map((line) => `${line}\u001b[K\n`).join("")}${clearBelow}`);
    return visible.length;
  }
}
