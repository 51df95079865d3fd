import type { Switch } from "../../compose/index.ts";
import { leadFirst } from "../../agents/layout/place.ts";
import { endpointBy, isLive, type Agent } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import { arrange, restore, type Seat } from "../../agents/layout/layout.ts";
import { paneLocator } from "../../delivery/transports/paneLocator.ts";
import type { Callers } from "../callers.ts";
import type { Operations } from "../../daemon/http.ts";
import { programCalled } from "../addressed.ts";
import { usualTransport } from "../../delivery/transportSelection.ts";

export function seeingOperations(tieline: Switch, callers: Callers): Pick<Operations, "explain" | "layout"> {
  const { directory, statusMonitor } = tieline;

  return {
    async explain({ agent: address }, { caller }) {
      const from = await callers.sender(caller);
      const agent = programCalled(address, from, tieline);
      const explanation = await statusMonitor.explain(agent);
      if (explanation === null) {
        throw new TielineError("PANE_UNKNOWN", `${agent.name} is in no pane, so there is no screen to read`, {
          remedy: "`tieline ls` shows its state",
          operands: { agent: agent.name, state: agent.state },
        });
      }
      return {
        agent: agent.name,
        provider: agent.provider,
        ...explanation,
        way: usualTransport(agent, (name) => tieline.transports.get(name)!),
      };
    },

    async layout({ layout, team }, { caller }) {
      const from = await callers.allow(caller, "spawn");
      const wanted = tieline.teams.mustExist(team ?? from.team);
      await statusMonitor.refresh(directory.roster.inTeam(wanted));
      const seats = seatsOf(directory.roster.inTeam(wanted).filter(isLive));
      const [first] = seats;
      if (first === undefined) throw nobodyToShow(wanted);
      const server = tieline.servers.at(first.socket);
      if (layout === "restore") return { session: null, shown: await restore(server, seats), leftOut: [] };
      const near = seats.filter(({ socket }) => socket === first.socket);
      const far = seats
        .filter(({ socket }) => socket !== first.socket)
        .map(({ name }) => ({ agent: name, reason: "it is on another tmux server" }));
      const { session, shown, leftOut } = await arrange(server, near, layout === "mosaic" ? "tiled" : layout, "mosaic");
      return { session, shown: [...shown], leftOut: [...leftOut, ...far] };
    },
  };
}

/** The lead first. */
function seatsOf(agents: readonly Agent[]): (Seat & { socket: string })[] {
  return leadFirst(agents).flatMap((agent) => {
    const endpoint = endpointBy("tmux", agent);
    if (endpoint === undefined) return [];
    const { socket, pane } = paneLocator(endpoint);
    return [{ name: agent.name, socket, pane }];
  });
}

const nobodyToShow = (team: string): TielineError =>
  new TielineError("PANE_UNKNOWN", `no agent of team ${team} is in a pane`, {
    remedy: "start some with `tieline up` or `tieline spawn`, or make running ones agents with `tieline adopt`",
    operands: { team },
  });
