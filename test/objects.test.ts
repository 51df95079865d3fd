import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Check } from "../src/api/schema.ts";
import { keeping } from "../src/testing/keeping.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

const parrot = join(import.meta.dir, "../fixtures/objects/parrot.ts");
const keep = keeping();

const aWorld = async (yaml: string): Promise<World> =>
  keep(await startWorld({ files: { "tieline.yaml": `team: web\n${yaml}` } }));

describe("objects in the daemon", () => {
  test("a report is read by `tieline metrics`, also after a restart", async () => {
    const world = await aWorld("objects: { metrics: }\n");
    await world.tieline(["send", "metrics", '{"action":"state_report","data":{"step":7}}', "--wait", "seen"]);
    await world.tieline(["send", "metrics", '{"action":"count","name":"builds","by":3}', "--wait", "seen"]);
    expect(await world.json<object>(["metrics"])).toEqual({
      team: "web",
      reports: [{ agent: "user", data: { step: 7 }, count: 1, reportedAt: expect.any(String) }],
      counters: { builds: 3 },
    });
    expect((await world.tieline(["metrics"])).stdout).toMatch(/user .* 1 +\{"step":7\}\n.*\nbuilds +3\n/s);
    await world.tieline(["daemon", "stop"]);
    expect(await world.json<object>(["metrics"])).toMatchObject({ counters: { builds: 3 } });
  });

  test("a team without metrics gets an error that says what to add", async () => {
    const world = await aWorld("");
    expect(await world.tieline(["metrics"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("objects: { metrics: }"),
    });
  });

  test("reading a project runs no code; writing to its object does", async () => {
    const world = await aWorld(`objects: { curious: { command: ["sh", "curious.sh"] } }\n`);
    world.file(
      "curious.sh",
      `echo ran >>ran\nwhile read -r line; do case $line in *init*) echo '{"type":"ready"}';; *'"message"'*) ` +
        `echo "$line" | sed 's/.*"id":"\\([^"]*\\)".*/{"type":"done","id":"\\1"}/';; esac; done\n`,
    );
    expect((await world.ls()).map(({ name, kind }) => [name, kind])).toEqual([["curious", "object"]]);
    expect(await Bun.file(join(world.project, "ran")).exists()).toBe(false);
    expect(await world.tieline(["send", "curious", "hello", "--wait", "seen"])).toMatchObject({ code: 0 });
    expect(await Bun.file(join(world.project, "ran")).text()).toBe("ran\n");
  });

  test("an object added to tieline.yaml is there at once, and one that hangs does not affect others", async () => {
    const world = await aWorld(`objects: { stuck: { module: "${parrot}", timeoutMs: 2000 } }\n`);
    expect((await world.ls()).map(({ name }) => name)).toEqual(["stuck"]);
    world.file(
      "tieline.yaml",
      `team: web\nobjects:\n  stuck: { module: "${parrot}", timeoutMs: 2000 }\n  polly: { command: ` +
        `["${process.execPath}", "${parrot.replace(".ts", "-child.ts")}"] }\n`,
    );
    await world.trust();
    await world.tieline(["send", "stuck", "spin"]);
    const { code } = await world.tieline(["send", "polly", "reply still here", "--wait", "answered"]);
    expect(code).toBe(0);
    expect(await world.inbox("user")).toMatchObject([{ from: "polly", body: "user: still here" }]);
  });

  test("mail for an object waits over a kill of the daemon", async () => {
    const files = {
      "tieline.yaml": "team: web\nobjects: { late: { module: late.ts, timeoutMs: 60000 } }\n",
      "late.ts": "export const init = () => new Promise(() => {});\nexport const onMessage = () => {};\n",
    };
    const world = keep(await startWorld({ files }));
    const { tag } = await world.json<{ tag: string }>(["send", "late", "are you there?"]);
    await until(async () => (await world.status(tag)).deliveries[0]!.reason !== null, "the reason why it waits");
    await world.killDaemon();
    world.file("late.ts", "export const onMessage = (from, content, api) => api.reply(`yes, ${from}`);\n");
    await world.trust();
    await until(async () => (await world.status(tag)).deliveries[0]!.state === "answered", "the answer");
    expect(await world.inbox("user")).toMatchObject([{ from: "late", body: "yes, user" }]);
  });

  test.each([
    ["that is missing", null, "code.ts: the file does not exist"],
    ["with a syntax error", "export const a = 1;\nexport const onMessage = (;\n", "code.ts:2:27: Unexpected ;"],
    [
      "with an import that is not there",
      "\nimport './nope.ts';\nexport const onMessage = () => 1;\n",
      "code.ts:2: Cannot find module './nope.ts'",
    ],
    ["that throws while it is loaded", "\n\nthrow new Error('no key');\n", "code.ts:3:"],
    ["without a handler", "export const other = 1;\n", "code.ts: it exports no onMessage"],
  ])("mail for a module %s comes back with the file and the line", async (_, text, place) => {
    const files = {
      "tieline.yaml": "team: web\nobjects: { broken: { module: code.ts } }\n",
      ...(text !== null && { "code.ts": text }),
    };
    const world = keep(await startWorld({ files }));
    const sent = await world.tieline(["send", "broken", "hello", "--wait", "delivered"]);
    expect(sent.code).toBe(4);
    expect(sent.stdout + sent.stderr).toContain(`broken cannot be loaded: ${world.project}/${place}`);
    const [bounce] = await world.inbox("user");
    expect(bounce).toMatchObject({
      from: "tieline",
      kind: "bounce",
      body: expect.stringContaining(`${world.project}/${place}`),
    });
    expect((await world.ls())[0]!.reason).toContain(place);
    const doctor = async (): Promise<Check> =>
      (await world.json<Check[]>(["doctor"])).find(({ name }) => name.endsWith("web:broken"))!;
    expect(await doctor()).toMatchObject({
      status: "warning",
      detail: expect.stringContaining(place),
      remedy: expect.stringContaining("`tieline trust`"),
    });

    world.file("code.ts", "export const onMessage = () => {};\n");
    await world.trust();
    expect(await world.tieline(["send", "broken", "again", "--wait", "seen"])).toMatchObject({ code: 0 });
    expect(await doctor()).toMatchObject({ status: "ok" });
  });
});
