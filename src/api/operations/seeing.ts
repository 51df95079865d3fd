import { z } from "zod";
import type { Directory } from "../../agents/directory/directory.ts";
import { arrange, restore, type Seat } from "../../agents/layout/layout.ts";
import { leadFirst } from "../../agents/layout/place.ts";
import type { TmuxServers } from "../../agents/layout/servers.ts";
import type { StatusMonitor } from "../../agents/status/statusMonitor.ts";
import type { Teams } from "../../agents/teams.ts";
import { usualTransport } from "../../delivery/transportSelection.ts";
import { tmuxEndpoint } from "../../delivery/transports/paneEndpoint.ts";
import type { Transport } from "../../delivery/transports/port.ts";
import { endpointBy, isLive, type Agent } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import type { RouterParts } from "../../routing/router.ts";
import { programCalled } from "../addressed.ts";
import type { Callers } from "../callers.ts";
import { operation } from "../operation.ts";
import { ExplanationView } from "../schemas/seeing.ts";
import { oneAgent } from "../schemas/life.ts";

export interface SeeingParts {
  readonly callers: Callers;
  readonly statusMonitor: StatusMonitor;
  readonly transports: ReadonlyMap<string, Transport>;
  readonly teams: Teams;
  readonly directory: Directory;
  readonly servers: TmuxServers;
  readonly resolve: RouterParts["resolve"];
}

export const seeingOperations = [
  operation({
    name: "explain",
    summary: "Show the state of an agent's screen, and the rule that matched.",
    access: "agent",
    input: oneAgent,
    output: ExplanationView,
    async run(parts: SeeingParts, { agent: address }, { caller }) {
      const { callers, statusMonitor } = parts;
      const from = await callers.sender(caller);
      const agent = programCalled(address, from, parts);
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
        way: usualTransport(agent, (name) => parts.transports.get(name)!),
      };
    },
  }),

  /** All agents of a team in one window of tmux, or back where they were. */
  operation({
    name: "layout",
    summary: "Show all agents of a team in one tmux window, or put them back.",
    access: "spawn",
    input: z.object({
      layout: z
        .enum(["mosaic", "restore", "tiled", "even-horizontal", "even-vertical", "main-horizontal", "main-vertical"])
        .describe("a layout of tmux; mosaic is tiled, restore puts each pane back into its window"),
      team: z.string().optional().describe("the team; default: the caller's"),
    }),
    output: z.object({
      session: z.string().nullable(),
      shown: z.array(z.string()).describe("the agents in the view, or put back; the lead first"),
      leftOut: z.array(z.object({ agent: z.string(), reason: z.string() })),
    }),
    async run(parts: SeeingParts, { layout, team }, { caller }) {
      const { callers, statusMonitor, directory } = parts;
      const from = await callers.allow(caller, "spawn");
      const wanted = parts.teams.mustExist(team ?? from.team);
      await statusMonitor.refresh(directory.roster.inTeam(wanted));
      const seats = seatsOf(directory.roster.inTeam(wanted).filter(isLive));
      const [first] = seats;
      if (first === undefined) throw nobodyToShow(wanted);
      const server = parts.servers.at(first.socket);
      if (layout === "restore") return { session: null, shown: await restore(server, seats), leftOut: [] };
      const near = seats.filter(({ socket }) => socket === first.socket);
      const far = seats
        .filter(({ socket }) => socket !== first.socket)
        .map(({ name }) => ({ agent: name, reason: "it is on another tmux server" }));
      const { session, shown, leftOut } = await arrange(server, near, layout === "mosaic" ? "tiled" : layout, "mosaic");
      return { session, shown: [...shown], leftOut: [...leftOut, ...far] };
    },
  }),
] as const;

/** The lead first. */
function seatsOf(agents: readonly Agent[]): (Seat & { socket: string })[] {
  return leadFirst(agents).flatMap((agent) => {
    const endpoint = endpointBy("tmux", agent);
    if (endpoint === undefined) return [];
    const { socket, pane } = tmuxEndpoint.locatorOf(endpoint);
    return [{ name: agent.name, socket, pane }];
  });
}

const nobodyToShow = (team: string): TielineError =>
  new TielineError("PANE_UNKNOWN", `no agent of team ${team} is in a pane`, {
    remedy: "start some with `tieline up` or `tieline spawn`, or adopt running ones with `tieline adopt`",
    operands: { team },
  });
