import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TielineError } from "../../model/errors.ts";
import { objectTeam, type ObjectTeam } from "../../testing/objectTeam.ts";
import { gateway, type Gateway } from "./gateway.ts";
import type { Accepted, ObjectApi } from "../handler.ts";
import { isSignedBy, sign, signatureHeader } from "./signature.ts";

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function aTeam(yaml: string, root?: string): Promise<ObjectTeam> {
  const team = await objectTeam(root);
  cleanUps.push(() => team[Symbol.asyncDispose]());
  team.configure(yaml);
  return team;
}

describe("metrics", () => {
  test("keeps the last report of each agent and the sum of each counter, also after a restart", async () => {
    const root = mkdtempSync(join(tmpdir(), "tl-objects-"));
    cleanUps.push(() => rmSync(root, { recursive: true, force: true }));
    const first = await objectTeam(root);
    first.configure("objects: { metrics: }");
    const coder = first.agent("coder");
    for (const body of [
      { action: "state_report", data: { step: 1 } },
      { action: "state_report", data: { step: 2 } },
      { action: "count", name: "builds" },
      { action: "count", name: "builds", by: 2 },
    ]) {
      const { receipt } = await first.send({ to: "metrics", body: JSON.stringify(body) }, coder);
      await first.until(receipt.message, ({ state }) => state === "seen");
    }
    const expected = {
      reports: { coder: { data: { step: 2 }, count: 2, reportedAt: expect.any(Number) } },
      counters: { builds: 3 },
    };
    expect(first.objects.metricsOf("web")).toEqual(expected);
    await first[Symbol.asyncDispose]();
    const second = await aTeam("objects: { metrics: }", root);
    expect(second.objects.metricsOf("web")).toEqual(expected);
  });

  test("answers who asks, and refuses what it does not understand", async () => {
    const { agent, send, inbox, until } = await aTeam("objects: { metrics: }");
    await send({ to: "metrics", body: '{"action":"get"}' }, agent("coder"));
    expect(JSON.parse((await inbox(agent("coder"), 1))[0]!.body)).toEqual({ reports: {}, counters: {} });
    const { receipt } = await send({ to: "metrics", body: "how are you?" }, agent("coder"));
    expect((await until(receipt.message, ({ state }) => state === "failed")).detail).toContain("state_report");
  });

  test("a team without it has no metrics, and mail to it finds no target", async () => {
    const { objects, send } = await aTeam("");
    expect(objects.metricsOf("web")).toBeNull();
    await expect(send({ to: "metrics", body: "{}" })).rejects.toMatchObject({
      code: "TARGET_NOT_FOUND",
    } satisfies Partial<TielineError>);
  });
});

