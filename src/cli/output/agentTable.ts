import type { AgentView } from "../../api/schema.ts";
import { present, type Presenting } from "./present.ts";
import { table, type Cell } from "./table.ts";
import type { TextStyle, Terminal } from "./terminal.ts";
import { span } from "../input/times.ts";

const dots: Record<AgentView["presence"], readonly [dot: string, style: TextStyle]> = {
  active: ["●", "green"],
  idle: ["○", "yellow"],
  offline: ["×", "dim"],
  terminated: ["×", "dim"],
};

const stateStyles: Partial<Record<AgentView["state"], TextStyle>> = {
  working: "green",
  starting: "yellow",
  permission: "yellow",
  question: "yellow",
  dialog: "yellow",
  limited: "yellow",
  gone: "red",
  done: "dim",
  suspended: "dim",
  unknown: "dim",
};

export interface TableOptions {
  readonly now: number;
  /** Show the team of each agent, and those of a team together; shown in any case where they are of several. */
  readonly teams: boolean;
}

/** One agent, after something was done to it. */
export const presentAgent = (agent: AgentView, context: Presenting): Promise<number> =>
  present(agent, agentTable([agent], context.terminal, { now: context.terminal.now(), teams: true }), context);

export const noAgentsAtAll =
  "no agents; `tieline up` starts those of a project, `tieline adopt <pane> --name NAME` takes in a running program";

export function agentTable(
  agents: readonly AgentView[],
  terminal: Pick<Terminal, "paint" | "width">,
  { now, teams: wanted }: TableOptions,
): string[] {
  if (agents.length === 0) return [terminal.paint("dim", noAgentsAtAll)];
  const teams = wanted || agents.some(({ team }) => team !== agents[0]!.team);
  const titles = ["", "NAME", ...(teams ? ["TEAM"] : []), "STATE", "PROVIDER", "PANE", "MAIL", "WHY"];
  const shown = teams ? agents.toSorted((a, b) => Number(a.team > b.team) - Number(a.team < b.team)) : agents;
  const rows = shown.map((agent): Cell[] => {
    const [dot, style] = dots[agent.presence];
    return [
      { text: dot, style },
      {
        text: agent.role !== null && agent.role !== agent.name ? `${agent.name} (${agent.role})` : agent.name,
        style: "bold",
      },
      ...(teams ? [{ text: agent.team }] : []),
      styled(agent.draft ? `${agent.state}, draft` : agent.state, stateStyles[agent.state]),
      { text: agent.provider },
      { text: agent.pane ?? "–" },
      agent.pending > 0 ? { text: String(agent.pending), style: "yellow" } : { text: "–", style: "dim" },
      { text: whyOf(agent, now) },
    ];
  });
  return table(titles, rows, terminal.paint, terminal.width());
}

const styled = (text: string, style: TextStyle | undefined): Cell => (style ? { text, style } : { text });

/** What keeps its mail waiting matters more than what it does. How a program ended says both. */
function whyOf({ name, state, pane, held, heldAt, reason, note, exit }: AgentView, now: number): string {
  if (held !== null && exit === null)
    return heldAt === null ? `held: ${held}` : `held: ${held} (for ${span(now - heldAt)})`;
  return (
    reason ??
    note ??
    (state === "unknown" && pane !== null ? `its screen is not understood: tieline explain ${name}` : "")
  );
}
