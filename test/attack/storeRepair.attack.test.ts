import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { closeSync, existsSync, openSync, readdirSync, rmSync, statSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { InboxView, ReceiptView } from "../../src/api/schema.ts";
import { registerReader } from "../../src/testing/reader.ts";
import { startWorld, type World } from "../../src/testing/world.ts";

interface Repaired {
  readonly problem: string | null;
  readonly messages: number;
  readonly withoutMessage: readonly string[];
  readonly uncertain: readonly string[];
  readonly kept: string | null;
}

interface Restored {
  readonly messages: number;
  readonly missing: readonly string[] | null;
  readonly uncertain: readonly string[];
  readonly replaced: string | null;
}

/** The remedies of STORE_CORRUPT, as a user runs them. */
describe("a home whose mailbox is damaged", () => {
  let world: World;
  let mailbox: string;
  let reader: { readonly token: string };
  let tags: string[];
  beforeEach(async () => {
    world = await startWorld();
    mailbox = join(world.env["TIELINE_HOME"]!, "mailbox.db");
    await world.json(["daemon", "start"]);
    reader = await registerReader("ana", world.env);
    tags = [];
    for (let at = 0; at < 20; at++)
      tags.push((await world.json<ReceiptView>(["send", "ana", `message ${at} ${"x".repeat(400)}`])).tag);
  });
  afterEach(() => world[Symbol.asyncDispose]());

  const refused = async (): Promise<void> =>
    expect((await world.tieline(["ls"])).stderr).toStartWith("error STORE_CORRUPT");
  const logged = async (): Promise<string[]> =>
    (await world.json<ReceiptView[]>(["log", "--limit", "1000"])).map(({ tag }) => tag);
  const stateOf = async (tag: string): Promise<string> => (await world.status(tag)).deliveries[0]!.state;
  const overwrite = (page: number): void => {
    const fd = openSync(mailbox, "r+");
    writeSync(fd, Buffer.alloc(4096, 0xdd), 0, 4096, page * 4096);
    closeSync(fd);
  };

  test("in its first page is repaired: messages are there, open deliveries uncertain, mail flows", async () => {
    await world.tieline(["daemon", "stop"]);
    overwrite(0);
    await refused();
    const { kept, ...repaired } = await world.json<Repaired>(["doctor", "--repair"]);
    expect(repaired).toMatchObject({ messages: 20, problem: expect.stringContaining("not a database") });
    expect(repaired.uncertain).toEqual(tags);
    expect(existsSync(kept!)).toBe(true);
    expect(await logged()).toEqual(tags);
    expect(await stateOf(tags[3]!)).toBe("uncertain");

    await world.json(["retry", tags[3]!]);
    await world.json(["send", "ana", "after the repair"]);
    const taken = (
      await world.json<InboxView[]>(["inbox", "--limit", "100"], { env: { TIELINE_TOKEN: reader.token } })
    ).filter(({ state }) => state === "claimed");
    expect(taken.map(({ body }) => body.split(" x")[0])).toEqual(["message 3", "after the repair"]);
    expect((await world.tieline(["doctor", "--repair"])).stdout).toBe(
      "the mailbox is not damaged; nothing to repair\n",
    );
  });

  test("by the loss of its log is repaired, and the lost changes are counted", async () => {
    await world.killDaemon();
    rmSync(`${mailbox}-wal`);
    const before = await world.tieline(["ls"]);
    if (before.code === 0) return expect(await logged()).toEqual(tags);
    const repaired = await world.tieline(["doctor", "--repair"]);
    expect(repaired.stdout).toMatch(
      /its last \d+ changes? (is|are) lost[^]*saved \d+ messages?, \d+ deliver[^]*the damaged mailbox is kept as/,
    );
    const left = await logged();
    expect(tags.slice(0, left.length)).toEqual(left);
  });

  test("while the daemon runs is found by doctor; --repair accounts for every message", async () => {
    await world.tieline(["daemon", "stop"]);
    await world.json<ReceiptView[]>(["log"]);
    const pid = await world.daemonPid();
    overwrite(Math.floor(statSync(mailbox).size / 4096) - 1);
    const doctor = await world.tieline(["doctor", "--json"]);
    const found = (JSON.parse(doctor.stdout) as { name: string; status: string; detail: string }[]).find(
      ({ name }) => name === "mailbox",
    );
    expect([doctor.code, found]).toEqual([
      5,
      expect.objectContaining({ status: "failed", detail: expect.stringContaining(`${mailbox} is damaged`) }),
    ]);
    expect(await world.daemonPid()).toBe(pid);
    const { messages, withoutMessage } = await world.json<Repaired>(["doctor", "--repair"]);
    expect(messages + withoutMessage.length).toBe(20);
    const left = await logged();
    expect(left).toEqual(tags.filter((tag) => left.includes(tag)));
    expect(left).toHaveLength(messages);
    expect((await world.tieline(["doctor", "--json"])).stdout).toContain(`${messages} messages, all intact`);
  });

  test("beyond repair is restored from a backup, and nothing is delivered twice", async () => {
    const backup = await world.json<{ file: string; messages: number }>(["backup"]);
    expect(backup.messages).toBe(20);
    const [taken] = await world.json<InboxView[]>(["inbox", "--limit", "100"], {
      env: { TIELINE_TOKEN: reader.token },
    });
    expect(taken!.state).toBe("claimed");
    await world.tieline(["daemon", "stop"]);
    for (const suffix of ["", "-wal"]) if (existsSync(mailbox + suffix)) truncateSync(mailbox + suffix, 0);
    await refused();
    const pointed = await world.tieline(["doctor", "--repair"]);
    expect([pointed.code, pointed.stderr]).toEqual([
      5,
      expect.stringMatching(/^error STORE_CORRUPT: .*no message can be read\n {2}.*tieline restore latest/),
    ]);

    const restored = await world.json<Restored>(["restore", "latest", "--yes"]);
    expect(restored).toMatchObject({ messages: 20, missing: null, uncertain: tags });
    expect(await logged()).toEqual(tags);
    const again = await world.json<InboxView[]>(["inbox", "--limit", "100"], { env: { TIELINE_TOKEN: reader.token } });
    expect(again.filter(({ state }) => state === "claimed")).toEqual([]);
  });

  test("is restored only from a backup and with a confirmation, and later messages are listed", async () => {
    const { file } = await world.json<{ file: string }>(["backup"]);
    const asked = await world.tieline(["restore", file]);
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("add --yes")]);
    for (const [name, code] of [
      ["/etc/hostname", "STORE_CORRUPT"],
      ["/nowhere", "TARGET_NOT_FOUND"],
    ] as const) {
      const { stderr } = await world.tieline(["restore", name, "--yes"]);
      expect(stderr).toStartWith(`error ${code}`);
    }
    expect(await logged()).toEqual(tags);
    // The running daemon is stopped.
    const { tag } = await world.json<ReceiptView>(["send", "ana", "after the backup"]);
    const restored = await world.json<Restored>(["restore", file, "--yes"]);
    expect(restored.missing).toEqual([tag]);
    expect(existsSync(restored.replaced!)).toBe(true);
    expect(
      readdirSync(world.env["TIELINE_HOME"]!).filter((name) => name.includes(".new") || name === "maintenance"),
    ).toEqual([]);
    expect(await logged()).toEqual(tags);
  });
});
