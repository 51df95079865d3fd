import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { createClient, type Client } from "../../src/client/client.ts";
import { homeOf } from "../../src/client/home.ts";
import type { InboxView, ReceiptView } from "../../src/api/schema.ts";
import { callerOf } from "../../src/cli/daemon/connect.ts";
import { registerReader } from "../../src/testing/reader.ts";
import { until } from "../../src/testing/until.ts";
import { startWorld, type World } from "../../src/testing/world.ts";

const mebibyte = 1024 * 1024;
const unlimited = { maxHops: 1e6, perPairPerMinute: 1e6, perSenderPerMinute: 1e6 };

describe("a mailbox with a limit", () => {
  let world: World;
  afterEach(() => world[Symbol.asyncDispose]());

  const start = async (maxMegabytes: number): Promise<void> => {
    world = await startWorld({ config: { retention: { maxMegabytes }, guards: unlimited } });
    await world.json(["daemon", "start"]);
  };
  const clientOf = async (token?: string): Promise<Client> => {
    const home = homeOf(world.env);
    return createClient({ socket: home.socket }, token === undefined ? await callerOf(home, world.env) : { token });
  };
  const refusal = (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => null,
      (error: { code: string }) => error.code,
    );

  describe("of one megabyte, and 1.8 megabytes for an agent that is offline", () => {
    beforeEach(() => start(1));

    test(
      "keeps what was delivered a moment ago over a restart: it can be answered, and the newest sends were " +
        "refused",
      async () => {
        const reader = await registerReader("ana", world.env);
        await registerReader("offline", world.env);
        const { tag } = await world.json<ReceiptView>(["send", "ana", "please answer this"]);
        await world.json<InboxView[]>(["inbox"], { env: { TIELINE_TOKEN: reader.token } });
        const user = await clientOf();
        const outcomes: unknown[] = [];
        for (let at = 0; at < 18; at++)
          outcomes.push(await refusal(user.call("send", { to: "offline", body: `${at} ${"x".repeat(100_000)}` })));
        expect(outcomes.slice(0, 5)).toEqual([null, null, null, null, null]);
        expect(outcomes.slice(-5)).toEqual(Array(5).fill("STORE_FULL"));
        await world.tieline(["daemon", "stop"]);

        // The start sweeps; what it may remove is gone when the first command is answered, and none of this is.
        expect((await world.status(tag)).deliveries[0]!.state).toBe("seen");
        const waiting = await world.json<InboxView[]>(["inbox", "offline"]);
        expect(waiting).toHaveLength(outcomes.filter((code) => code === null).length);
        const full = await world.tieline(["send", "offline", "-"], { stdin: "x".repeat(500_000) });
        expect(full.stderr.split("\n")[1]).toMatch(/tieline cancel TAG.*retention\.maxMegabytes/);
        expect([full.code, full.stderr]).toEqual([
          5,
          expect.stringMatching(
            /^error STORE_FULL: the mailbox is full: [\d.]+ MB of [\d.]+ MB .*\n {2}.*tieline cancel TAG/,
          ),
        ]);

        for (const { tag: queued } of waiting) await world.json(["cancel", queued]);
        // Cancelled mail is the first to go.
        const agent = await clientOf(reader.token);
        await until(
          async () => (await refusal(agent.call("reply", { tag, body: "y".repeat(200_000) }))) === null,
          "room for the answer",
        );
        expect((await world.status(tag)).deliveries[0]!.state).toBe("answered");
      },
      120_000,
    );
  });

  describe("of 64 megabytes, and an agent that sends acks of a megabyte", () => {
    beforeEach(() => start(64));

    test("refuses the acks in the end, stays within its limit, and the user can still write", async () => {
      const flooder = await registerReader("flooder", world.env);
      await registerReader("victim", world.env);
      const agent = await clientOf(flooder.token);
      let accepted = 0;
      for (let at = 0; at < 90; at++)
        if (
          (await refusal(agent.call("send", { to: "victim", kind: "ack", body: "a".repeat(mebibyte - 100) }))) === null
        )
          accepted++;
      expect(accepted).toBeGreaterThan(45);
      expect(accepted).toBeLessThan(64);
      expect(statSync(join(world.env["TIELINE_HOME"]!, "mailbox.db")).size).toBeLessThan(64 * mebibyte);
      const user = await clientOf();
      expect(await refusal(user.call("send", { to: "victim", body: "from the user" }))).toBeNull();
      expect(await refusal(agent.call("send", { to: "victim", body: "b".repeat(mebibyte - 100) }))).toBe("STORE_FULL");
    }, 120_000);
  });
});
