import type { Switch } from "../../compose/index.ts";
import { capture } from "../../tmux/pane.ts";
import type { PaneLocator } from "../../delivery/transports/paneLocator.ts";
import { paneOf, programCalled } from "../addressed.ts";
import type { Callers } from "../callers.ts";
import type { Operations } from "../../daemon/http.ts";

/** The content of an agent's pane, once or whenever it changes. */
export function readingOperations(tieline: Switch, callers: Callers): Pick<Operations, "read" | "readNext"> {
  const { readLines } = tieline.config.terminal;

  return {
    async read({ agent: address, lines = readLines }, { caller }) {
      const agent = programCalled(address, await callers.sender(caller), tieline);
      const { locator } = paneOf(agent);
      return { agent: agent.name, pane: locator.pane, text: await lastLines(locator, lines) };
    },

    async readNext({ agent: address, lines = readLines, mark, timeoutMs }, { caller, signal }) {
      const agent = programCalled(address, await callers.sender(caller), tieline);
      const { endpoint, locator } = paneOf(agent);
      const over = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      let changed: () => void = () => undefined;
      using _ = tieline.tmux.watch(agent, endpoint, () => changed());
      for (;;) {
        const next = new Promise<void>((resolve) => {
          changed = resolve;
          over.addEventListener("abort", () => resolve(), { once: true });
        });
        const text = await lastLines(locator, lines);
        const seen = digest(text);
        if (seen !== mark || over.aborted) return { agent: agent.name, pane: locator.pane, text, mark: seen };
        await next;
      }
    },
  };

  async function lastLines({ socket, pane }: PaneLocator, count: number): Promise<string> {
    const rows = await capture(tieline.servers.at(socket), pane, { history: count });
    return rows.join("\n").trimEnd().split("\n").slice(-count).join("\n");
  }
}

const digest = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 16);