describe("tick", () => {
  const bodies = async (team: ObjectTeam, name: string, count: number): Promise<Record<string, unknown>[]> =>
    (await team.inbox(team.agent(name), count)).map(({ body }) => JSON.parse(body) as Record<string, unknown>);

  test("at most one tick is under way to a subscriber; the next one says how many were left out", async () => {
    const team = await aTeam("objects: { tick: { options: { intervalMs: 100 } } }");
    const coder = team.agent("coder");
    const clock = team.agent("clock");
    await team.send({ to: "tick", body: "subscribe" }, coder);
    await team.send({ to: "tick", body: '{"action":"subscribe","intervalMs":100}' }, clock);
    // The other subscriber reads, so that its ticks tell how often the first one could have had one.
    const read = team.mailbox.onTransitions((changes) => {
      for (const { delivery } of changes)
        if (delivery.agent === clock.id && delivery.state === "queued") void take(team, delivery.id);
    });
    cleanUps.push(read);
    expect((await bodies(team, "clock", 5)).slice(1).map(({ action }) => action)).toEqual([
      "tick",
      "tick",
      "tick",
      "tick",
    ]);
    const first = await bodies(team, "coder", 2);
    expect(first).toMatchObject([{ action: "subscribed" }, { action: "tick", missed: 0 }]);
    expect(team.mailbox.pending(coder.id)).toBe(2);
    for (const { delivery } of team.mailbox.inbox(coder.id, { pending: true })) await take(team, delivery.id);
    const [, , third] = await bodies(team, "coder", 3);
    expect(third!["missed"]).toBeGreaterThan(0);
    expect(team.mailbox.pending(coder.id)).toBe(1);
  });

  test("a subscription outlives a restart and ends when asked to", async () => {
    const root = mkdtempSync(join(tmpdir(), "tl-objects-"));
    cleanUps.push(() => rmSync(root, { recursive: true, force: true }));
    const yaml = "objects: { tick: { options: { intervalMs: 100, jitterMs: 50 } } }";
    const first = await objectTeam(root);
    first.configure(yaml);
    const { receipt } = await first.send({ to: "tick", body: "subscribe" }, first.agent("coder"));
    await first.until(receipt.message, ({ state }) => state === "answered");
    await first[Symbol.asyncDispose]();
    const second = await aTeam(yaml, root);
    expect(await bodies(second, "coder", 2)).toMatchObject([{ action: "subscribed" }, { action: "tick" }]);
    const stop = await second.send({ to: "tick", body: "unsubscribe" }, second.agent("coder"));
    await second.until(stop.receipt.message, ({ state }) => state === "answered");
    expect(second.mailbox.inbox(second.agent("coder").id).at(-1)!.message.body).toContain("unsubscribed");
  });

  async function take(team: ObjectTeam, id: Parameters<ObjectTeam["mailbox"]["claim"]>[0]): Promise<void> {
    const claimed = await team.mailbox.claim(id, { lane: "pull", now: Date.now(), transport: "pull" });
    if (claimed)
      await team.mailbox.settle(id, { kind: "delivered", proof: "tool" }, { transport: "pull", authority: "peer" });
  }
});

