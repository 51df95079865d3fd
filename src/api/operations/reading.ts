import { z } from "zod";
import type { Directory } from "../../agents/directory/directory.ts";
import type { TmuxServers } from "../../agents/layout/servers.ts";
import type { HomeConfig } from "../../config/home.ts";
import type { PaneLocator } from "../../delivery/transports/paneEndpoint.ts";
import type { ProbingTransport } from "../../delivery/transports/port.ts";
import type { RouterParts } from "../../routing/router.ts";
import { capture } from "../../tmux/pane.ts";
import { paneOf, programCalled } from "../addressed.ts";
import type { Callers } from "../callers.ts";
import { operation } from "../operation.ts";
import { count, pollMs } from "../schemas/fields.ts";
import { oneAgent } from "../schemas/life.ts";
import type { Timers } from "../../os/timers.ts";

export interface ReadingParts {
  readonly config: HomeConfig;
  readonly callers: Callers;
  readonly tmux: ProbingTransport;
  readonly servers: TmuxServers;
  readonly resolve: RouterParts["resolve"];
  readonly directory: Directory;
  readonly timers: Pick<Timers, "timeout">;
}

/** The content of an agent's pane, once or whenever it changes. */
const oneScreen = oneAgent.extend({
  lines: count.optional().describe("how many lines; default: the setting terminal.readLines"),
});

export const readingOperations = [
  operation({
    name: "read",
    summary: "Show the screen of an agent.",
    access: "agent",
    input: oneScreen,
    output: z.object({ agent: z.string(), pane: z.string(), text: z.string() }),
    async run(parts: ReadingParts, { agent: address, lines = parts.config.terminal.readLines }, { caller }) {
      const { callers } = parts;
      const agent = programCalled(address, await callers.sender(caller), parts);
      const { locator } = paneOf(agent);
      return { agent: agent.name, pane: locator.pane, text: await lastLines(parts, locator, lines) };
    },
  }),

  /** Answers as soon as the pane shows something else than under this mark, or after the timeout. */
  operation({
    name: "readNext",
    summary: "Wait until the screen of an agent changes, and show it.",
    access: "agent",
    input: oneScreen.extend({
      mark: z.string().describe("the `mark` of the screen that was shown last; empty at first"),
      timeoutMs: pollMs,
    }),
    output: z.object({ agent: z.string(), pane: z.string(), text: z.string(), mark: z.string() }),
    async run(
      parts: ReadingParts,
      { agent: address, lines = parts.config.terminal.readLines, mark, timeoutMs },
      { caller, signal },
    ) {
      const { callers } = parts;
      const agent = programCalled(address, await callers.sender(caller), parts);
      const { endpoint, locator } = paneOf(agent);
      const over = AbortSignal.any([signal, parts.timers.timeout(timeoutMs)]);
      let changed: () => void = () => undefined;
      using _ = parts.tmux.watch(agent, endpoint, () => changed());
      for (;;) {
        const next = new Promise<void>((resolve) => {
          changed = resolve;
          over.addEventListener("abort", () => resolve(), { once: true });
        });
        const text = await lastLines(parts, locator, lines);
        const seen = digest(text);
        if (seen !== mark || over.aborted) return { agent: agent.name, pane: locator.pane, text, mark: seen };
        await next;
      }
    },
  }),
] as const;

async function lastLines(parts: ReadingParts, { socket, pane }: PaneLocator, count: number): Promise<string> {
  const rows = await capture(parts.servers.at(socket), pane, { history: count });
  return rows.join("\n").trimEnd().split("\n").slice(-count).join("\n");
}

const digest = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 16);
