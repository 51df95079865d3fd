import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeUnless, testUnless } from "../../src/testing/needing.ts";
import { createOtherUser, lackOfOtherUser, type OtherUser } from "../../src/testing/otherUser.ts";
import { lackOfMounts, smallDisk } from "../../src/testing/smallDisk.ts";
import { registerReader } from "../../src/testing/reader.ts";
import { startWorld, type World } from "../../src/testing/world.ts";
import { type ChildResult } from "../../src/testing/childResult.ts";

const errorOf = ({ stdout, stderr, code }: ChildResult) => ({
  code,
  stdout,
  error: /^error (\w+)/.exec(stderr)?.[1],
});

async function sendOne(world: World, body: string, env: Record<string, string> = {}): Promise<void> {
  await world.json(["daemon", "start"], { env });
  await registerReader("ana", { ...world.env, ...env });
  await world.json(["send", "ana", body], { env });
}

describe("the user's token", () => {
  let world: World;
  let home: string;
  let token: string;
  beforeEach(async () => {
    world = await startWorld();
    home = world.env["TIELINE_HOME"]!;
    token = join(home, "user.token");
    await sendOne(world, "before");
    await world.tieline(["daemon", "stop"]);
  });
  afterEach(() => world[Symbol.asyncDispose]());

  test("that is empty is replaced by a new one: its owner keeps access, and an empty key opens nothing", async () => {
    truncateSync(token, 0);
    expect((await world.json<unknown[]>(["log"])).length).toBe(1);
    expect(readFileSync(token, "utf8")).toMatch(/^[0-9a-f]{48}\n$/);
    expect(statSync(token).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(home, "daemon.log"), "utf8")).toContain(`made a new secret in ${token}`);

    const origin = `http://127.0.0.1:${readFileSync(join(home, "port"), "utf8").trim()}`;
    const attempts: Record<string, string>[] = [
      { "x-tieline-caller": encodeURIComponent(JSON.stringify({ userToken: "" })) },
      { authorization: "Bearer " },
      { authorization: "Bearer x", "x-tieline-caller": encodeURIComponent(JSON.stringify({ userToken: "" })) },
    ];
    for (const headers of attempts) {
      const answer = await fetch(`${origin}/v1/whoami`, { headers: { ...headers, origin } });
      expect([401, 403]).toContain(answer.status);
    }
  });

  test("that is damaged keeps the daemon from starting, with the remedy", async () => {
    writeFileSync(token, "\0".repeat(48));
    const refused = await world.tieline(["ls"]);
    expect(errorOf(refused)).toEqual({ code: 5, stdout: "", error: "HOME_UNSAFE" });
    expect(refused.stderr).toContain(`rm ${token}`);
    rmSync(token);
    expect((await world.json<unknown[]>(["log"])).length).toBe(1);
  });

  test("in a home that was open to others stays the user's; the home is closed and doctor says so", async () => {
    chmodSync(home, 0o777);
    expect((await world.json<unknown[]>(["log"])).length).toBe(1);
    expect(statSync(home).mode & 0o777).toBe(0o700);
    const checks = await world.tieline(["doctor", "--json"]);
    const found = (JSON.parse(checks.stdout) as { name: string; status: string; detail: string }[]).find(
      ({ name }) => name === "home",
    );
    expect(found).toMatchObject({
      status: "warning",
      detail: `${home} had mode 777, which lets other users in; it is 700 now`,
    });
  });
});

describeUnless(lackOfOtherUser())("another user in a home with mode 777", () => {
  let world: World;
  let other: OtherUser;
  let home: string;
  beforeEach(async () => {
    other = createOtherUser();
    world = await startWorld();
    home = world.env["TIELINE_HOME"]!;
    chmodSync(world.dir, 0o755);
    await sendOne(world, "before");
    await world.tieline(["daemon", "stop"]);
    chmodSync(home, 0o777);
  });
  afterEach(async () => {
    chmodSync(home, 0o700);
    await world[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
  });

  test.each(["user.token", "mailbox.db", "config.json", "daemon.log"])("cannot replace %s", async (name) => {
    const path = join(home, name);
    const replaced = await other.run([
      "sh",
      "-c",
      `rm -f ${path} && printf %s ${"e".repeat(48)} > ${path} && chmod 644 ${path}`,
    ]);
    expect(replaced.code).toBe(0);
    const refused = await world.tieline(["ls"]);
    expect(errorOf(refused)).toEqual({ code: 5, stdout: "", error: "HOME_UNSAFE" });
    expect(refused.stderr).toContain(`${path} belongs to another user (uid ${other.uid})`);
    expect(existsSync(join(home, "daemon.sock"))).toBe(false);
  });

  test("cannot have the log written through a link", async () => {
    const victim = join(world.dir, "victim");
    writeFileSync(victim, "mine");
    const log = join(home, "daemon.log");
    await other.run(["sh", "-c", `rm -f ${log} && ln -s ${victim} ${log}`]);
    expect(errorOf(await world.tieline(["ls"])).error).toBe("HOME_UNSAFE");
    expect(readFileSync(victim, "utf8")).toBe("mine");
  });

  test("cannot put a home of their own in its place", async () => {
    chmodSync(world.dir, 0o777);
    await other.run(["sh", "-c", `mv ${home} ${home}.old && mkdir -m 777 ${home}`]);
    const refused = await world.tieline(["ls"]);
    chmodSync(world.dir, 0o755);
    expect(errorOf(refused).error).toBe("HOME_UNSAFE");
    expect(refused.stderr).toContain(`${home} belongs to another user (uid ${other.uid})`);
    rmSync(home, { recursive: true });
    mkdirSync(home, { mode: 0o700 });
  });
});

testUnless(lackOfMounts())(
  "a full disk at the first start leaves no empty token behind, and the start after it works",
  async () => {
    for (const free of [16, 64, 160, 252, 400]) {
      using disk = smallDisk(2 * 1024 * 1024);
      await using world = await startWorld();
      const home = join(disk.dir, "home");
      const env = { TIELINE_HOME: home };
      writeFileSync(join(disk.dir, "room"), new Uint8Array(free * 1024));
      disk.fill();
      rmSync(join(disk.dir, "room"));
      const first = await world.tieline(["ls"], { env });
      const token = join(home, "user.token");
      if (existsSync(token)) expect(readFileSync(token, "utf8")).toMatch(/^[0-9a-f]{48}\n$/);
      if (first.code !== 0)
        expect([free, errorOf(first)]).toEqual([free, { code: 5, stdout: "", error: "STORE_UNAVAILABLE" }]);
      await world.tieline(["daemon", "stop"], { env });
      disk.empty();
      await sendOne(world, "after", env);
      expect(readFileSync(token, "utf8")).toMatch(/^[0-9a-f]{48}\n$/);
      await world.tieline(["daemon", "stop"], { env });
    }
  },
  120_000,
);
