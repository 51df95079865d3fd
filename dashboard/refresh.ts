/** What is read from the daemon again, because an event says that it has changed. */
import { batch } from "@preact/signals";
import type { ReceiptView } from "../src/client/browser.ts";
import { failureOf, tell } from "./actions.ts";
import { heed, setAgents } from "./agents.ts";
import { inTeam } from "./api.ts";
import { mergeReceipts, replay, startAnew, updated } from "./messages.ts";
import * as state from "./state.ts";
import { messageByTag } from "./state.ts";

const pageSize = 1_000;

export async function refresh(): Promise<void> {
  const [agents, last] = await Promise.all([
    inTeam(null).call("ls", { all: true }),
    inTeam(null).call("lastMessages", {}),
  ]);
  batch(() => {
    setAgents(agents);
    heed(last);
  });
  await Promise.all([refreshWaiting(), refreshTopologies(), catchUp()]);
}

/** Reads everything that waits again. */
export async function refreshWaiting(): Promise<void> {
  for (const { id, view: agent } of state.agents.peek()) if (agent.peek().pending > 0) dirty.add(id);
  for (const { agent, team } of state.queue.peek()) dirty.add(idOf(agent, team));
  await Promise.all([refreshOwn(), refreshQueues()]);
}

const idOf = (name: string, team: string): string =>
  state.agents.peek().find(({ view: { value } }) => value.name === name && value.team === team)?.id ?? "";

const mostDead = 100;
const mostUnconfirmed = 500;

/** The user's own mail, what they are asked to approve, dead letters, and what is not confirmed read. */
export async function refreshOwn(): Promise<void> {
  const [mail, requests, dead, delivered] = await Promise.all([
    inTeam(null).call("inbox", {
      agent: "user",
      pending: state.keptUnread.peek().length === 0,
      peek: true,
      limit: 200,
    }),
    inTeam(null).call("requests", {}),
    inTeam(null).call("dead", { limit: mostDead }),
    inTeam(null).call("log", { states: ["delivered"], limit: mostUnconfirmed }),
  ]);
  const all =
    dead.length < mostDead
      ? dead.length
      : (await inTeam(null).call("logCount", { states: ["failed", "expired"] })).count;
  batch(() => {
    state.ownMail.value = mail;
    state.allRequests.value = requests;
    state.deadLetters.value = dead;
    state.deadCount.value = all;
    state.unconfirmed.value = delivered.map(updated);
  });
}

/** Agents whose queue is not as it was when it was read. */
const dirty = new Set<string>();

export function queueChanged(agent: string): void {
  dirty.add(agent);
  soon(refreshQueues);
}

const queuesAtOnce = 40;

async function refreshQueues(): Promise<void> {
  const ids = [...dirty].slice(0, queuesAtOnce);
  for (const id of ids) dirty.delete(id);
  const read = await Promise.all(
    ids.map(async (id) => {
      const agent = state.agentById.get(id)?.view.peek();
      if (agent === undefined || agent.kind === "user") return [];
      const rows = await inTeam(agent.team).call("inbox", { agent: agent.name, pending: true, peek: true, limit: 100 });
      return rows.map((row) => ({ ...row, agent: agent.name, team: agent.team }));
    }),
  );
  state.queue.value = [
    ...state.queue.peek().filter(({ agent, team }) => !ids.includes(idOf(agent, team))),
    ...read.flat(),
  ];
  if (dirty.size > 0) soon(refreshQueues);
}

export async function refreshTopologies(): Promise<void> {
  const names = state.teamNames.value;
  const found = await Promise.all(names.map((name) => inTeam(name).call("topology", {})));
  state.topologies.value = new Map(found.map((topology) => [topology.team, topology]));
}

export async function catchUp(): Promise<void> {
  const newest = state.timeline.value.at(-1)?.receipt.peek().acceptedAt ?? 0;
  const receipts: ReceiptView[] = await inTeam(null).call("log", { since: newest, limit: pageSize });
  batch(() => {
    // More came than a page holds, as after a night: what lies between is fetched on scrolling.
    if (receipts.length === pageSize && !receipts.some(({ tag }) => messageByTag.has(tag))) startAnew();
    mergeReceipts(receipts);
    replay(receipts);
    heed(receipts);
  });
}

/** At most one run at a time, with a pause between two, and one more when it was asked for meanwhile. */
const pauseMs = 200;
const running = new Map<() => Promise<void>, { again: boolean }>();
export function soon(work: () => Promise<void>): void {
  const before = running.get(work);
  if (before) return void (before.again = true);
  const run = { again: false };
  running.set(work, run);
  setTimeout(() => {
    work()
      .catch((thrown: unknown) => {
        if (state.connection.value === "live") tell(failureOf(thrown).message, { bad: true });
      })
      .finally(() => {
        setTimeout(() => {
          running.delete(work);
          if (run.again) soon(work);
        }, pauseMs);
      });
  }, 30);
}