describe("gateway", () => {
  const secret = "0123456789abcdef";

  interface Post {
    readonly to: string;
    readonly content: string;
    readonly key: string | undefined;
  }

  async function aGateway(options: Record<string, unknown>): Promise<{ url: string; handler: Gateway; sent: Post[] }> {
    const sent: Post[] = [];
    const accepted: Accepted = { id: "1", tag: "MSG_GATEWAY_00000001", successful: [], failed: [] };
    const api: ObjectApi = {
      name: "gateway",
      team: "web",
      log: () => undefined,
      broadcast: async () => accepted,
      async send(to, content, given) {
        if (to === "ghost") throw Object.assign(new Error("there is no ghost"), { code: "ADDRESS_UNKNOWN" });
        sent.push({ to, content, key: given?.key });
        return accepted;
      },
    };
    const handler = gateway({
      root: "/",
      memory: { load: () => null, save: () => undefined },
      undelivered: () => false,
    });
    await handler.init!(api, options);
    cleanUps.push(() => handler.close!());
    return { url: handler.address() ?? "", handler, sent };
  }

  const json = (body: object, headers: Record<string, string> = {}): RequestInit => ({
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const bearer = { authorization: `Bearer ${secret}` };

  test("a request with the secret becomes a message; it listens on this machine only", async () => {
    const { url, sent } = await aGateway({ port: 0, secret, to: "coder", allow: ["reviewer"] });
    expect(new URL(url).hostname).toBe("127.0.0.1");
    const response = await fetch(url, json({ content: "build is red", id: "run-7" }, bearer));
    expect([response.status, await response.json()]).toEqual([202, { id: "1", tag: "MSG_GATEWAY_00000001" }]);
    await fetch(url, json({ to: "reviewer", content: "look" }, bearer));
    await fetch(url, { method: "POST", headers: bearer, body: "plain words" });
    await fetch(url, {
      method: "POST",
      headers: { ...bearer, "content-type": "application/x-www-form-urlencoded" },
      body: '{"content":"as curl -d sends it"}',
    });
    expect(sent).toEqual([
      { to: "coder", content: "build is red", key: "in:run-7" },
      { to: "reviewer", content: "look", key: undefined },
      { to: "coder", content: "plain words", key: undefined },
      { to: "coder", content: "as curl -d sends it", key: undefined },
    ]);
  });

  test("a signature does instead of the secret, and the same signed request twice is one message", async () => {
    const { url, sent } = await aGateway({ port: 0, secret, to: "coder" });
    const body = JSON.stringify({ content: "hello" });
    const request = {
      method: "POST",
      headers: { "content-type": "application/json", [signatureHeader]: sign(secret, body, Date.now()) },
      body,
    };
    expect([(await fetch(url, request)).status, (await fetch(url, request)).status]).toEqual([202, 202]);
    expect(sent[0]!.key).toBe(sent[1]!.key!);
  });

  test.each([
    ["no secret", {}, { content: "x" }, 401],
    ["a wrong secret", { authorization: "Bearer 0123456789abcdeX" }, { content: "x" }, 401],
    [
      "an old signature",
      { [signatureHeader]: sign(secret, '{"content":"x"}', Date.now() - 3_600_000) },
      { content: "x" },
      401,
    ],
    ["a signature of other words", { [signatureHeader]: sign(secret, "other", Date.now()) }, { content: "x" }, 401],
    ["a receiver that is not allowed", bearer, { to: "*", content: "x" }, 403],
    ["no content", bearer, { to: "coder" }, 400],
    ["a receiver who is not there", bearer, { to: "ghost", content: "x" }, 404],
  ])("%s is refused", async (_, headers, body, status) => {
    const { url, sent } = await aGateway({ port: 0, secret, to: "coder", allow: ["ghost"] });
    const response = await fetch(url, json(body, headers as Record<string, string>));
    expect(response.status).toBe(status);
    expect(sent).toEqual([]);
  });

  function receiver(answers: number[]): { url: string; got: { body: string; signature: string }[] } {
    const got: { body: string; signature: string }[] = [];
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        got.push({ body: await request.text(), signature: request.headers.get(signatureHeader) ?? "" });
        return new Response(null, { status: answers[got.length - 1] ?? 200 });
      },
    });
    cleanUps.push(() => server.stop(true));
    return { url: server.url.href, got };
  }

  test("a message to it is posted, signed, until the far side takes it", async () => {
    const { url, got } = receiver([503, 429]);
    const { agent, send, until } = await aTeam(
      `objects: { gateway: { options: { url: "${url}", secret: "${secret}", retryMs: 1 } } }`,
    );
    const { receipt } = await send({ to: "gateway", body: "deployed" }, agent("coder"));
    await until(receipt.message, ({ state }) => state === "seen");
    expect(got.length).toBe(3);
    expect(got.every(({ body, signature }) => isSignedBy(secret, body, signature, Date.now()))).toBe(true);
    expect(JSON.parse(got[2]!.body)).toMatchObject({
      from: "coder",
      team: "web",
      content: "deployed",
      id: receipt.message.id,
      tag: receipt.message.tag,
    });
  });

  test("what the far side refuses is not repeated, and its sender gets a bounce", async () => {
    const { url, got } = receiver([422]);
    const { agent, send, until, inbox } = await aTeam(
      `objects: { gateway: { options: { url: "${url}", secret: "${secret}", retryMs: 1 } } }`,
    );
    const { receipt } = await send({ to: "gateway", body: "deployed" }, agent("coder"));
    expect((await until(receipt.message, ({ state }) => state === "failed")).detail).toContain("422");
    expect(got.length).toBe(1);
    expect(await inbox(agent("coder"), 1)).toMatchObject([{ kind: "bounce" }]);
  });

  test("a secret that cannot be read is in the agent's state, and holds the mail", async () => {
    const team = await aTeam("objects: { gateway: { options: { url: 'http://127.0.0.1:9', secretFile: no-secret } } }");
    const { receipt } = await team.send({ to: "gateway", body: "x" });
    expect((await team.until(receipt.message, ({ reason }) => reason === "error")).detail).toContain("secret");
  });
});
