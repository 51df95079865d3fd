import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentView, ReceiptView } from "../src/api/schema.ts";
import { obedientAgent, told } from "../src/testing/obedientAgent.ts";
import { startWorld, type World } from "../src/testing/world.ts";

/** A second project beside the world's own, with a team of its own. */
async function besideIn(
  world: World,
  yaml: string,
): Promise<(args: readonly string[]) => Promise<{ code: number; stdout: string }>> {
  const cwd = join(world.dir, "beside");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "tieline.yaml"), yaml);
  await world.trust(cwd);
  return (args) => world.tieline(args, { cwd });
}

test("--spawn starts agents that were never started, and without it they are left alone", async () => {
  const yaml =
    "team: web\nagents:\n  one: { command: [cat] }\n  two: { command: [cat] }\n  night: { command: [cat], " +
    "autostart: false }\nobjects: { tick: {} }\n";
  await using world = await startWorld({ files: { "tieline.yaml": yaml } });
  const unreached = await world.json<ReceiptView>(["broadcast", "hello"]);
  expect(unreached).toMatchObject({
    successful: [],
    failed: [],
    notice:
      "the broadcast reached no one: there is no agent you may write to; --spawn starts the agents of tieline.yaml",
  });
  const started = await world.json<ReceiptView>(["broadcast", "--spawn", "--wait", "delivered", "good morning"]);
  expect(started).toMatchObject({
    successful: ["one", "two"],
    failed: [],
    deliveries: [
      { agent: "one", state: "delivered" },
      { agent: "two", state: "delivered" },
    ],
  });
  expect((await world.ls()).filter(({ kind }) => kind === "program").map(({ name, state }) => [name, state])).toEqual([
    ["one", "idle"],
    ["two", "idle"],
  ]);
  for (const group of ["@web", "@team"])
    expect((await world.json<ReceiptView>(["send", group, "hello"])).deliveries.map(({ agent }) => agent)).toEqual([
      "one",
      "two",
    ]);
});

test("agents of one name in two teams are shown with their teams, each change once", async () => {
  await using world = await startWorld({
    files: { "tieline.yaml": "team: web\nagents: { ana: { command: [cat] } }\n" },
  });
  const beside = await besideIn(world, "team: api\nagents: { ana: { command: [cat] }, ben: { command: [cat] } }\n");
  await world.json(["up"]);
  await beside(["up"]);
  const { stdout } = await world.tieline(["broadcast", "--all", "--wait", "delivered", "to all"]);
  const lines = stdout.trim().split("\n");
  expect(new Set(lines).size).toBe(lines.length);
  for (const name of ["ana", "api:ana", "api:ben"])
    expect(lines.filter((line) => line.includes(` → ${name}   delivered`))).toHaveLength(1);

  const receipt = await world.json<ReceiptView>(["broadcast", "--all", "--wait", "delivered", "once more"]);
  expect(receipt.successful!.toSorted()).toEqual(["api:ana", "api:ben", "web:ana"]);
  const ids = new Map(
    (await world.json<AgentView[]>(["ls", "--all"])).map(({ id, team, name }) => [id, `${team}:${name}`]),
  );
  expect(receipt.deliveries.map(({ agentId }) => ids.get(agentId)).toSorted()).toEqual([
    "api:ana",
    "api:ben",
    "web:ana",
  ]);
  expect((await world.tieline(["status", receipt.tag])).stdout).toContain("api:ana");
});

test("agents that ended while no daemon ran are not counted as reached", async () => {
  await using world = await startWorld({
    files: { "tieline.yaml": "team: web\nagents: { ana: { command: [cat] }, ben: { command: [cat] } }\n" },
  });
  await world.json(["up"]);
  const { pane } = (await world.ls()).find(({ name }) => name === "ben")!;
  await world.killDaemon();
  await world.tmux("kill-pane", "-t", pane!);
  expect(await world.json<ReceiptView>(["broadcast", "--all", "who is there?"])).toMatchObject({
    successful: ["web:ana"],
    failed: [],
    deliveries: [{ agent: "ana" }],
  });
  expect((await world.ls()).find(({ name }) => name === "ben")).toMatchObject({ presence: "offline" });
});

test("an agent that may not write to everyone gets one refusal, which names no agent", async () => {
  await using world = await startWorld({
    files: {
      "tieline.yaml": "team: web\nagents: { coder: { command: [sh, ./obedient.sh] } }\n",
      "obedient.sh": obedientAgent,
    },
  });
  const beside = await besideIn(world, "team: secret\nagents: { mole: { command: [cat] }, spy: { command: [cat] } }\n");
  await world.json(["up"]);
  await beside(["up"]);
  const output = await told(world, "coder", "tieline broadcast --all hello");
  expect(output.match(/ROUTE_DENIED/g)).toHaveLength(1);
  expect(output).toContain(
    "coder may not write to * (every live agent on this host); @all means the agents it may write to",
  );
  expect(output).toEndWith("exit 3\n");
  for (const name of ["mole", "spy", "secret"]) expect(output).not.toContain(name);
});
