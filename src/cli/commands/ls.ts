import type { Client } from "../../client/client.ts";
import type { StreamedEvent } from "../../client/stream.ts";
import { command } from "../input/args.ts";
import { agentTable, noAgentsAtAll } from "../output/agentTable.ts";
import type { Context } from "../command.ts";
import { callerOf } from "../daemon/connect.ts";
import { namesIn } from "../output/names.ts";
import { stopSignal } from "../input/stopSignal.ts";

export default command({
  name: "ls",
  group: "Agents",
  operation: "ls",
  usage: ["ls"],
  args: [],
  flags: {
    all: { short: "a", field: "all" },
    watch: { short: "w", summary: "keep updating, until Ctrl-C" },
    names: { summary: "only the names, one per line; team:name if they are in several teams" },
  },
  examples: [
    ["tieline ls", "your team"],
    ["tieline ls --all --watch", "every team, live"],
    ["tieline ls --json | jq -r '.[] | select(.pending > 0) | .name'", "agents with waiting mail"],
  ],
  async run({ flags, env, home, daemon, terminal }) {
    const all = flags.all ? { all: true } : {};
    if (flags.watch) return watch({ flags, env, home, daemon, terminal }, all);
    const agents = await daemon.call("ls", all);
    if (flags.json) await terminal.json(agents);
    else if (flags.names) {
      const nameOf = await namesIn(
        undefined,
        agents.map((one) => one.team),
        daemon,
      );
      await terminal.print(agents.map(({ team, name }) => nameOf(team, name)));
    } else if (agents.length === 0 && flags.team !== undefined)
      await terminal.print(
        terminal.paint("dim", `no agents in team ${flags.team}; \`tieline team ls\` lists the teams`),
      );
    else if (agents.length === 0 && !flags.all) await terminal.print(terminal.paint("dim", await noneHere(daemon)));
    else await terminal.print(agentTable(agents, terminal, { now: terminal.now(), teams: flags.all ?? false }));
    return 0;
  },
});

async function noneHere(daemon: Client): Promise<string> {
  const [{ team }, agents] = await Promise.all([daemon.call("whoami", {}), daemon.call("ls", { all: true })]);
  const running = agents.filter(
    ({ kind, presence }) => kind === "program" && (presence === "active" || presence === "idle"),
  ).length;
  return running === 0
    ? noAgentsAtAll
    : `no agents in team ${team}; ${running} ${running === 1 ? "runs" : "run"} in other teams: \`tieline ls --all\``;
}

type Watched = Pick<Context, "env" | "home" | "daemon" | "terminal"> & {
  readonly flags: { readonly json?: boolean | undefined; readonly team?: string | undefined };
};

/** Keeps showing the agents until Ctrl-C. */
export async function watch(
  { flags, env, home, daemon, terminal }: Watched,
  shown: { readonly all?: boolean; readonly hints?: readonly string[] },
): Promise<number> {
  const [{ watchAgents }, { streamEvents }, { attendedStream }] = await Promise.all([
    import("../steps/watch.ts"),
    import("../../client/stream.ts"),
    import("../daemon/attend.ts"),
  ]);
  const stop = stopSignal();
  const caller = await callerOf(home, env, flags.team);
  const eventsAfter = (after: number): AsyncIterable<StreamedEvent> =>
    attendedStream(home, stop, (signal) => streamEvents({ socket: home.socket }, caller, { after }, signal));
  return watchAgents(daemon, terminal, { ...shown, json: flags.json ?? false, eventsAfter, stop });
}
