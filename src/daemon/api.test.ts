import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { createClient } from "../client/client.ts";
import { definitions } from "../api/operations/index.ts";
import type { AcceptedFact } from "../model/event.ts";
import { methods } from "../api/wire.ts";
import { streamEvents } from "../client/stream.ts";
import { startTestDaemon, stateOf, type TestDaemon } from "../testing/daemon.ts";
import { apiPage } from "./apiPage.ts";
import { openapi } from "./openapi.ts";
import { version } from "../../package.json";

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon[Symbol.asyncDispose]());

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${daemon.url}${path}`, { headers });
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

async function problemOf(response: Response): Promise<{ status: number; code: string; remedy: string }> {
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  return (await response.json()) as { status: number; code: string; remedy: string };
}

describe("the loopback port", () => {
  test("knows the user and agents by their tokens", async () => {
    const { client } = await daemon.agent("ana");
    const receipt = await client.call("send", { to: "user", body: "hello" });
    expect(receipt).toMatchObject({ from: "ana", knownBy: "token" });
    expect(await daemon.user.call("send", { to: "ana", body: "hello" })).toMatchObject({
      from: "user",
      knownBy: "user",
    });
  });

  test("a bearer counts for more than what the caller says beside it", async () => {
    const { token } = await daemon.agent("ben");
    const client = daemon.with(token, { userToken: daemon.userToken });
    expect(await client.call("send", { to: "user", body: "I am ben" })).toMatchObject({ from: "ben" });
  });

  test.each([
    ["no token", {}, 401, "IDENTITY_UNKNOWN"],
    ["an unknown token", { authorization: "Bearer unknown" }, 401, "IDENTITY_UNKNOWN"],
    ["another scheme", { authorization: "Basic dXNlcjp4" }, 401, "IDENTITY_UNKNOWN"],
  ] as const)("refuses %s", async (_, headers, status, code) => {
    expect(await problemOf(await get("/v1/ls", headers))).toMatchObject({ status, code, remedy: expect.any(String) });
  });

  test.each(["evil.example", "evil.example:80", "127.0.0.1.evil.example"])("refuses the host %p", async (host) => {
    const refused = await get("/v1/ls", { ...bearer(daemon.userToken), host });
    expect(await problemOf(refused)).toMatchObject({ status: 403, code: "NOT_PERMITTED" });
  });

  test.each(["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"])(
    "refuses pages of %p, also with the right token",
    async (origin) => {
      expect(await problemOf(await get("/v1/ls", { ...bearer(daemon.userToken), origin }))).toMatchObject({
        status: 403,
        code: "NOT_PERMITTED",
      });
    },
  );

  test("its own page may call", async () => {
    expect((await get("/v1/ls", { ...bearer(daemon.userToken), origin: daemon.url })).status).toBe(200);
  });

  test("events are a stream there too, resumed after a number", async () => {
    const { last } = await daemon.user.call("events", {});
    const ends = new AbortController();
    const events = streamEvents(
      { url: daemon.url, token: daemon.userToken },
      {},
      { after: last, types: ["message.accepted"] },
      ends.signal,
    );
    const next = events.next();
    const { tag } = await daemon.user.call("send", {
      to: "ana",
      body: "seen by watchers",
      summary: "long ".repeat(99),
    });
    const { value } = await next;
    expect(value).toMatchObject({ type: "message.accepted", tag, message: { kind: "text", knownBy: "user" } });
    expect((value as AcceptedFact).message!.summary).toHaveLength(120);
    ends.abort();
  });
});

describe("the socket", () => {
  test("takes a bearer as well", async () => {
    const client = createClient({ socket: daemon.home.socket }, { userToken: daemon.userToken });
    expect(await client.call("ls", {})).toBeArray();
    const response = await fetch("http://tieline/v1/ls", {
      unix: daemon.home.socket,
      headers: bearer(daemon.userToken),
    });
    expect(response.status).toBe(200);
  });
});

describe("agents that fetch their mail", () => {
  test("mail is seen when the reader says so, not before", async () => {
    const { client } = await daemon.agent("cleo");
    const sent = await daemon.user.call("send", { to: "cleo", body: "take this" });
    const [letter] = await client.call("collect", {});
    expect(letter).toMatchObject({ tag: sent.tag, body: "take this", from: "user" });
    expect(await stateOf(daemon.user, sent)).toBe("claimed");
    expect(await client.call("collected", { deliveries: [letter!.delivery!] })).toEqual({ seen: 1 });
    expect(await stateOf(daemon.user, sent)).toBe("seen");
  });

  test("who waits gets mail when it comes, and gets none when it has gone", async () => {
    const { client } = await daemon.agent("dora");
    const waiting = client.call("collect", { waitMs: 60_000 });
    await daemon.user.call("send", { to: "dora", body: "at last" });
    expect(await waiting).toMatchObject([{ body: "at last" }]);
    const left = new AbortController();
    const abandoned = client.call("collect", { waitMs: 60_000 }, left.signal).catch((thrown: Error) => thrown.name);
    left.abort();
    expect(await abandoned).toBe("AbortError");
    const sent = await daemon.user.call("send", { to: "dora", body: "for the next" });
    expect(await client.call("collect", { waitMs: 60_000 })).toMatchObject([{ tag: sent.tag }]);
  });

  test("one message can be taken out from among others", async () => {
    const { client } = await daemon.agent("picky");
    const [first, second] = await Promise.all(
      ["one", "two"].map((body) => daemon.user.call("send", { to: "picky", body })),
    );
    const mail = await client.call("collect", { tag: second!.tag });
    expect(mail.map(({ body }) => body)).toEqual(["two"]);
    await client.call("collected", { deliveries: [mail[0]!.delivery!] });
    expect([await stateOf(daemon.user, first!), await stateOf(daemon.user, second!)]).toEqual(["queued", "seen"]);
  });

  test("an agent cannot confirm another's mail", async () => {
    const [{ client: eve }, { client: fay }] = [await daemon.agent("eve"), await daemon.agent("fay")];
    const sent = await daemon.user.call("send", { to: "eve", body: "private" });
    const [letter] = await eve.call("collect", {});
    expect(await fay.call("collected", { deliveries: [letter!.delivery!] })).toEqual({ seen: 0 });
    expect(await stateOf(daemon.user, sent)).toBe("claimed");
  });

  test("the same name again is the same agent with a new token; another's name is taken", async () => {
    const first = await daemon.user.call("register", { name: "gil", role: "poet" });
    const second = await daemon.user.call("register", { name: "gil" });
    expect(second.agent.id).toBe(first.agent.id);
    await expect(daemon.with(first.token).call("ls", {})).rejects.toMatchObject({ code: "IDENTITY_UNKNOWN" });
    await expect(daemon.user.call("register", { name: "metrics", kind: "object" })).rejects.toMatchObject({
      code: "NAME_INVALID",
    });
    await expect(daemon.user.call("register", { name: "ida", role: "x".repeat(100_000) })).rejects.toMatchObject({
      code: "NAME_INVALID",
    });
    await expect(daemon.with(second.token).call("register", { name: "hal" })).rejects.toMatchObject({
      code: "NOT_PERMITTED",
    });
  });
});

describe("docs", () => {
  const docs = join(import.meta.dir, "../../docs");

  test("openapi.json and api.md are current: node_modules/.bin/bun scripts/docs-api.ts", () => {
    expect(JSON.parse(readFileSync(join(docs, "openapi.json"), "utf8"))).toEqual(
      JSON.parse(JSON.stringify(openapi(version))),
    );
    expect(readFileSync(join(docs, "api.md"), "utf8")).toBe(apiPage());
  });

  test("every operation says what it does", () => {
    expect(Object.keys(definitions).toSorted()).toEqual(Object.keys(methods).toSorted());
    for (const { summary } of Object.values(definitions)) expect(summary).toMatch(/^[A-Z].*\.$/);
  });

  test("openapi.json is valid OpenAPI 3.1, and the daemon serves it", async () => {
    const served = (await (await get("/v1/openapi.json", bearer(daemon.userToken))).json()) as Record<string, unknown>;
    expect(served).toEqual(JSON.parse(JSON.stringify(openapi("0.0.0"))));
    const validator = new Validator();
    const { valid, errors } = await validator.validate(served);
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined } as never);
    expect(validator.version).toBe("3.1");
    expect(() => validator.resolveRefs()).not.toThrow();
  });
});
