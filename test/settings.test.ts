import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentView, ReceiptView } from "../src/api/schema.ts";
import { startWorld, type World } from "../src/testing/world.ts";

/** As a user writes it: JSON with a layout of its own. */
const written = '{ "terminal": { "readLines": 50 },\n  "delivery": {"retries": 1} }\n';

let world: World;
let config: string;
beforeAll(async () => {
  world = await startWorld({ files: { "tieline.yaml": "team: web\nagents: { ana: { command: [cat] } }\n" } });
  await world.tieline(["daemon", "stop"]);
  config = join(world.env["TIELINE_HOME"]!, "config.json");
  writeFileSync(config, written);
  await world.json(["up"]);
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());

test("the daemon draws its port and leaves config.json as it was written", async () => {
  expect(readFileSync(join(world.env["TIELINE_HOME"]!, "port"), "utf8")).toMatch(/^\d+\n?$/);
  expect(readFileSync(config, "utf8")).toBe(written);
});

test("commands say that config.json changed until the daemon is restarted", async () => {
  const note = `note: ${config} changed; restart the daemon: \`tieline daemon stop\``;
  expect((await world.tieline(["ls"])).stderr).toBe("");
  writeFileSync(config, `${written}\n`);
  expect((await world.tieline(["ls"])).stderr).toBe("");
  writeFileSync(config, written.replace("50", "60"));
  expect((await world.tieline(["ls"])).stderr).toContain(note);
  expect((await world.tieline(["send", "ana", "hello"])).stderr).toContain(note);
  writeFileSync(config, written.replace("50", '"many"'));
  expect((await world.tieline(["ls"])).stderr).toMatch(
    /config\.json changed, and the daemon would not start with it: .*readLines/,
  );
  writeFileSync(config, written.replace("50", "60"));
  await world.tieline(["daemon", "stop"]);
  expect((await world.tieline(["ls"])).stderr).toBe("");
});

const shell = async (script: string): Promise<string> => {
  const child = Bun.spawn(["sh", "-c", script], {
    cwd: world.dir,
    env: { ...world.env, HOME: world.dir },
    stdout: "pipe",
    stderr: "inherit",
  });
  return new Response(child.stdout).text();
};
const prelude = 'TOKEN=$(cat "$TIELINE_HOME/user.token"); PORT=$(cat "$TIELINE_HOME/port"); ';

test("docs/api.md names a team over HTTP, by commands that work", async () => {
  const page = readFileSync(join(import.meta.dir, "../docs/api.md"), "utf8");
  const [list, send] = /## Teams[^]*?(?=\n## )/
    .exec(page)![0]
    .split("\n")
    .filter((line) => line.startsWith("    curl")) as [string, string];
  const agents = JSON.parse(await shell(prelude + list)) as AgentView[];
  expect(agents.map(({ team, name }) => `${team}:${name}`)).toEqual(["web:ana"]);
  const receipt = JSON.parse(await shell(prelude + send.replace("web:engineer", "web:ana"))) as ReceiptView;
  expect(receipt.deliveries).toMatchObject([{ agent: "ana", team: "web" }]);
});

test.each([
  ["/v1/activity?team=web", 'activity: unknown parameter "team"', "x-tieline-caller"],
  ["/v1/log?limt=1", 'log: unknown parameter "limt"; did you mean "limit"?', "it takes agent, from, to, team"],
  ["/v1/topology?x=1", 'topology: unknown parameter "x"', "it takes agent"],
  ["/v1/teams?x=1", 'teams: unknown parameter "x"', "it takes no parameters"],
])("an unknown query key is refused: %s", async (path, detail, remedy) => {
  const answer = JSON.parse(
    await shell(`${prelude} curl -s -H "Authorization: Bearer $TOKEN" "http://127.0.0.1:$PORT${path}"`),
  ) as object;
  expect(answer).toMatchObject({ status: 400, code: "USAGE", detail, remedy: expect.stringContaining(remedy) });
});

test.each([
  [
    "the body of a request",
    `-d '{"to":"web:ana","body":"hi","urgent":true}' "http://127.0.0.1:$PORT/v1/send"`,
    'send: unknown parameter "urgent"',
  ],
  [
    "an event stream",
    `-H 'accept: text/event-stream' "http://127.0.0.1:$PORT/v1/events?typ=delivery"`,
    'events: unknown parameter "typ"; did you mean "types"?',
  ],
  [
    "the address of a POST",
    `-d '{"to":"web:ana","body":"hi"}' "http://127.0.0.1:$PORT/v1/send?dry=1"`,
    'the parameter "dry" is in the address; POST takes its input as JSON in the body',
  ],
  [
    "a key that is given twice",
    `"http://127.0.0.1:$PORT/v1/log?limit=1&limit=2"`,
    'the parameter "limit" is given more than once',
  ],
])("an unknown key is refused in %s", async (_, request, detail) => {
  const answer = JSON.parse(await shell(`${prelude} curl -s -H "Authorization: Bearer $TOKEN" ${request}`)) as object;
  expect(answer).toMatchObject({ code: "USAGE", detail });
});
