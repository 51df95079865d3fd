import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "../../src/client/client.ts";
import { homeOf } from "../../src/client/home.ts";
import { keeping } from "../../src/testing/keeping.ts";
import { until } from "../../src/testing/until.ts";
import { startWorld, type World } from "../../src/testing/world.ts";

const keep = keeping();
const aWorld = async (...given: Parameters<typeof startWorld>): Promise<World> => keep(await startWorld(...given));

const logOf = (world: World): string => readFileSync(join(world.env["TIELINE_HOME"]!, "daemon.log"), "utf8");

/** What the process has used of the processor so far, in seconds. */
function usedSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

describe("numbers beyond every range", () => {
  test("a time to live of 2^53 is refused, and log and status still answer", async () => {
    const world = await aWorld();
    await world.json(["adopt", await world.pane(["cat"]), "--name", "ana", "--provider", "generic"]);
    const { tag } = await world.json<{ tag: string }>(["send", "ana", "before"]);
    const home = homeOf(world.env);
    const daemon = createClient({ socket: home.socket }, { userToken: readFileSync(home.userToken, "utf8").trim() });
    for (const ttlMs of [2 ** 53 - 1, 2 ** 53, Number.MAX_VALUE, -1, 0, 0.5]) {
      await expect(daemon.call("send", { to: "ana", body: "x", ttlMs })).rejects.toMatchObject({
        code: "USAGE",
        message: expect.stringContaining("ttlMs"),
      });
    }
    expect(await world.json(["log"])).toMatchObject([{ tag }]);
    expect(await world.status(tag)).toMatchObject({ tag });
  });

  test("a message that lives longer than a timer can wait neither expires nor keeps the daemon busy", async () => {
    const world = await aWorld({ config: { delivery: { copyMode: "hold" } } });
    const pane = await world.pane(["cat"]);
    await world.json(["adopt", pane, "--name", "later", "--provider", "generic"]);
    await world.tmux("copy-mode", "-t", pane);
    const { tag } = await world.json<{ tag: string }>(["send", "later", "--ttl", "60d", "waits for long"]);
    await until(async () => (await world.status(tag)).deliveries[0]!.reason !== null, "the reason why it waits");
    const pid = await world.daemonPid();
    const before = usedSeconds(pid);
    for (let round = 0; round < 5; round++) expect((await world.status(tag)).deliveries[0]!.state).toBe("queued");
    // A timer that fires at once would use a whole processor.
    expect(usedSeconds(pid) - before).toBeLessThan(0.5);
    expect(logOf(world)).not.toContain("Timeout");
    await world.tmux("send-keys", "-t", pane, "-X", "cancel");
    await until(async () => (await world.status(tag)).deliveries[0]!.state === "delivered", "the delivery");
  });

  test.each([
    ["terminal.execTimeout", 0, "a number between 100 and 3600000"],
    ["terminal.execTimeout", 2 ** 53, "a number between 100 and 3600000"],
    ["delivery.timeoutMs", 2 ** 31, "a number between 1 and 3600000"],
    ["retention.maxAgeDays", 1e9, "at most 36500"],
  ])("%s: %d is refused at the start with its range", async (key, value, range) => {
    const world = await aWorld();
    const [section, name] = key.split(".") as [string, string];
    writeFileSync(join(world.env["TIELINE_HOME"]!, "config.json"), JSON.stringify({ [section]: { [name]: value } }));
    await world.killDaemon().catch(() => undefined);
    const { code, stderr } = await world.tieline(["ls"]);
    expect([code, stderr]).toEqual([expect.any(Number), expect.stringContaining(`${key} is ${value}, but must be`)]);
    expect(stderr).toContain(range);
    expect(code).not.toBe(0);
    writeFileSync(join(world.env["TIELINE_HOME"]!, "config.json"), "{}");
    expect(await world.tieline(["ls"])).toMatchObject({ code: 0 });
  });

  test.each(["send ana x --ttl 400d", "ask ana x --timeout 9999d"])("%s is refused with the range", async (command) => {
    const world = await aWorld();
    const { code, stderr } = await world.tieline(command.split(" "));
    expect([code, stderr]).toEqual([2, expect.stringContaining("too long; the range is 0 to")]);
  });
});
