import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nkeys } from "@nats-io/transport-node";
import type { Event } from "../../model/event.ts";
import { agentId } from "../../model/ids.ts";
import { keeping } from "../../testing/keeping.ts";
import { lackOfNats, NatsServer } from "../../testing/natsServer.ts";
import { describeUnless, lackUnless } from "../../testing/needing.ts";
import { until as untilSo } from "../../testing/until.ts";
import { natsLinks, shownUrl, type NatsServer as NatsSettings } from "./link.ts";
import { NatsPublisher, type PublisherOptions } from "./publisher.ts";

const settings: Omit<NatsSettings, "url"> = {
  credentialsFile: null,
  nkeyFile: null,
  tlsCaFile: null,
  tlsCertFile: null,
  tlsKeyFile: null,
};
const prompt = (seq: number): Event => ({
  type: "user.prompt",
  agent: agentId("a"),
  name: "ana",
  team: "web",
  prompt: String(seq),
  seq,
  at: 0,
});

/** Long enough for this machine at its busiest, unless the test is about waiting. */
const patientMs = 10_000;

const keep = keeping();
const publisherTo = (
  url: string,
  options: Partial<PublisherOptions> = {},
  more: Partial<NatsSettings> = {},
  connectMs = patientMs,
): NatsPublisher =>
  keep(
    new NatsPublisher(natsLinks({ ...settings, url, ...more }, connectMs), {
      prefix: "tieline",
      contentOf: () => null,
      ...options,
    }),
  );

const folder = mkdtempSync(join(tmpdir(), "tl-nats-files-"));
afterAll(() => rmSync(folder, { recursive: true }));
function inFile(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

/** A token as NATS servers in operator mode want it. */
function jwt(subject: string, issuer: nkeys.KeyPair, nats: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = {
    jti: subject,
    iat: Math.floor(Date.now() / 1000),
    iss: issuer.getPublicKey(),
    name: "test",
    sub: subject,
    nats,
  };
  const signed = `${part({ typ: "JWT", alg: "ed25519-nkey" })}.${part(claims)}`;
  return `${signed}.${Buffer.from(issuer.sign(new TextEncoder().encode(signed))).toString("base64url")}`;
}

/** A publisher reports what it published and dropped. */
const until = (done: () => boolean): Promise<void> => untilSo(done, `this: ${String(done)}`);
const accounted = ({ state }: NatsPublisher): number => state.published + state.dropped;

describeUnless(lackOfNats)("a NATS server", () => {
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

  test("that wants credentials reads them from their file", async () => {
    const [operator, account, user] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createUser()];
    const accountToken = jwt(account.getPublicKey(), operator, {
      type: "account",
      version: 2,
      limits: { subs: -1, data: -1, payload: -1, conn: -1, imports: -1, exports: -1, wildcards: true },
    });
    const userToken = jwt(user.getPublicKey(), account, { type: "user", version: 2, subs: -1, data: -1, payload: -1 });
    const server = keep(
      await NatsServer.start(`operator: ${jwt(operator.getPublicKey(), operator, { type: "operator", version: 2 })}
resolver: MEMORY
resolver_preload: { ${account.getPublicKey()}: ${accountToken} }`),
    );
    const seed = new TextDecoder().decode(user.getSeed());
    const credentialsFile = inFile(
      "creds",
      `-----BEGIN NATS USER JWT-----\n${userToken}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY ` +
        `SEED-----\n${seed}\n------END USER NKEY SEED------\n`,
    );
    const publisher = publisherTo(server.url, {}, { credentialsFile });
    publisher.offer(prompt(1));
    await until(() => accounted(publisher) === 1);
    expect(publisher.state).toMatchObject({ published: 1, error: null });
  });

  test("that wants a password, a token or an NKEY gets it, and no other server does", async () => {
    const seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
    const key = nkeys.fromSeed(new TextEncoder().encode(seed)).getPublicKey();
    const withPassword = keep(await NatsServer.start('authorization: { user: "u@x", password: "p:w" }'));
    const withToken = keep(await NatsServer.start('authorization: { token: "secret" }'));
    const withKey = keep(await NatsServer.start(`authorization: { users: [{ nkey: "${key}" }] }`));
    const file = inFile("nkey", `${seed}\n`);
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
    const refused = publisherTo(withPassword.url, {}, {}, 1_000);
    refused.offer(prompt(1));
    await until(() => refused.state.dropped === 1);
    expect(refused.state.connection).toBe("failed");
    expect(shownUrl("nats://u:secret@host:1,tls://token@host")).toBe("nats://…@host:1,tls://…@host");
  });
});

describeUnless(lackOfNats ?? lackUnless(Bun.which("openssl") !== null, "there is no openssl here"))(
  "a NATS server with TLS",
  () => {
    test("is trusted by its authority, and shown our certificate", async () => {
      const [ca, cert, key] = [join(folder, "ca.pem"), join(folder, "ca.pem"), join(folder, "key.pem")];
      const made = Bun.spawnSync([
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "1",
        "-subj",
        "/CN=tieline",
        "-addext",
        "subjectAltName=IP:127.0.0.1",
        "-keyout",
        key,
        "-out",
        cert,
      ]);
      expect(made.exitCode).toBe(0);
      const server = keep(
        await NatsServer.start(`tls: { cert_file: "${cert}", key_file: "${key}", ca_file: "${ca}", verify: true }`),
      );
      const own = { tlsCertFile: cert, tlsKeyFile: key };
      const trusting = publisherTo(server.url, {}, { ...own, tlsCaFile: ca });
      trusting.offer(prompt(1));
      await until(() => accounted(trusting) === 1);
      expect(trusting.state).toMatchObject({ published: 1, error: null });
      const wary = publisherTo(server.url.replace("nats:", "tls:"), {}, own, 1_000);
      wary.offer(prompt(1));
      await until(() => accounted(wary) === 1);
      expect(wary.state).toMatchObject({ published: 0, dropped: 1 });
    });
  },
);

describe("no NATS server", () => {
  test("no server: events are dropped and counted, and the connection is tried again later", async () => {
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

  test(
    "a server that never answers: publishing continues, the queue stays bounded, and the end does not wait " + "for it",
    async () => {
      const hole = await blackHole();
      const publisher = publisherTo(
        `nats://127.0.0.1:${(hole.address() as AddressInfo).port}`,
        { capacity: 10 },
        {},
        200,
      );
      for (let seq = 1; seq <= 100; seq++) publisher.offer(prompt(seq));
      expect(publisher.state.dropped).toBe(90);
      await until(() => publisher.state.dropped === 100);
      expect(publisher.state.connection).toBe("failed");
      hole.close();
    },
  );
});

async function blackHole(): Promise<Server> {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}
