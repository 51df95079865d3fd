import { afterAll, beforeAll, expect, test } from "bun:test";
import type { AgentView, ReceiptView } from "../src/api/schema.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

let world: World;
beforeAll(async () => {
  const agents = ["ana", "bob", "cy", "dee"].map((name) => `  ${name}: { command: [cat] }\n`).join("");
  world = await startWorld({
    files: { "tieline.yaml": `team: web\nagents:\n${agents}  eli: { command: [sh, run.sh] }\n` },
  });
  await world.json(["up", "ana", "bob", "cy", "dee"]);
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());

const states = async (): Promise<Record<string, string>> =>
  Object.fromEntries((await world.ls()).map(({ name, state }) => [name, state]));
const closePane = async (name: string): Promise<string> =>
  world.tmux("kill-pane", "-t", (await world.ls()).find((one) => one.name === name)!.pane!);

test("restart, stop and kill take several names; what fails does not keep the others", async () => {
  const before = await world.ls();
  const paneOf = (agents: readonly AgentView[], name: string): string | null =>
    agents.find((one) => one.name === name)!.pane;
  expect(await world.tieline(["restart", "ana", "bob"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/ana[^]*bob/),
  });
  const after = await world.ls();
  expect([paneOf(after, "ana"), paneOf(after, "bob")]).not.toEqual([paneOf(before, "ana"), paneOf(before, "bob")]);

  const { code, stdout, stderr } = await world.tieline(["stop", "ana", "anna", "bob", "ana"]);
  expect([code, stderr]).toEqual([3, expect.stringContaining('did you mean "ana"?')]);
  expect(stdout.match(/suspended/g)).toHaveLength(2);
  await world.json(["resume", "ana", "bob"]);
  expect(await world.json<object>(["kill", "ana", "bob"])).toMatchObject({
    done: [
      { name: "ana", state: "suspended" },
      { name: "bob", state: "suspended" },
    ],
    failed: [],
  });
  expect(await world.json<object>(["kill", "cy"])).toMatchObject({ name: "cy", state: "suspended" });
  expect((await world.tieline(["kill"])).stderr).toContain("<agent> is missing");
}, 60_000);

test("prune forgets what is gone, keeps what was ended on purpose, and what has mail unless forced", async () => {
  await world.json(["resume", "ana", "bob"]);
  expect((await world.tieline(["prune"])).stdout).toBe("nothing is gone\n");
  const pane = await world.pane(["cat"]);
  await world.json(["adopt", pane, "--name", "eve", "--provider", "generic"]);
  await world.tmux("kill-pane", "-t", pane);
  await closePane("ana");
  await world.json(["send", "eve", "are you there"]);
  await until(
    async () => (await states())["ana"] === "gone" && (await states())["eve"] === "gone",
    "two agents that are gone",
  );

  const { stdout } = await world.tieline(["prune"]);
  expect(stdout.split("\n").toSorted()).toEqual([
    "",
    "· eve kept: a message waits for it; see `tieline inbox eve --pending`",
    "✓ ana removed",
  ]);
  expect(await states()).toMatchObject({ bob: "idle", cy: "suspended", eve: "gone" });
  expect(await states()).not.toHaveProperty("ana");
  expect(await world.json<object>(["prune", "--force"])).toEqual({
    removed: [{ name: "eve", team: "web", failedDeliveries: 1 }],
    kept: [],
  });
  expect((await world.tieline(["dead"])).stdout).toContain("→ eve");
}, 60_000);

test("mail for a removed agent is retried to the agent that has its name now, and refused without one", async () => {
  const adopted = async (): Promise<string> => {
    const pane = await world.pane(["cat"]);
    await world.json(["adopt", pane, "--name", "fay", "--provider", "generic"]);
    return pane;
  };
  await world.tmux("kill-pane", "-t", await adopted());
  await until(async () => (await states())["fay"] === "gone", "fay is gone");
  const { tag } = await world.json<ReceiptView>(["send", "fay", "are you there"]);
  await world.json(["rm", "fay", "--force"]);
  for (const command of [
    ["retry", tag],
    ["retry", tag, "--agent", "fay"],
  ]) {
    const { code, stderr } = await world.tieline(command);
    expect([code, stderr]).toEqual([
      3,
      expect.stringContaining("fay was removed, and no agent or profile has that name now"),
    ]);
  }
  expect((await world.status(tag)).deliveries).toMatchObject([{ agent: "fay", state: "failed" }]);

  const pane = await adopted();
  await world.json(["retry", tag, "--agent", "fay"]);
  await until(async () => (await world.status(tag)).deliveries[0]!.state === "delivered", "the message is delivered");
  expect(await world.screen(pane)).toContain("are you there");
}, 60_000);

test("mail for a removed agent with a profile starts it when it is retried", async () => {
  const { tag } = await world.json<ReceiptView>(["send", "eli", "hello again"]);
  await until(async () => (await world.status(tag)).deliveries[0]!.reason !== null, "eli does not start");
  await world.json(["rm", "eli", "--force"]);
  expect((await world.status(tag)).deliveries).toMatchObject([{ agent: "eli", state: "failed" }]);
  world.file("run.sh", "exec cat\n");
  expect(await world.tieline(["retry", tag])).toMatchObject({ code: 0, stdout: expect.stringContaining("eli") });
  await until(async () => (await world.status(tag)).deliveries[0]!.state === "delivered", "the message is delivered");
}, 60_000);
