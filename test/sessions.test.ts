import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { AgentView, Output, ReceiptView } from "../src/api/schema.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

const agents = `agents:
  ana: { command: [cat], role: coder }
  ralph-7: { command: [cat] }
  Big: { command: [cat] }
`;

const sessions = async (world: World): Promise<string[]> =>
  (await world.tmux("list-sessions", "-F", "#{session_name}")).split("\n").toSorted();
const windows = async (world: World): Promise<string[]> =>
  (await world.tmux("list-windows", "-a", "-F", "#{session_name}:#{window_name}")).split("\n").toSorted();

describe("a window for each agent", () => {
  let world: World | null = null;
  afterEach(async () => {
    await world?.[Symbol.asyncDispose]();
    world = null;
  });
  const open = async (yaml: string, session: object = {}): Promise<World> =>
    (world = await startWorld({ files: { "tieline.yaml": yaml }, config: { session } }));

  test("the team's name makes the session's, safely", async () => {
    await open(`team: feat/auth-fix\n${agents}`);
    await world!.json(["spawn", "ana"]);
    expect(await windows(world!)).toEqual(["feat-auth-fix:coder", "feat-auth-fix:shell"]);
  });

  test("the team `default` lives in session.name, with a window named by session.defaultWindow", async () => {
    await open(`team: default\n${agents}`, { name: "mine", defaultWindow: "bench" });
    await world!.json(["spawn", "ana"]);
    expect(await windows(world!)).toEqual(["mine:bench", "mine:coder"]);
  });

  test("a session is taken by its whole name, never by its beginning", async () => {
    await open(`team: web\n${agents}`);
    await world!.tmux("new-session", "-d", "-s", "web-2", "cat");
    await world!.json(["spawn", "ana"]);
    expect(await windows(world!)).toContain("web:coder");
    expect((await windows(world!)).filter((name) => name.startsWith("web-2:"))).toHaveLength(1);
  });

  test("a session that is there already gets the shell window that it lacks", async () => {
    await open(`team: web\n${agents}`);
    await world!.tmux("new-session", "-d", "-s", "web", "-n", "notes", "cat");
    await world!.json(["spawn", "ana"]);
    expect(await windows(world!)).toEqual(["web:coder", "web:notes", "web:shell"]);
  });

  test("without session.autoCreate a missing session is refused, with the command that makes it", async () => {
    await open(`team: web\n${agents}`, { autoCreate: false });
    const refused = await world!.tieline(["spawn", "ana"]);
    expect([refused.code, refused.stderr]).toEqual([
      4,
      expect.stringContaining("SPAWN_FAILED: there is no tmux session web, and session.autoCreate is off"),
    ]);
    expect(refused.stderr).toContain("new-session -d -s web");
    await world!.tmux("new-session", "-d", "-s", "web", "-n", "notes", "cat");
    await world!.json(["spawn", "ana"]);
    expect(await windows(world!)).toEqual(["web:coder", "web:notes"]);
  });
});

describe("a session for each agent", () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({
      files: { "tieline.yaml": `team: web\n${agents}` },
      config: { session: { naming: "session" } },
    });
  });
  afterAll(() => world[Symbol.asyncDispose]());
  const screenOf = async (name: string): Promise<string> =>
    world.screen((await world.ls()).find((one) => one.name === name)!.pane!);

  test("agent-{team}-{name}, agent-{team}-{name}-{instance}, and agent-ralph-{id} whatever the team", async () => {
    await world.json(["spawn", "ana"]);
    await world.json(["spawn", "ana"]);
    await world.json(["spawn", "ralph-7"]);
    expect(await sessions(world)).toEqual(["agent-ralph-7", "agent-web-ana", "agent-web-ana-2"]);
  });

  test("up, attach and open point to the session of the lead, or of who was there first", async () => {
    const attach = async (): Promise<string> => (await world.tieline(["attach"])).stdout.trim();
    expect(await attach()).toEndWith("attach-session -t =agent-web-ana:");
    expect((await world.tieline(["open"])).stdout.trim()).toBe(await attach());
    const { session, attach: command } = await world.json<Output<"up">>(["up", "ana"]);
    expect([session, command]).toEqual(["agent-web-ana", expect.stringMatching(/ attach -t =agent-web-ana$/)]);
    await world.tmux("has-session", "-t", `=${session}`);
    world.file("tieline.yaml", `team: web\n${agents}  chief: { command: [cat], role: lead }\n`);
    await world.trust();
    expect((await world.json<Output<"up">>(["up", "chief"])).session).toBe("agent-web-chief");
    expect(await attach()).toEndWith("attach-session -t =agent-web-chief:");
    await world.json(["kill", "chief"]);
  });

  test("a name that would not be readable there is refused", async () => {
    const refused = await world.tieline(["spawn", "Big"]);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining("NAME_INVALID: Big is not a valid session name"),
    ]);
    expect((await world.tieline(["spawn", "ana", "--name", "a-b-c"])).stderr).toContain("NAME_INVALID");
  });

  test("broadcast --all reaches every one of them", async () => {
    const receipt = await world.json<ReceiptView>(["broadcast", "--all", "--wait", "delivered", "to all agents"]);
    expect(receipt.deliveries.map(({ agent }) => agent).toSorted()).toEqual(["ana", "ana-2", "ralph-7"]);
    for (const name of ["ana", "ana-2", "ralph-7"]) expect(await screenOf(name)).toContain(receipt.tag);
  });

  test("mail for ana never reaches ana-2, also when ana's session is gone", async () => {
    const pane = await world.pane(["cat"]);
    await world.json(["adopt", pane, "--name", "eve"]);
    const beside = await world.pane(["cat"]);
    await world.json(["adopt", beside, "--name", "eve-2"]);
    await world.tmux("kill-pane", "-t", pane);
    const { tag } = await world.json<ReceiptView>(["send", "eve", "only for eve"]);
    await until(async () => (await world.status(tag)).deliveries[0]!.reason !== null, "the reason why it waits");
    expect((await world.status(tag)).deliveries[0]).toMatchObject({ agent: "eve", state: "queued" });
    expect(await world.screen(beside)).not.toContain(tag);
  });

  test("a foreign session of the same name is left alone", async () => {
    await world.json(["kill", "ana"]);
    await world.tmux("new-session", "-d", "-s", "agent-web-ana", "cat");
    const { failed } = JSON.parse((await world.tieline(["resume", "ana", "--json"])).stdout) as Output<"resume">;
    expect(failed).toEqual([expect.objectContaining({ agent: "ana", code: "CONFLICT" })]);
    await world.tmux("kill-session", "-t", "=agent-web-ana");
    const { resumed } = await world.json<{ resumed: AgentView[] }>(["resume", "ana"]);
    expect(resumed.map((one) => one.state)).toEqual(["idle"]);
  });
});
