/** A team that really works for a while, so that charts have something to show. Minutes are minutes here. */
import type { Client } from "../../src/client/client.ts";
import { says, type Stage } from "./stage.ts";

const minuteMs = 60_000;

/** Who writes to whom, how often in a busy minute, and what about. */
const talks: readonly (readonly [from: string, to: string, perMinute: number, subject: string])[] = [
  ["lead", "engineer", 2, "Next: the tests for"],
  ["engineer", "reviewer", 1.5, "Please look at my change to"],
  ["reviewer", "lead", 1, "Approved, with two remarks:"],
  ["lead", "tester", 0.6, "Please run the suite for"],
  ["tester", "engineer", 0.5, "One failure left in"],
  ["engineer", "scout", 0.8, "Who else uses"],
  ["scout", "lead", 0.5, "What I found about"],
  ["reviewer", "security", 0.3, "Is this safe:"],
  ["security", "lead", 0.3, "Nothing dangerous in"],
  ["lead", "docs", 0.2, "Please write up"],
  ["user", "lead", 0.2, "How far are we with"],
];
const matters = [
  "the login form",
  "session.ts",
  "the upload queue",
  "the retry timer",
  "the cookie jar",
  "the logout",
  "the settings page",
];
/** Agents in panes stop to work, to ask, and while the pane is in use. */
const moods = [
  { state: "working" },
  { state: "idle" },
  { state: "working" },
  { state: "idle" },
  { state: "permission" },
  { state: "idle" },
  { draft: "wait, I will" },
  { draft: "" },
] as const;

/** `clients` are those of the agents that fetch their mail; the others sit in panes. */
export async function workFor(minutes: number, stage: Stage, clients: Readonly<Record<string, Client>>): Promise<void> {
  const end = Date.now() + minutes * minuteMs;
  const write = async (from: string, to: string, body: string): Promise<void> => {
    const client = from === "user" ? stage.user : clients[from];
    if (client) await client.call("send", { to, body });
    else await says(stage.world, from, to, body);
  };
  const talking = talks.map(async ([from, to, perMinute, subject], index) => {
    for (let count = 0; Date.now() < end; count++) {
      await pause(-Math.log(Math.random()) * (minuteMs / perMinute / tide(index)), end);
      if (Date.now() < end) await write(from, to, `${subject} ${matters[(count * 3 + index) % matters.length]}`);
    }
  });
  const fetchingMail = Object.values(clients).map(async (client) => {
    while (Date.now() < end) {
      await pause(2_000 + Math.random() * 8_000, end);
      await fetchMail(client);
    }
  });
  const moving = ["engineer", "reviewer", "lead"].map(async (agent) => {
    for (let turn = 0; Date.now() < end; turn++) {
      await stage.direct(agent, moods[turn % moods.length]!);
      await pause(3_000 + Math.random() * 15_000, end);
    }
    await stage.direct(agent, { state: "idle", draft: "" });
  });
  await Promise.all([...talking, ...fetchingMail, ...moving]);
}

async function fetchMail(client: Client): Promise<void> {
  const deliveries = (await client.call("inbox", {})).flatMap(({ delivery }) => delivery ?? []);
  if (deliveries.length > 0) await client.call("collected", { deliveries });
}

/** Work comes and goes, for each pair in its own time. */
const tide = (index: number): number => Math.max(0.15, 1 + Math.sin(Date.now() / (5 * minuteMs) + index));

const pause = (ms: number, end: number): Promise<void> => Bun.sleep(Math.min(ms, Math.max(0, end - Date.now())));
