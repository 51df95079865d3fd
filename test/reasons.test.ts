import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AgentView, ReceiptView } from "../src/api/schema.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

const yaml = `team: web
agents:
  crash: { command: [sh, -c, 'exit 3'] }
  late: { command: [sh, prompt.sh], promptPattern: '^> ?$' }
`;

let world: World;
beforeAll(async () => {
  world = await startWorld({
    files: { "tieline.yaml": yaml, "prompt.sh": "[ -e ok ] || exit 1\nwhile :; do printf '> '; read -r line; done\n" },
  });
});
afterAll(() => world[Symbol.asyncDispose]());

const agent = async (name: string): Promise<AgentView> => (await world.ls()).find((one) => one.name === name)!;

describe("the reason in ls is never older than the state", () => {
  test("no start is announced once no mail is left that would cause one", async () => {
    const { tag } = await world.json<ReceiptView>(["send", "crash", "hello"]);
    await until(
      async () => (await agent("crash"))?.reason?.includes("the next start is in") ?? false,
      "the first pause",
    );
    await world.json(["cancel", tag]);
    await until(async () => !(await agent("crash")).reason!.includes("the next start"), "the end of the announcement");
    expect(await agent("crash")).toMatchObject({
      state: "gone",
      pending: 0,
      held: null,
      reason: expect.stringContaining("exited with code 3"),
    });
  });

  test("what a screen showed is no reason after the program has ended", async () => {
    const pane = await world.pane(["sh", "-c", "while :; do date +%N; sleep 0.1; done"]);
    await world.json(["adopt", pane, "--name", "noisy", "--provider", "generic"]);
    const { tag } = await world.json<ReceiptView>(["send", "noisy", "hello"]);
    await until(async () => (await agent("noisy")).held !== null, "the hold");
    const { held } = await agent("noisy");
    await world.tmux("kill-pane", "-t", pane);
    await until(async () => (await agent("noisy")).state === "gone", "its end");
    const after = await agent("noisy");
    expect(after).toMatchObject({ pending: 1, reason: `pane ${pane} is closed` });
    expect(after.held ?? after.reason).toContain(`pane ${pane} is closed`);
    expect(after.held).not.toBe(held);
    await world.json(["cancel", tag]);
  });

  test("that it was not running is no reason once it runs", async () => {
    const { tag } = await world.json<ReceiptView>(["send", "late", "hello"]);
    await until(async () => (await agent("late"))?.held?.includes("not running") ?? false, "the first failed start");
    world.file("ok", "");
    const outdated: string[] = [];
    await until(async () => {
      const { state, held } = await agent("late");
      if (["starting", "idle"].includes(state) && held?.includes("not running")) outdated.push(`${state}: ${held}`);
      return (await world.status(tag)).deliveries[0]!.state === "delivered";
    }, "the delivery");
    expect(outdated).toEqual([]);
    expect(await agent("late")).toMatchObject({ held: null, exit: null });
  });
});
