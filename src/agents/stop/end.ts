/**
 * The end of an agent's program: asked for, interrupted, or by taking its pane away. What a resume needs is kept.
 */
import type { Directory } from "../directory/directory.ts";
import { endpointBy, type Agent } from "../../model/agent.ts";
import { asTielineError, TielineError } from "../../model/errors.ts";
import type { Providers } from "../../providers/providers.ts";
import { isSameProcess, type ProcessFacts, type Processes } from "../../os/processes.ts";
import { closeWithProgram, killPaneOf } from "../../tmux/session.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import { groupBelow, isBareShell, isShell } from "../../os/shell.ts";
import { pressGuarded, typeGuarded } from "../../tmux/write.ts";
import { type PaneLocator, tmuxEndpoint } from "../../delivery/transports/paneEndpoint.ts";
import type { ProbingTransport, Readiness } from "../../delivery/transports/port.ts";
import { lookFor, type Patience } from "../start/patience.ts";

export interface EndParts extends Patience {
  readonly providers: Pick<Providers, "of">;
  readonly directory: Directory;
  readonly servers: { at(socket: string): TmuxServer };
  readonly tmux: Pick<ProbingTransport, "probe">;
  readonly processes: Processes;
  /** How long a program may take over each step. */
  readonly patienceMs?: number;
  /** And to end when its terminal is gone. */
  readonly hangUpMs?: number;
}

const defaultPatienceMs = 10_000;
/** A program whose terminal is gone ends within this time, or does not mean to. */
const hangUpMs = 2_000;

/** Asks the program to end, then interrupts it. Throws NOT_IN_TIME when it keeps running. */
export async function stop(agent: Agent, parts: EndParts): Promise<Agent> {
  const pane = paneOf(agent);
  const companions = await companionsOf(agent, parts);
  if (pane === null || !(await runs(pane, parts))) return ended(agent, "it had already exited", companions, parts);
  await letPaneClose(pane, parts);
  const asked = await ask(agent, pane, parts);
  if (asked && (await hasEnded(pane, parts))) return ended(agent, "its exit command was typed", companions, parts);
  if (await terminate(pane, parts))
    return ended(agent, asked ? "it was interrupted" : "it got a signal to exit", companions, parts);
  throw new TielineError("NOT_IN_TIME", `${agent.name} was asked to exit and interrupted, and is still running`, {
    remedy: `\`tieline read ${agent.name}\` shows what it does; \`tieline kill ${agent.name}\` closes its pane`,
    operands: { agent: agent.name, pane: pane.pane },
  });
}

/**
 * Takes its pane away, and ends what outlives that. Others in the same window stay. Throws when something still runs
 * then.
 */
export async function kill(agent: Agent, parts: EndParts): Promise<Agent> {
  const pane = paneOf(agent);
  const companions = await companionsOf(agent, parts);
  if (pane === null) return ended(agent, "its pane was killed", companions, parts);
  const inPane = [...(await behindShell(pane, parts)), frontOf(pane)];
  const known = await killPaneOf(parts.servers.at(pane.socket), pane);
  if (!known && !(await runs(pane, parts))) return ended(agent, "it had already exited", companions, parts);
  // A conversation is free again only when its program has released it.
  if (known && !(await haveEnded(inPane, { ...parts, patienceMs: parts.hangUpMs ?? hangUpMs }))) {
    for (const one of inPane) await signal(one, "SIGKILL", parts);
  }
  return ended(agent, known ? "its pane was killed" : "its pane was already gone", [...inPane, ...companions], parts);
}

/** Soon after a start the pane would outlive its program. */
async function letPaneClose({ socket, pane }: PaneLocator, { servers }: EndParts): Promise<void> {
  await closeWithProgram(servers.at(socket), pane).catch((thrown: unknown) => {
    if (asTielineError(thrown).code !== "PANE_UNKNOWN") throw thrown;
  });
}

/** What Tieline itself runs beside the program in its pane. */
async function companionsOf(agent: Agent, { processes, providers }: EndParts): Promise<readonly KnownProcess[]> {
  const pid = providers.of(agent.provider).companionOf?.(agent) ?? null;
  const companion = pid === null ? undefined : await processes.read(pid);
  return companion ? [companion] : [];
}

function paneOf(agent: Agent): PaneLocator | null {
  const endpoint = endpointBy("tmux", agent);
  return endpoint === undefined ? null : tmuxEndpoint.locatorOf(endpoint);
}

/**
 * What can be started again, or has a conversation, is suspended; anything else is gone. Its pane is not there any more
 * even when something that ran with it still does, which is reported instead of the end.
 */
