import { TielineError } from "../model/errors.ts";
import type { AnyCommand } from "./command.ts";

type Load = () => Promise<{ readonly default: AnyCommand }>;

/** Every command, in the order of `tieline help`. A command's file is read only when it runs. */
export const registry: Readonly<Record<string, Load>> = {
  send: () => import("./commands/send.ts"),
  broadcast: () => import("./commands/broadcast.ts"),
  reply: () => import("./commands/reply.ts"),
  ask: () => import("./commands/ask.ts"),
  approve: () => import("./commands/approve.ts"),
  deny: () => import("./commands/deny.ts"),
  inbox: () => import("./commands/inbox.ts"),
  show: () => import("./commands/show.ts"),
  status: () => import("./commands/status.ts"),
  log: () => import("./commands/log.ts"),
  cancel: () => import("./commands/cancel.ts"),
  retry: () => import("./commands/retry.ts"),
  export: () => import("./commands/export.ts"),
  dead: () => import("./commands/dead.ts"),
  ls: () => import("./commands/ls.ts"),
  spawn: () => import("./commands/spawn.ts"),
  adopt: () => import("./commands/adopt.ts"),
  attach: () => import("./commands/attach.ts"),
  answer: () => import("./commands/answer.ts"),
  interrupt: () => import("./commands/interrupt.ts"),
  stop: () => import("./commands/stop.ts"),
  kill: () => import("./commands/kill.ts"),
  resume: () => import("./commands/resume.ts"),
  restart: () => import("./commands/restart.ts"),
  rm: () => import("./commands/rm.ts"),
  prune: () => import("./commands/prune.ts"),
  read: () => import("./commands/read.ts"),
  resolve: () => import("./commands/resolve.ts"),
  profiles: () => import("./commands/profiles.ts"),
  team: () => import("./commands/team.ts"),
  note: () => import("./commands/note.ts"),
  metrics: () => import("./commands/metrics.ts"),
  layout: () => import("./commands/layout.ts"),
  explain: () => import("./commands/explain.ts"),
  init: () => import("./commands/init.ts"),
  trust: () => import("./commands/trust.ts"),
  topology: () => import("./commands/topology.ts"),
  open: () => import("./commands/open.ts"),
  up: () => import("./commands/up.ts"),
  down: () => import("./commands/down.ts"),
  dash: () => import("./commands/dash.ts"),
  devices: () => import("./commands/devices.ts"),
  events: () => import("./commands/events.ts"),
  daemon: () => import("./commands/daemon.ts"),
  setup: () => import("./commands/setup.ts"),
  shortcuts: () => import("./commands/shortcuts.ts"),
  doctor: () => import("./commands/doctor.ts"),
  backup: () => import("./commands/backup.ts"),
  restore: () => import("./commands/restore.ts"),
  demo: () => import("./commands/demo.ts"),
  whoami: () => import("./commands/whoami.ts"),
  mcp: () => import("./commands/mcp.ts"),
  skill: () => import("./commands/skill.ts"),
  completions: () => import("./commands/completions.ts"),
  help: () => import("./commands/help.ts"),
  version: () => import("./commands/version.ts"),
};

export async function unknownCommand(name: string): Promise<TielineError> {
  const { didYouMean, nearNames } = await import("../model/near.ts");
  return new TielineError(
    "USAGE",
    `unknown command ${JSON.stringify(name)}${didYouMean(nearNames(name, Object.keys(registry)))}`,
    {
      remedy: "`tieline help` lists the commands",
    },
  );
}

export function loadAll(): Promise<AnyCommand[]> {
  return Promise.all(Object.values(registry).map(async (load) => (await load()).default));
}
