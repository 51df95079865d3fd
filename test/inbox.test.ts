import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { InboxView } from "../src/api/schema.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

let world: World;
beforeAll(async () => {
  const say = 'echo "<<SWARM_MSG:TO=user:START>>${line#*say }<<SWARM_MSG:END>>"';
  const script = `while read -r line; do case $line in *say*) ${say};; esac; done`;
  const yaml = JSON.stringify({ team: "web", agents: { ana: { headless: true, command: ["sh", "-c", script] } } });
  world = await startWorld({ files: { "tieline.yaml": yaml } });
  await world.json(["up"]);
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());

const inbox = (...flags: string[]): Promise<InboxView[]> => world.json<InboxView[]>(["inbox", ...flags]);
const bodies = (mail: readonly InboxView[]): string[] => mail.map(({ body }) => body);

/** ana writes to the user. */
async function says(...texts: string[]): Promise<void> {
  for (const text of texts) {
    await world.json(["send", "ana", `say ${text}`]);
    await until(async () => bodies(await inbox("--peek")).includes(text), text);
  }
}

test("new mail comes first, in the order in which it came, then what was read, newest first", async () => {
  await says("one", "two");
  expect(bodies(await inbox())).toEqual(["one", "two"]);
  await says("three", "four");
  expect(bodies(await inbox("--peek"))).toEqual(["three", "four", "two", "one"]);
  const { stdout } = await world.tieline(["inbox"]);
  expect(stdout).toMatch(/new\n {2}three\n\n.*new\n {2}four\n\n.*seen\n {2}two\n\n.*seen\n {2}one\n$/);
});

test("with a limit, the new mail that waits longest is shown, and only what is shown counts as seen", async () => {
  await says("five", "six", "seven");
  expect(bodies(await inbox("--limit", "2"))).toEqual(["five", "six"]);
  expect((await inbox("--pending", "--peek")).map(({ body, state }) => [body, state])).toEqual([["seven", "queued"]]);
});

test("the inbox shows mail that a restore made uncertain once more, and marks it as seen", async () => {
  await using world = await startWorld();
  const pane = await world.pane(["cat"]);
  await world.json(["adopt", pane, "--name", "fay", "--provider", "generic"]);
  await world.tmux("kill-pane", "-t", pane);
  await until(async () => (await world.ls()).find(({ name }) => name === "fay")?.state === "gone", "fay is gone");
  await world.json(["send", "fay", "hello"]);
  await world.json(["rm", "fay", "--force"]);
  await world.json(["backup", join(world.dir, "b.db")]);
  expect(await world.json<InboxView[]>(["inbox", "--pending"])).toHaveLength(1);
  await world.json(["restore", join(world.dir, "b.db"), "--yes"]);
  expect(await world.json<InboxView[]>(["inbox", "--peek"])).toMatchObject([{ state: "uncertain", kind: "bounce" }]);
  await world.json(["inbox"]);
  expect(await world.json<InboxView[]>(["inbox", "--pending"])).toEqual([]);
  expect(await world.json<InboxView[]>(["inbox", "--peek"])).toMatchObject([{ state: "seen" }]);
}, 30_000);
