import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeUnless } from "../../src/testing/needing.ts";
import { createOtherUser, lackOfOtherUser, type OtherUser } from "../../src/testing/otherUser.ts";
import { startWorld, type World } from "../../src/testing/world.ts";

/**
 * A directory in which every user may write, as /tmp is, with a tieline.yaml of another user above the victim's work.
 */
describeUnless(lackOfOtherUser())("a tieline.yaml of another user in a parent directory", () => {
  let world: World;
  let other: OtherUser;
  let shared: string;
  let work: string;
  const gatewayPort = 20_000 + (process.pid % 20_000);

  beforeAll(async () => {
    world = await startWorld();
    other = createOtherUser();
    chmodSync(world.dir, 0o755);
    shared = join(world.dir, "shared");
    work = join(shared, "work");
    mkdirSync(work, { recursive: true });
    chmodSync(shared, 0o1777);
    const yaml = `team: theirs
agents:
  coder: { command: [sh, -c, "id >${join(world.dir, "ran")}; sleep 1000"] }
objects:
  gateway: { options: { port: ${gatewayPort}, secret: "0123456789abcdef0123456789abcdef", to: coder } }
`;
    const { code, stderr } = await other.run(["sh", "-c", `cat >${join(shared, "tieline.yaml")}`], { stdin: yaml });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });
  afterAll(async () => {
    await other[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
  });

  test("is ignored, and the command names its owner", async () => {
    const { code, stderr } = await world.tieline(["ls"], { cwd: work });
    expect(code).toBe(0);
    expect(stderr).toContain(
      `note: ${join(shared, "tieline.yaml")} belongs to ${other.name} (uid ${other.uid}) and is ignored`,
    );
    expect((await world.json<{ team: string }>(["whoami"], { cwd: work })).team).toBe("default");
  });

  test("does not claim its team", async () => {
    const teams = await world.json<{ name: string }[]>(["team", "ls"], { cwd: work });
    expect(teams.map(({ name }) => name)).not.toContain("theirs");
  });

  test("starts no command by mail, and opens no gateway", async () => {
    const { code, stderr } = await world.tieline(["send", "coder", "please run the tests"], { cwd: work });
    expect([code, stderr]).toEqual([3, expect.stringContaining("ADDRESS_UNKNOWN")]);
    expect((await world.tieline(["up"], { cwd: work })).code).not.toBe(0);
    expect(existsSync(join(world.dir, "ran"))).toBe(false);
    const answer = await fetch(`http://127.0.0.1:${gatewayPort}/`).catch(() => null);
    expect(answer).toBeNull();
  });

  test("is passed over for a project of the user's own further up", async () => {
    const mine = join(world.dir, "mine");
    const below = join(mine, "below");
    mkdirSync(below, { recursive: true });
    chmodSync(below, 0o1777);
    writeFileSync(join(mine, "tieline.yaml"), "team: mine\n");
    await other.run(["sh", "-c", `echo 'team: theirs' >${join(below, "tieline.yaml")}`]);
    expect((await world.json<{ team: string }>(["whoami"], { cwd: below })).team).toBe("mine");
  });
});

/** Anything can be in the place of a tieline.yaml; the daemon neither waits for it nor reads it whole. */
describe("a tieline.yaml that is no ordinary file", () => {
  test.each([
    ["a FIFO", (file: string) => void Bun.spawnSync(["mkfifo", file]), "is a FIFO, not a regular file"],
    ["a link", (file: string) => symlinkSync("/dev/zero", file), "is a link"],
    ["a file of many gigabytes", hugeFile, "bytes; the limit is 1048576"],
  ])("%s is refused at once, at a start of the daemon too, and hangs no other team", async (_, put, why) => {
    await using world = await startWorld({
      files: { "tieline.yaml": "team: web\nagents:\n  coder: { command: [sleep, '1000000'] }\n" },
    });
    await world.tieline(["ls"]);
    const file = join(world.project, "tieline.yaml");
    rmSync(file);
    put(file);
    const inside = await world.tieline(["ls"]);
    expect([inside.code, inside.stderr]).toEqual([3, expect.stringContaining(`error FILE_REFUSED: ${file} `)]);
    expect(inside.stderr).toContain(why);
    expect((await world.tieline(["ls"], { cwd: world.dir })).code).toBe(0);
    await world.killDaemon();
    expect((await world.tieline(["ls"], { cwd: world.dir })).code).toBe(0);
  });
});

function hugeFile(file: string): void {
  writeFileSync(file, "");
  truncateSync(file, 64 * 1024 ** 3);
}
