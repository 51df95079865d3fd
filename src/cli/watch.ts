import type { Client } from "../client/client.ts";
import type { AgentView } from "../client/schema.ts";
import { agentTable } from "./agent-table.ts";
import { fit } from "./table.ts";
import type { Terminal } from "./terminal.ts";

export interface Watching {
  readonly all?: boolean;
  readonly json: boolean;
  readonly everyMs?: number;
}

const hideCursor = "\u001b[?25l";
const showCursor = "\u001b[?25h";
const clearBelow = "\u001b[J";

/** Shows the agents until Ctrl-C: in place on a terminal, elsewhere once for every change. */
export async function watchAgents(daemon: Client, terminal: Terminal, { all = false, json, everyMs = 1000 }: Watching): Promise<number> {
  const stop = stopSignal();
  const inPlace = terminal.interactive && !json;
  let drawn = 0;
  let last = "";
  if (inPlace) await terminal.write(hideCursor);
  try {
    while (!stop.aborted) {
      const agents = await daemon.call("ls", all ? { all } : {}, stop);
      const seen = JSON.stringify(agents);
      if (inPlace) drawn = await redraw(agents, drawn);
      else if (seen !== last) await (json ? terminal.json(agents) : terminal.print(`${shown(agents)}\n`));
      last = seen;
      await pause(everyMs, stop);
    }
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    if (inPlace) await terminal.write(showCursor);
  }
  return 0;

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

function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}

function pause(ms: number, stop: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  stop.addEventListener("abort", () => resolve(), { once: true });
  return promise.finally(() => clearTimeout(timer));
}
