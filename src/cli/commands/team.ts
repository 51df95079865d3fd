import type { TeamView } from "../../api/schemas/routing.ts";
import { command, usage } from "../input/args.ts";
import type { Context } from "../command.ts";
import { table, type Cell } from "../output/table.ts";
import { present } from "../output/present.ts";

const choices = ["create", "ls", "show", "join", "leave", "rename", "disband", "shutdown"] as const;
const args = [
  { name: "action", choices, summary: "what to do" },
  { name: "name", optional: true, complete: "team", field: "team" },
  {
    name: "other",
    optional: true,
    complete: "agent",
    field: { join: "agent", leave: "agent", rename: "name" },
  },
] as const;
const flags = {
  force: { field: { disband: "force" } },
  names: { summary: "ls: only the names, one per line" },
} as const;
type Running = Context<typeof args, typeof flags>;

const team = command({
  name: "team",
  group: "Agents",
  summary: "Manage teams.",
  actions: {
    create: "teamCreate",
    ls: "teams",
    show: "team",
    join: "teamJoin",
    leave: "teamLeave",
    rename: "teamRename",
    disband: "teamDisband",
    shutdown: "teamShutdown",
  },
  usage: [
    "team ls",
    "team create|show|shutdown <team>",
    "team join <team> [agent]",
    "team leave [team] [agent]",
    "team rename <team> <name>",
    "team disband <team>",
  ],
  details: [
    "A team is a namespace with a topology. It belongs to one project directory. In a second clone or " +
      "worktree, `team create` with another name gives that directory its own team. Only the user moves " +
      "agents; an agent with `may: [topology]` may move itself.",
  ],
  args,
  flags,
  examples: [
    ["tieline team create feat-auth", "a team for the current project"],
    ["tieline team show feat-auth", "its members, their mail and its aliases"],
    ["tieline team join feat-auth ana", "move ana there"],
    ["tieline team disband feat-auth --force", "even if mail is queued"],
  ],
  run: (context) => run[context.args.action as keyof typeof run](context),
});
export default team;

const run = {
  create: async (context) => presentTeam(await context.daemon.call("teamCreate", { team: nameOf(context) }), context),
  show: async (context) => presentTeam(await context.daemon.call("team", { team: nameOf(context) }), context),
  join: async (context) =>
    presentTeam(await context.daemon.call("teamJoin", { team: nameOf(context), ...agentOf(context) }), context),
  leave: async (context) =>
    presentTeam(
      await context.daemon.call("teamLeave", {
        ...(context.args.name !== undefined && { team: context.args.name }),
        ...agentOf(context),
      }),
      context,
    ),
  ls,
  rename,
  disband,
  shutdown,
} satisfies Record<(typeof choices)[number], (context: Running) => Promise<number>>;

async function ls({ daemon, flags, terminal }: Running): Promise<number> {
  const teams = await daemon.call("teams", {});
  const rows = teams.map(({ name, members, pending, edges, root }): Cell[] => [
    { text: name, style: "bold" },
    { text: String(members.length) },
    pending > 0 ? { text: String(pending), style: "yellow" } : { text: "–", style: "dim" },
    { text: edges === null ? "open" : `${edges} edges` },
    { text: root ?? "no project", style: "dim" },
  ]);
  if (flags.json) await terminal.json(teams);
  else if (flags.names) await terminal.print(teams.map(({ name }) => name));
  else if (teams.length === 0)
    await terminal.print(terminal.paint("dim", "no teams; `tieline team create NAME` creates one"));
  else
    await terminal.print(
      table(["TEAM", "AGENTS", "MAIL", "TOPOLOGY", "PROJECT"], rows, terminal.paint, terminal.width()),
    );
  return 0;
}

async function rename(context: Running): Promise<number> {
  const { other: name } = context.args;
  if (name === undefined) throw usage(team, "the new name is missing");
  return presentTeam(await context.daemon.call("teamRename", { team: nameOf(context), name }), context);
}

async function disband(context: Running): Promise<number> {
  const { daemon, flags, terminal } = context;
  const result = await daemon.call("teamDisband", { team: nameOf(context), ...(flags.force && { force: true }) });
  const failed = result.failedDeliveries === 0 ? "" : `, ${result.failedDeliveries} messages failed`;
  return present(
    result,
    `${terminal.paint("green", "✓")} team ${result.name} is gone: ` +
      `${result.removed.join(", ") || "it had no agents"}${failed}`,
    { flags, terminal },
  );
}

async function shutdown(context: Running): Promise<number> {
  const { daemon, flags, terminal } = context;
  const result = await daemon.call("teamShutdown", { team: nameOf(context) });
  return present(
    result,
    result.stopped.length === 0 ? "no agent was running" : `stopped: ${result.stopped.join(", ")}`,
    {
      flags,
      terminal,
    },
  );
}

function nameOf({ args }: Running): string {
  if (args.name !== undefined) return args.name;
  throw usage(team, "<team> is missing");
}

const agentOf = ({ args }: Running): { agent?: string } => (args.other === undefined ? {} : { agent: args.other });

async function presentTeam(view: TeamView, { flags, terminal }: Running): Promise<number> {
  return present(view, portrait(view, terminal), { flags, terminal });
}

function portrait({ name, root, members, edges, aliases }: TeamView, { paint, width }: Running["terminal"]): string[] {
  const rows = members.map((member): Cell[] => [
    { text: member.name, style: "bold" },
    { text: member.role ?? "–" },
    { text: member.state },
    member.pending > 0 ? { text: String(member.pending), style: "yellow" } : { text: "–", style: "dim" },
    { text: member.reason ?? "" },
  ]);
  return [
    `${paint("bold", name)}   ${root ?? "no project"}   ` +
      `${edges === null ? "no topology: everyone may write to everyone" : `${edges} edges`}`,
    ...Object.entries(aliases).map(([alias, of]) => `  @${alias}: ${of.join(", ")}`),
    ...(members.length === 0
      ? [paint("dim", "  no agents yet")]
      : table(["NAME", "ROLE", "STATE", "MAIL", "WHY"], rows, paint, width())),
  ];
}
