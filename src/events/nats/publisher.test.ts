import { afterEach, describe, expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import type { AddressInfo } from "node:net";
import type { Event } from "../../model/event.ts";
import { agentId } from "../../model/ids.ts";
import { natsServerPath, NatsServer } from "../../testing/natsServer.ts";
import { natsLinks, shownUrl, type NatsServer as NatsSettings } from "./link.ts";
import { NatsPublisher, type PublisherOptions } from "./publisher.ts";

const settings: Omit<NatsSettings, "url"> = { credentialsFile: null, nkeyFile: null, tlsCaFile: null, tlsCertFile: null, tlsKeyFile: null };
const prompt = (seq: number): Event => ({ type: "user.prompt", agent: agentId("a"), name: "ana", team: "web", prompt: String(seq), seq, at: 0 });

/** Long enough for this machine at its busiest, unless the test is about waiting. */
const patientMs = 10_000;

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});
function keep<T extends AsyncDisposable>(one: T): T {
  open.push(one);
  return one;
}
const publisherTo = (url: string, options: Partial<PublisherOptions> = {}, more: Partial<NatsSettings> = {}, connectMs = patientMs): NatsPublisher =>
  keep(new NatsPublisher(natsLinks({ ...settings, url, ...more }, connectMs), { prefix: "tieline", contentOf: () => null, ...options }));

async function until(done: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!done()) {
    if (Date.now() > deadline) throw new Error("it did not happen");
    await Bun.sleep(5);
  }
}
const accounted = ({ state }: NatsPublisher): number => state.published + state.dropped;

describe.skipIf(natsServerPath === null)("a NATS server", () => {
  test("hears everything in order; the connection closes when nothing is said, and opens again", async () => {
    const server = keep(await NatsServer.start());
    const listener = keep(await server.listen());
    const publisher = publisherTo(server.url, { idleMs: 20 });
    expect(publisher.state.connection).toBe("unused");
    for (let seq = 1; seq <= 1_000; seq++) publisher.offer(prompt(seq));
    const heard = await listener.until(({ length }) => length === 1_000);
    expect(heard.map(({ payload }) => payload["seq"])).toEqual(Array.from({ length: 1_000 }, (_, i) => i + 1));
    await until(() => publisher.state.connection === "unused");
    publisher.offer(prompt(1_001));
    await listener.until(({ length }) => length === 1_001);
    await until(() => publisher.state.published === 1_001);
    expect(publisher.state).toMatchObject({ published: 1_001, dropped: 0, error: null });
  });

  test("that dies and comes back hears the rest; what it missed is counted", async () => {
    const server = keep(await NatsServer.start());
    const listener = keep(await server.listen());
    const publisher = publisherTo(server.url, { idleMs: 60_000 });
    publisher.offer(prompt(1));
    await until(() => publisher.state.published === 1);
    await server.stop();
    await until(() => publisher.state.connection === "broken");
    for (let seq = 2; seq <= 500; seq++) publisher.offer(prompt(seq));
    await server.start();
    await until(() => accounted(publisher) === 500);
    expect(publisher.state.connection).toBe("open");
    expect(publisher.state.published).toBeGreaterThan(1);
    publisher.offer(prompt(501));
    await listener.until((heard) => heard.at(-1)?.payload["seq"] === 501);
  });

  test("that is stopped in the middle takes its share of a bounded queue, and no more", async () => {
    const server = keep(await NatsServer.start());
    const publisher = publisherTo(server.url, { capacity: 100 });
    publisher.offer(prompt(0));
    await until(() => publisher.state.published === 1);
    process.kill(server.pid, "SIGSTOP");
    for (let seq = 1; seq < 1_000; seq++) {
      publisher.offer(prompt(seq));
      if (seq % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(publisher.state.dropped).toBeGreaterThan(500);
    process.kill(server.pid, "SIGCONT");
    await until(() => accounted(publisher) === 1_000);

    process.kill(server.pid, "SIGSTOP");
    publisher.offer(prompt(1_000));
    await publisher[Symbol.asyncDispose]();
  });

  test("that wants a password, a token or an NKEY gets it, and nobody else is shown it", async () => {
    const seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
    const { nkeys } = await import("@nats-io/transport-node");
    const key = nkeys.fromSeed(new TextEncoder().encode(seed)).getPublicKey();
    const withPassword = keep(await NatsServer.start('authorization: { user: "u@x", password: "p:w" }'));
    const withToken = keep(await NatsServer.start('authorization: { token: "secret" }'));
    const withKey = keep(await NatsServer.start(`authorization: { users: [{ nkey: "${key}" }] }`));
    const file = `${process.env["TMPDIR"] ?? "/tmp"}/tl-nkey-${process.pid}`;
    await Bun.write(file, `${seed}\n`);
    const publishers = [
      publisherTo(withPassword.url.replace("//", "//u%40x:p%3Aw@")),
      publisherTo(withToken.url.replace("//", "//secret@")),
      publisherTo(withKey.url, {}, { nkeyFile: file }),
    ];
    for (const publisher of publishers) {
      publisher.offer(prompt(1));
      await until(() => accounted(publisher) === 1);
      expect(publisher.state).toMatchObject({ published: 1, error: null });
    }
    await Bun.file(file).delete();
    const refused = publisherTo(withPassword.url, {}, {}, 1_000);
    refused.offer(prompt(1));
    await until(() => refused.state.dropped === 1);
    expect(refused.state.connection).toBe("failed");
    expect(shownUrl("nats://u:secret@host:1,tls://token@host")).toBe("nats://…@host:1,tls://…@host");
  });
});

describe("no NATS server", () => {
  test("nobody listens: what is said is dropped and counted, and tried again later", async () => {
    let now = 0;
    const publisher = publisherTo("nats://127.0.0.1:1", { clock: () => now });
    publisher.offer(prompt(1));
    await until(() => publisher.state.dropped === 1);
    expect(publisher.state.connection).toBe("failed");
    expect(publisher.state.error).not.toBe(null);
    publisher.offer(prompt(2));
    expect(publisher.state.dropped).toBe(2);
    now += 1_000;
    publisher.offer(prompt(3));
    expect(publisher.state.dropped).toBe(2);
    await until(() => publisher.state.dropped === 3);
  });

  test("somebody listens and never answers: offering goes on, the queue stays bounded, and the end does not wait for it", async () => {
    const hole = await blackHole();
    const publisher = publisherTo(`nats://127.0.0.1:${(hole.address() as AddressInfo).port}`, { capacity: 10 }, {}, 200);
    for (let seq = 1; seq <= 100; seq++) publisher.offer(prompt(seq));
    expect(publisher.state.dropped).toBe(90);
    await until(() => publisher.state.dropped === 100);
    expect(publisher.state.connection).toBe("failed");
    hole.close();
  });
});

async function blackHole(): Promise<Server> {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}
