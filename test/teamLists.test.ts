import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { InboxView, ReceiptView } from "../src/api/schema.ts";
import type { Event } from "../src/model/event.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

/** Two teams with an `ana` that writes to the user and a `slow` that takes no mail. */
const projectOf = (team: string): string => `team: ${team}
agents:
  ana: { headless: true, command: "echo '@user: from ${team}'; sleep 1000" }
  slow: { provider: generic, command: [sleep, "1000"], promptPattern: "^never$" }
`;

let world: World;
let api: string;
const lines = async (...words: string[]): Promise<string> => (await world.tieline(words)).stdout;
const summaries = (receipts: readonly ReceiptView[]): string[] => receipts.map(({ summary }) => summary).toSorted();

beforeAll(async () => {
  world = await startWorld({ files: { "tieline.yaml": projectOf("web") } });
  api = join(world.dir, "api");
  mkdirSync(api);
  writeFileSync(join(api, "tieline.yaml"), projectOf("api"));
  await world.trust(api);
  await world.json(["up"]);
  await world.json(["up"], { cwd: api });
  await world.json(["send", "slow", "web only", "--ttl", "1s"]);
  await world.json(["send", "slow", "api only", "--ttl", "1s"], { cwd: api });
  await world.json(["send", "api:slow", "across", "--ttl", "1s"]);
  await until(async () => (await world.json<ReceiptView[]>(["dead"])).length === 3, "three messages to expire");
  await until(
    async () => (await world.json<InboxView[]>(["inbox", "--peek"])).filter(({ from }) => from === "ana").length === 2,
    "mail from both",
  );
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());

test("log: all teams, or what was sent by or to the agents of one", async () => {
  const wanted = async (...words: string[]): Promise<string[]> =>
    summaries((await world.json<ReceiptView[]>(["log", ...words])).filter(({ to }) => to.endsWith("slow")));
  expect(await wanted()).toEqual(["across", "api only", "web only"]);
  expect(await wanted("--team", "web")).toEqual(["web only"]);
  expect(await wanted("--team", "api")).toEqual(["across", "api only"]);
});

test("log shows team:name where teams mix, and plain names for the team that was asked for", async () => {
  expect(await lines("log")).toMatch(/web:ana → user .*from web/);
  expect(await lines("log")).toMatch(/user → web:slow .*web only/);
  expect(await lines("log", "--team", "web")).toMatch(/user → slow .*web only/);
  expect(await lines("log", "--team", "api")).toMatch(/user → slow .*across/);
  expect(await lines("log", "slow")).toMatch(/user → slow .*web only/);
});

test("dead is limited to a team and names teams where they mix", async () => {
  expect(summaries(await world.json<ReceiptView[]>(["dead", "--team", "web"]))).toEqual(["web only"]);
  expect(summaries(await world.json<ReceiptView[]>(["dead", "--team", "api"]))).toEqual(["across", "api only"]);
  expect(await lines("dead")).toMatch(/→ web:slow {3}expired[^]*→ api:slow {3}expired/);
  expect(await lines("dead", "--team", "api")).toMatch(/→ slow {3}expired[^]*→ slow {3}expired/);
});

test("events are limited to a team, and to an agent of a team", async () => {
  const events = async (...words: string[]): Promise<Event[]> =>
    (await lines("events", "--json", "--since", "1h", ...words))
      .trim()
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Event);
  const teams = new Set((await events("--team", "web")).map(({ team }) => team));
  expect([...teams]).toEqual(["web"]);
  const api = await events("--team", "api", "--type", "delivery.expired");
  expect(api.map((event) => "agentTeam" in event && [event.team, event.agentTeam])).toEqual([
    ["api", "api"],
    ["api", "api"],
  ]);
  expect(await events("--agent", "web:slow", "--type", "delivery.expired")).toHaveLength(1);
  expect(await lines("events", "--type", "delivery.expired")).toMatch(/→ web:slow[^]*→ api:slow[^]*→ api:slow/);
  expect(await lines("events", "--team", "api", "--type", "message.accepted")).toMatch(/user → slow\n/);
});

test("inbox --team shows and marks as seen only what came from that team", async () => {
  expect(await lines("inbox", "--peek")).toMatch(/from web:ana[^]*from api:ana|from api:ana[^]*from web:ana/);
  const shown = await lines("inbox", "--team", "api");
  expect(shown).toMatch(/from ana {3}.*new\n {2}from api\n/);
  expect(shown).not.toContain("from web");
  const states = (await world.json<InboxView[]>(["inbox", "--peek"]))
    .filter(({ from }) => from === "ana")
    .map(({ team, state }) => [team, state]);
  expect(states.toSorted()).toEqual([
    ["api", "seen"],
    ["web", "queued"],
  ]);
});

test("the names of all teams are written as addresses", async () => {
  expect((await lines("ls", "--all", "--names")).split("\n")).toContainValues(["web:ana", "api:ana"]);
  expect((await lines("ls", "--names")).split("\n")).toContain("ana");
});

test.each(["log", "dead", "inbox", "events"])("%s refuses a team that does not exist", async (name) => {
  expect(await world.tieline([name, "--team", "wbe"])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('error ADDRESS_UNKNOWN: there is no team "wbe"; did you mean "web"?'),
  });
});

test("what happened in a disbanded team can still be listed", async () => {
  await world.json(["team", "disband", "api", "--force"]);
  expect(summaries(await world.json<ReceiptView[]>(["log", "--team", "api"]))).toContain("api only");
  expect(await lines("events", "--team", "api", "--type", "delivery.expired")).toContain("slow");
});

test("agents of another team keep their team name in lists, also after the team was disbanded", async () => {
  const elsewhere = { cwd: "/" };
  const others = async (...words: string[]): Promise<string> => (await world.tieline(words, elsewhere)).stdout;
  expect(await others("log", "web:slow", "--limit", "1")).toMatch(/user → web:slow .*web only/);
  expect(await others("ls", "--all", "--names")).toContain("web:slow\n");
  expect(await lines("dead")).toMatch(/→ web:slow {3}expired[^]*→ api:slow {3}expired[^]*→ api:slow {3}expired/);
  expect(await lines("dead", "--team", "api")).toMatch(/→ slow {3}expired[^]*→ slow {3}expired/);
  expect(await lines("log", "--grep", '"api only"')).toMatch(/user → api:slow /);
  const [dead] = (await world.json<ReceiptView[]>(["dead"])).filter(({ summary }) => summary === "across");
  expect(await lines("status", dead!.tag)).toContain("api:slow");
});