async function ended(
  { id, name }: Agent,
  why: string,
  others: readonly KnownProcess[],
  parts: EndParts,
): Promise<Agent> {
  const { directory } = parts;
  const haveAll = await haveEnded(others, parts);
  const { launch, sessionId } = directory.agent(id)!;
  const state = launch !== null || sessionId !== null ? "suspended" : "gone";
  const agent = directory.update(id, {
    endpoints: [],
    state,
    stateReason: haveAll ? why : `${why}, but some of its processes still run`,
    lastExit: null,
    draft: false,
  });
  if (haveAll) return agent;
  const running = (
    await Promise.all(others.map(async (one) => ((await isSameProcess(parts.processes, one)) ? [one.pid] : [])))
  ).flat();
  throw new TielineError("NOT_IN_TIME", `${why}, but ${name} still runs in process ${running.join(", ")}`, {
    remedy: `\`kill -9 ${running.join(" ")}\` ends it`,
    operands: { agent: name, pids: running },
  });
}

/** Types the program's exit command, at an idle prompt only. A running turn is interrupted first. */
async function ask(agent: Agent, pane: PaneLocator, parts: EndParts): Promise<boolean> {
  const { exitWords, interruptKeys } = parts.providers.of(agent.provider);
  if (exitWords === null) return false;
  const server = parts.servers.at(pane.socket);
  const write = { pane: pane.pane, panePid: pane.panePid, guards: { serverPid: pane.serverPid } };
  const probe = (): Promise<Readiness> => parts.tmux.probe(agent, endpointBy("tmux", agent)!);
  const isReady = async (): Promise<boolean> => (await probe()).kind === "ready";
  const isTyped = async (): Promise<boolean> => holdReason(await probe()) === "draft";
  if (holdReason(await probe()) === "busy") await pressGuarded(server, { ...write, keys: interruptKeys });
  if (!(await inTime(isReady, parts))) return false;
  if (!(await typeGuarded(server, { ...write, words: exitWords })).done) return false;
  if (!(await inTime(isTyped, parts))) return false;
  return (await pressGuarded(server, { ...write, keys: ["Enter"] })).done;
}

const holdReason = (readiness: Readiness): string | null => (readiness.kind === "held" ? readiness.hold.reason : null);

/**
 * Tells the program to end and, after it, a shell in front: a shell that ends first takes the terminal away from
 * both.
 */
async function terminate(pane: PaneLocator, parts: EndParts): Promise<boolean> {
  const behind = await behindShell(pane, parts);
  for (const one of behind) await tellToEnd(one, parts);
  if (!(await haveEnded(behind, parts))) return false;
  await tellToEnd(frontOf(pane), parts);
  return hasEnded(pane, parts);
}

type KnownProcess = Pick<ProcessFacts, "pid" | "startMark">;

const frontOf = ({ agentPid, agentStartMark }: PaneLocator): KnownProcess => ({
  pid: agentPid,
  startMark: agentStartMark,
});

/** A command line of a profile is run by a shell, which most often stays in front of the program. */
async function behindShell(pane: PaneLocator, { processes }: EndParts): Promise<readonly KnownProcess[]> {
  const front = await processes.read(pane.agentPid);
  return front?.startMark === pane.agentStartMark && isShell(front) ? groupBelow(front, processes) : [];
}

/** At its prompt a shell takes no notice of the signal that is for programs, but leaves when its terminal hangs up. */
async function tellToEnd({ pid, startMark }: KnownProcess, parts: EndParts): Promise<void> {
  const { processes } = parts;
  const program = await processes.read(pid);
  if (program?.startMark !== startMark) return;
  await signal({ pid, startMark }, isBareShell(program, await processes.argv(pid)) ? "SIGHUP" : "SIGTERM", parts);
}

async function signal(known: KnownProcess, name: NodeJS.Signals, { processes }: EndParts): Promise<void> {
  if (!(await isSameProcess(processes, known))) return;
  try {
    process.kill(known.pid, name);
  } catch (thrown) {
    // It exited in the meantime.
    if ((thrown as NodeJS.ErrnoException).code !== "ESRCH") throw thrown;
  }
}

const runs = (pane: PaneLocator, { processes }: EndParts): Promise<boolean> => isSameProcess(processes, frontOf(pane));

const hasEnded = (pane: PaneLocator, parts: EndParts): Promise<boolean> => haveEnded([frontOf(pane)], parts);

function haveEnded(known: readonly KnownProcess[], parts: EndParts): Promise<boolean> {
  return inTime(async () => {
    const running = await Promise.all(known.map((one) => isSameProcess(parts.processes, one)));
    return !running.includes(true);
  }, parts);
}

/** No event announces the end of a process that is not our child, so it is polled. */
async function inTime(condition: () => Promise<boolean>, parts: EndParts): Promise<boolean> {
  const look = async (): Promise<true | undefined> => (await condition()) || undefined;
  return (await lookFor(look, parts.patienceMs ?? defaultPatienceMs, parts)) ?? false;
}
