import type { Switch } from "../../compose.ts";
import { endpointBy } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import { typeKeysGuarded } from "../../tmux/write.ts";
import { paneLocator } from "../../transports/paneLocator.ts";
import { agentCalled } from "../addressed.ts";
import type { Callers } from "../callers.ts";
import type { Operations } from "../http.ts";
import type { Loopback } from "../loopback.ts";
import type { PageSessions } from "../page/sessions.ts";

/** What only the page and the person behind it need. */
export function pageOperations(tieline: Switch, callers: Callers, sessions: PageSessions, loopback: () => Loopback | null): Pick<Operations, "dash" | "typeKeys"> {
  return {
    async dash({ port: wanted }, { caller }) {
      await callers.person(caller);
      if (wanted !== undefined) loopback()?.alsoAt(wanted);
      const port = wanted ?? loopback()?.port ?? null;
      if (port === null) throw notYet();
      return { url: `http://127.0.0.1:${port}/open?code=${sessions.newCode()}`, port };
    },

    async typeKeys({ agent: address, keys }, { caller }) {
      const from = await callers.person(caller);
      const agent = agentCalled(address, from, tieline);
      const endpoint = endpointBy("tmux", agent);
      if (endpoint === undefined) throw notTyped(agent.name, "it is in no pane");
      const { socket, pane, panePid, serverPid } = paneLocator(endpoint);
      const written = await typeKeysGuarded(tieline.servers.at(socket), { pane, panePid, guards: { serverPid }, keys });
      if (!written.done) throw notTyped(agent.name, `its pane has changed (${written.failed.join(", ")})`);
      return { agent: agent.name, pane };
    },
  };
}

const notYet = (): TielineError => new TielineError("DAEMON_UNAVAILABLE", "the daemon is still starting", { remedy: "try again in a moment" });

const notTyped = (agent: string, why: string): TielineError =>
  new TielineError("PANE_UNKNOWN", `nothing was typed to ${agent}: ${why}`, { remedy: "`tieline ls` shows where it is; leave copy mode in its pane first", operands: { agent } });
