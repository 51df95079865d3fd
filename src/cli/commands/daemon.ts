import type { Client } from "../../client/client.ts";
import type { Output } from "../../client/schema.ts";
import { TielineError } from "../../model/errors.ts";
import { systemProcesses } from "../../tmux/process.ts";
import { command } from "../args.ts";
import type { Context } from "../command.ts";
import { count, span } from "../times.ts";

const actions = ["start", "stop", "status", "logs"] as const;
const args = [{ name: "action", choices: actions, summary: "what to do" }] as const;
const flags = {
  follow: { short: "f", summary: "logs: keep printing what is added, until Ctrl-C" },
  lines: { short: "n", value: "N", parse: count, summary: "logs: how many of the last lines; 100 when left out" },
} as const;
type Running = Context<typeof args, typeof flags>;

export default command({
  name: "daemon",
  group: "Tieline itself",
  summary: "start, stop or look at the daemon",
  usage: ["daemon start|stop|status|logs"],
  details: ["There is no need to start it: the first command that needs the daemon does. Stopping loses nothing; what waits is delivered after the next start."],
  args,
  flags,
  examples: [
    ["tieline daemon status", "whether it runs, and since when"],
    ["tieline daemon logs -f", "watch its log"],
    ["tieline daemon stop", "stop it cleanly"],
  ],
  run: (context) => run[context.args.action as keyof typeof run](context),
});

const run = { start, stop, status, logs } satisfies Record<(typeof actions)[number], (context: Running) => Promise<number>>;

async function start({ daemon, flags, terminal }: Running): Promise<number> {
  const found = await daemon.call("daemonStatus", {});
  if (flags.json) await terminal.json(found);
  else await terminal.print(`${terminal.paint("green", "✓")} the daemon runs   ${terminal.paint("dim", facts(found))}`);
  return 0;
}

async function status({ runningDaemon, home, flags, terminal }: Running): Promise<number> {
  const found = await statusOf(runningDaemon);
  if (flags.json) await terminal.json(found ?? { running: false, pid: null, version: null, socket: home.socket });
  else if (found) await terminal.print(`${terminal.paint("green", "●")} running   ${terminal.paint("dim", facts(found))}`);
  else await terminal.print(`${terminal.paint("dim", "○")} not running   ${terminal.paint("dim", home.socket)}`);
  return 0;
}

async function stop({ runningDaemon, flags, terminal }: Running): Promise<number> {
  const found = await statusOf(runningDaemon);
  if (found) {
    await runningDaemon.call("daemonStop", {});
    await untilEnded(found.pid);
  }
  if (flags.json) await terminal.json({ running: false, stopped: found !== null });
  else await terminal.print(found ? `${terminal.paint("green", "✓")} the daemon stopped` : "the daemon is not running");
  return 0;
}

async function logs({ home, flags, terminal }: Running): Promise<number> {
  const { printLog } = await import("../tail.ts");
  return printLog(home.log, terminal, { lines: flags.lines ?? 100, follow: flags.follow ?? false });
}

type Status = Output<"daemonStatus">;

async function statusOf(daemon: Client): Promise<Status | null> {
  try {
    return await daemon.call("daemonStatus", {});
  } catch (error) {
    if (error instanceof TielineError && error.code === "DAEMON_UNAVAILABLE") return null;
    throw error;
  }
}

function facts({ pid, version, startedAt, agents, waiting, residentBytes }: Status): string {
  const megabytes = Math.round(residentBytes / 1e6);
  return `pid ${pid} · ${version} · for ${span(Date.now() - startedAt)} · ${agents} agents · ${waiting} messages wait · ${megabytes} MB`;
}

const stopDeadlineMs = 15_000;

/** A process that is not our child can only be looked for. One that waits for its parent to notice has ended. */
async function untilEnded(pid: number): Promise<void> {
  const deadline = Date.now() + stopDeadlineMs;
  const processes = systemProcesses();
  while (await processes.read(pid)) {
    if (Date.now() > deadline) {
      throw new TielineError("NOT_IN_TIME", `the daemon (pid ${pid}) is still there after ${stopDeadlineMs / 1000} s`, {
        remedy: `look at \`tieline daemon logs\`; \`kill ${pid}\` ends it, and loses nothing`,
        operands: { pid },
      });
    }
    await Bun.sleep(10);
  }
}
