import type { TopologyView } from "../../api/schemas/routing.ts";
import { exportFormats, type ExportFormat } from "../../routing/topology/export.ts";
import { command, usage } from "../input/args.ts";
import type { Context } from "../command.ts";
import { present } from "../output/present.ts";
import { table, type Cell } from "../output/table.ts";
import type { Lines, TextStyle } from "../output/terminal.ts";

const choices = ["show", "add", "rm", "check", "export"] as const;
const args = [
  { name: "action", choices, summary: "what to do" },
  { name: "edge", optional: true, many: true, field: { add: "edge", rm: "edge" } },
] as const;
const flags = {
  format: { value: "FORMAT", choices: exportFormats, field: { export: "format" }, note: "default text" },
  close: { field: { add: "close" } },
} as const;
type EdgeView = TopologyView["removed"][number];
type Running = Context<typeof args, typeof flags>;

const topology = command({
  name: "topology",
  group: "Project",
  summary: "Show, check or change which agents may write to which.",
  actions: {
    show: "topology",
    add: "topologyAdd",
    rm: "topologyRemove",
    check: "topologyCheck",
    export: "topologyExport",
  },
  usage: ["topology show|check", 'topology add|rm "<from> -> <to>"', "topology export"],
  details: [
    "Edges are in tieline.yaml, which is never changed. Edges that you add or remove at run time are " +
      "stored separately and marked. Only the user may change them, and agents with `may: [topology]`.",
    "In a team without a topology, all agents may write to each other. The first edge changes that for " +
      "all of them, so `add` refuses it without --close. Removing the last run-time edge opens the team " +
      "again.",
    "An edge of tieline.yaml that you remove stays listed as removed; `add` brings it back.",
    "`check` lists names that match no agent, object, profile or role, with their place in the file, and " +
      "exits with 2 if there are any.",
  ],
  args,
  flags,
  examples: [
    ["tieline topology show", "the edges in effect, and where each comes from"],
    ['tieline topology add "coder <-> docs"', "both ways, until it is removed"],
    ['tieline topology add --close "lead -> coder"', "the first edge of a team without a topology"],
    ["tieline topology export --format mermaid", "a diagram for a README"],
  ],
  run: (context) => run[context.args.action as keyof typeof run](context),
});
export default topology;

const run = { show, add, rm, check, export: write } satisfies Record<
  (typeof choices)[number],
  (context: Running) => Promise<number>
>;

async function show(context: Running): Promise<number> {
  return presentTopology(await context.daemon.call("topology", {}), context);
}

async function add(context: Running): Promise<number> {
  return presentTopology(
    await context.daemon.call("topologyAdd", {
      edge: edgeOf(context.args.edge),
      ...(context.flags.close && { close: true }),
    }),
    context,
  );
}

async function rm(context: Running): Promise<number> {
  return presentTopology(await context.daemon.call("topologyRemove", { edge: edgeOf(context.args.edge) }), context);
}

async function check({ daemon, flags, terminal }: Running): Promise<number> {
  const { team, problems } = await daemon.call("topologyCheck", {});
  if (flags.json) await terminal.json(problems);
  else if (problems.length === 0)
    await terminal.print(`${terminal.paint("green", "✓")} every name in the topology of team ${team} resolves`);
  else
    for (const { message, remedy } of problems)
      await terminal.print([`${terminal.paint("red", "✗")} ${message}`, `    ${terminal.paint("dim", remedy)}`]);
  return problems.length === 0 ? 0 : 2;
}

async function write({ daemon, flags, terminal }: Running): Promise<number> {
  const format: ExportFormat = flags.format ?? "text";
  const { text } = await daemon.call("topologyExport", { format });
  if (flags.json) await terminal.json({ format, text });
  else await terminal.body(text);
  return 0;
}

/** `coder -> docs` may come as one word or as three. */
function edgeOf(words: readonly string[]): string {
  if (words.length > 0) return words.join(" ");
  throw usage(topology, "<edge> is missing");
}

function presentTopology(view: TopologyView, context: Running): Promise<number> {
  return present(view, topologyText(view, context.terminal), context);
}

function topologyText({ team, edges, removed }: TopologyView, { paint, width }: Running["terminal"]): Lines {
  if (edges === null) return `team ${team} has no topology: every agent may write to every other`;
  const none = `the topology of team ${team} has no edges: agents may only reply and write to user`;
  const row = ({ from, to, place }: EdgeView, origin: string, style: TextStyle, mark: TextStyle): Cell[] => [
    { text: `${from} -> ${to}`, style },
    { text: origin, style: mark },
    { text: place ?? "", style: "dim" },
  ];
  const rows = [
    ...edges.map((edge) => row(edge, edge.origin, "bold", edge.origin === "config" ? "dim" : "yellow")),
    ...removed.map((edge) => row(edge, "removed at run time", "dim", "yellow")),
  ];
  return [
    ...(edges.length === 0 ? [none] : []),
    ...(rows.length === 0 ? [] : table(["EDGE", "FROM", "PLACE"], rows, paint, width())),
  ];
}
