import type { Switch } from "../../compose/index.ts";
import { endpointBy } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import { typeKeysGuarded } from "../../tmux/write.ts";
import { paneLocator } from "../../delivery/transports/paneLocator.ts";
import { agentCalled } from "../addressed.ts";
import type { Callers } from "../callers.ts";
import type { Operations } from "../../daemon/http.ts";
import type { Loopback } from "../../daemon/loopback.ts";
import type { Preferences } from "../../daemon/page/preferences.ts";
import type { PageSessions } from "../../daemon/page/sessions.ts";

type PageOperations = Pick<
  Operations,
  "dash" | "devices" | "devicesRevoke" | "preferences" | "preferencesSet" | "typeKeys"
>;

export interface PageParts {
  readonly sessions: PageSessions;
  readonly preferences: Preferences;
  /** null: not open yet. */
  readonly loopback: () => Loopback | null;
}

/** What only the page and the user behind it need. */
export function pageOperations(
  tieline: Switch,
  callers: Callers,
  { sessions, preferences, loopback }: PageParts,
): PageOperations {
  return {
    async dash({ port: wanted, byAddress = false, fileIn = null }, { caller }) {
      await callers.user(caller);
      const open = loopback();
      if (open === null) throw notYet();
      if (wanted !== undefined) await open.alsoAt(wanted);
      const port = wanted ?? open.port;
      return { ...sessions.link({ port, byAddress, fileIn }), port };
    },

    async devices(_, { caller }) {
      await callers.user(caller);
      return sessions.devices.list();
    },

    async devicesRevoke(input, { caller }) {
      await callers.user(caller);
      const known = sessions.devices.list().map(({ id }) => id);
      const wanted = "all" in input ? known : input.devices;
      const unknown = wanted.find((id) => !known.includes(id));
      if (unknown !== undefined) throw noDevice(unknown);
      return { revoked: sessions.devices.revoke(wanted) };
    },

    async preferences(_, { caller }) {
      await callers.user(caller);
      return preferences.read();
    },

    async preferencesSet({ values }, { caller }) {
      await callers.user(caller);
      return { bytes: preferences.set(values) };
    },

    async typeKeys({ agent: address, keys }, { caller }) {
      const from = await callers.user(caller);
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

const notYet = (): TielineError =>
  new TielineError("DAEMON_UNAVAILABLE", "the daemon is still starting", { remedy: "try again in a moment" });

const noDevice = (id: string): TielineError =>
  new TielineError("TARGET_NOT_FOUND", `no device has the id ${id}`, {
    remedy: "`tieline devices ls` lists them",
    operands: { device: id },
  });

const notTyped = (agent: string, why: string): TielineError =>
  new TielineError("PANE_UNKNOWN", `nothing was typed to ${agent}: ${why}`, {
    remedy: "`tieline ls` shows where it is; leave copy mode in its pane first",
    operands: { agent },
  });
