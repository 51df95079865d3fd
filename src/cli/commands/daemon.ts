import { command } from "../input/args.ts";
import type { Context } from "../command.ts";
import { present } from "../output/present.ts";
import { statusOf, stopRunning, type DaemonStatus } from "../daemon/runningDaemon.ts";
import { count, span } from "../input/times.ts";

const choices = ["start", "stop", "status", "logs"] as const;
const args = [{ name: "action", choices, summary: "what to do" }] as const;
const flags = {
  follow: { short: "f", summary: "logs: keep printing new lines, until Ctrl-C" },
  lines: { short: "n", value: "N", parse: count, summary: "logs: how many lines; default 100" },
} as const;
type Running = Context<typeof args, typeof flags>;

export default command({
  name: "daemon",
  group: "Tieline itself",
  summary: "Start, stop or inspect the daemon.",
  actions: {
    start: { summary: "Start the daemon if it is not running." },
    stop: "daemonStop",
    status: "daemonStatus",
    logs: { summary: "Print the log of the daemon." },
  },
  usage: ["daemon start|stop|status|logs"],
  details: [
    "The first command that needs the daemon starts it. Stopping loses nothing: queued mail is delivered " +
      "after the next start.",
  ],
  args,
  flags,
  examples: [
    ["tieline daemon status", "whether it runs, and since when"],
    ["tieline daemon logs -f", "watch its log"],
    ["tieline daemon stop", "stop it cleanly"],
  ],
  run: (context) => run[context.args.action as keyof typeof run](context),
});

const run = { start, stop, status, logs } satisfies Record<
  (typeof choices)[number],
  (context: Running) => Promise<number>
>;

async function start({ daemon, flags, terminal }: Running): Promise<number> {
  const found = await daemon.call("daemonStatus", {});
  return present(
    found,
    `${terminal.paint("green", "✓")} the daemon runs   ${terminal.paint("dim", facts(found, terminal.now()))}`,
    {
      flags,
      terminal,
    },
  );
}

async function status({ runningDaemon, home, flags, terminal }: Running): Promise<number> {
  const found = await statusOf(runningDaemon);
  if (flags.json) await terminal.json(found ?? { running: false, pid: null, version: null, socket: home.socket });
  else if (found)
    await terminal.print(
      `${terminal.paint("green", "●")} running   ${terminal.paint("dim", facts(found, terminal.now()))}`,
    );
  else await terminal.print(`${terminal.paint("dim", "○")} not running   ${terminal.paint("dim", home.socket)}`);
  return 0;
}

async function stop({ runningDaemon, flags, terminal }: Running): Promise<number> {
  const stopped = await stopRunning(runningDaemon);
  return present(
    { running: false, stopped },
    stopped ? `${terminal.paint("green", "✓")} the daemon stopped` : "the daemon is not running",
    { flags, terminal },
  );
}

async function logs({ home, flags, terminal }: Running): Promise<number> {
  const { printLog } = await import("../output/tail.ts");
  return printLog(home.log, terminal, { lines: flags.lines ?? 100, follow: flags.follow ?? false });
}

function facts({ pid, version, startedAt, agents, waiting, residentBytes }: DaemonStatus, now: number): string {
  const megabytes = Math.round(residentBytes / 1e6);
  return (
    `pid ${pid} · ${version} · for ${span(now - startedAt)} · ${agents} agent${agents === 1 ? "" : "s"} ` +
    `· ${waiting} message${waiting === 1 ? " waits" : "s wait"} · ${megabytes} MB`
  );
}
