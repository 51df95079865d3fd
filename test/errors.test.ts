import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { InboxView } from "../src/api/schema.ts";
import { obedientAgent, told } from "../src/testing/obedientAgent.ts";
import { startWorld, type World } from "../src/testing/world.ts";
import { type ChildResult } from "../src/testing/childResult.ts";

/** Refusals as a sender meets them: at once with code, reason and remedy, or later as a bounce. */
describe("typed errors reach the sender", () => {
  let world: World;

  beforeAll(async () => {
    const yaml = `team: web
agents:
  coder: { command: [sh, ./obedient.sh], cwd: . }
  ana: { command: [cat], role: worker }
  bob: { command: [cat], role: worker }
  busy: { command: [sh, -c, "while :; do echo busy; sleep 0.1; done"] }
topology: [coder -> ana, coder -> ghost]
`;
    const config = { guards: { perPairPerMinute: 2 } };
    world = await startWorld({ files: { "tieline.yaml": yaml, "obedient.sh": obedientAgent }, config });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  function refused({ code, stdout, stderr }: ChildResult, exit: number, error: string): void {
    expect([code, stdout, stderr.split(":", 1)[0]]).toEqual([exit, "", `error ${error}`]);
    expect(stderr.split("\n")[1]).toMatch(/^ {2}\S/);
  }

  test("ADDRESS_UNKNOWN, with near names", async () => {
    const result = await world.tieline(["send", "codr", "hello"]);
    refused(result, 3, "ADDRESS_UNKNOWN");
    expect(result.stderr).toContain('did you mean "coder"?');
  });

  test("ADDRESS_AMBIGUOUS, with the candidates", async () => {
    await world.json(["up", "ana", "bob"]);
    const result = await world.tieline(["send", "worker", "hello"]);
    refused(result, 3, "ADDRESS_AMBIGUOUS");
    expect(result.stderr).toContain("worker could be ana or bob");
  });

  test("CONFIG_INVALID before any agent is started, for an unknown name in the topology", async () => {
    const result = await world.tieline(["up"]);
    refused(result, 2, "CONFIG_INVALID");
    expect(result.stderr).toMatch(/tieline\.yaml:7:35: no agent or role "ghost" in team web/);
    expect((await world.ls()).some(({ name }) => name === "busy")).toBe(false);
  });

  test("ADDRESS_UNKNOWN for an agent that the project does not have", async () => {
    const result = await world.tieline(["up", "aan"]);
    refused(result, 3, "ADDRESS_UNKNOWN");
    expect(result.stderr).toContain('there is no agent "aan" in tieline.yaml; did you mean "ana"?');
  });

  test("TARGET_NOT_FOUND for an object that is not configured", async () => {
    refused(await world.tieline(["send", "metrics", "hello"]), 3, "TARGET_NOT_FOUND");
  });

  test("IDENTITY_UNKNOWN inside an unknown agent program, and with a wrong token", async () => {
    const stranger = await world.tieline(["send", "ana", "hello"], { env: { CLAUDECODE: "1" } });
    refused(stranger, 3, "IDENTITY_UNKNOWN");
    expect(stranger.stderr).toContain("tieline adopt");
    refused(await world.tieline(["send", "ana", "hello"], { env: { TIELINE_TOKEN: "stolen" } }), 3, "IDENTITY_UNKNOWN");
  });

  test("ROUTE_DENIED and RATE_LIMITED, as an agent meets them", async () => {
    const output = await told(world, "coder", "tieline send bob x; for n in 1 2 3; do tieline send ana $n; done");
    expect(output).toContain(
      "error ROUTE_DENIED: the topology of team web does not let coder write to bob\n  coder may write to: " +
        "ana, ghost, user",
    );
    expect(output).toContain("error RATE_LIMITED: coder sent 2 messages to ana within a minute, which is the limit");
  });

  test("CONFLICT: a team belongs to one project, and both are named", async () => {
    const other = join(world.dir, "other");
    mkdirSync(other);
    writeFileSync(join(other, "tieline.yaml"), "team: web\n");
    const result = await world.tieline(["send", "ana", "hello"], { cwd: other });
    refused(result, 3, "CONFLICT");
    expect(result.stderr).toContain(`team web belongs to ${world.project}, not to ${other}`);
  });

  test("EXPIRED at once for who waits, and as a bounce in the sender's inbox", async () => {
    const result = await world.tieline(["send", "busy", "--ttl", "1s", "--wait", "delivered", "--json", "hello"]);
    expect(result.code).toBe(4);
    const { tag, error } = JSON.parse(result.stdout) as { tag: string; error: { code: string } };
    expect(error.code).toBe("EXPIRED");
    const bounce = (await world.json<InboxView[]>(["inbox"])).find(({ answers }) => answers === tag);
    expect(bounce).toMatchObject({
      kind: "bounce",
      from: "tieline",
      body: expect.stringContaining(`${tag} to busy was not delivered: it expired`),
    });
  });

  test("MESSAGE_UNKNOWN, and a notice cannot be answered", async () => {
    refused(await world.tieline(["reply", "MSG_USER_00000000", "hello"]), 3, "MESSAGE_UNKNOWN");
    const bounce = (await world.json<InboxView[]>(["inbox"])).find(({ kind }) => kind === "bounce")!;
    refused(await world.tieline(["reply", bounce.tag, "why?"]), 3, "TARGET_NOT_FOUND");
  });
});
