import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import fc from "fast-check";
import { ask, faultIn, requests, toolCalls } from "./apiFuzz.ts";
import { startTestDaemon, type TestDaemon } from "./daemon.ts";

/** Any input gets a typed error; nothing crashes or hangs, and other callers are not affected. */
export function apiFuzz({
  requests: requestRuns,
  calls,
  seed,
}: {
  requests: number;
  calls: number;
  /** Of a run that is to be seen again. */ seed?: number;
}): void {
  const settings = { endOnFailure: true, includeErrorInReport: true, ...(seed !== undefined && { seed }) };
  const deadlineMs = 60_000 + (requestRuns + calls) * 60;
  let daemon: TestDaemon;
  let agentToken: string;

  beforeAll(async () => {
    daemon = await startTestDaemon();
    await peopled();
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  /** Some requests remove agents; the others need one to talk to. */
  async function peopled(): Promise<void> {
    ({ token: agentToken } = await daemon.agent("ana"));
    await daemon.agent("ben");
  }

  const alive = async (): Promise<void> => {
    expect((await daemon.user.call("daemonStatus", {})).running).toBeTrue();
  };

  describe("requests made from the schemas", () => {
    test(
      "are answered as the schemas say, or refused with one of our codes",
      async () => {
        const asked = fc.asyncProperty(requests, fc.boolean(), async (request, byAgent) => {
          const response = await ask(request, daemon, byAgent ? agentToken : daemon.userToken);
          if (response.status === 401) await peopled();
          expect((await faultIn(request, response))?.slice(0, 500) ?? null).toBeNull();
        });
        await fc.assert(asked, { ...settings, numRuns: requestRuns });
        await alive();
      },
      deadlineMs,
    );

    test(
      "as calls of MCP tools are answered with text, or refused with a code and what to do",
      async () => {
        await peopled();
        const asked = fc.asyncProperty(toolCalls, async (params) => {
          const rpc = await mcp(
            agentToken,
            JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: withoutWaiting(params) }),
          );
          const body = (await rpc.json()) as {
            result?: { isError?: boolean; content: { text: string }[] };
            error?: { code: number };
          };
          if (body.error) expect(body.error.code).toBeLessThan(-32_000);
          else if (body.result!.isError)
            expect(body.result!.content[0]!.text).toMatch(/^error (?!INTERNAL)[A-Z_]+: [^]*\nWhat to do: ./);
          else expect(body.result!.content[0]!.text).toBeString();
        });
        await fc.assert(asked, { ...settings, numRuns: calls });
        await alive();
      },
      deadlineMs,
    );
  });

  describe("requests that are none", () => {
    const nested = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;

    test.each([
      ["not JSON", "{"],
      ["truncated", '{"to":"ana","body":"hel'],
      ["deep", nested(200_000)],
      ["deep inside", `{"to":"ana","body":${nested(200_000)}}`],
      ["a list", "[1,2]"],
      ["a number", "7"],
      ["null", "null"],
      ["text with a NUL", '{"to":"ana","body":"a\\u0000b"}'],
      ["a lone surrogate", '{"to":"ana","body":"\\ud800"}'],
      ["many keys", JSON.stringify(Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`k${at}`, at])))],
      ["too long a body", JSON.stringify({ to: "ana", body: "x".repeat(2 * 1024 * 1024) })],
      ["too long altogether", "x".repeat(9 * 1024 * 1024)],
    ])("%s", async (_, body) => {
      for (const path of ["/v1/send", "/mcp"]) {
        const response = await fetch(`${daemon.url}${path}`, {
          method: "POST",
          headers: mcpHeaders(daemon.userToken),
          body,
          signal: AbortSignal.timeout(30_000),
        });
        expect(response.status).toBeWithin(400, 500);
        expect(await response.json()).toBeObject();
      }
      await alive();
    });

    test.each([
      ["a path that is not there", "GET", "/v1/nothing", {}],
      ["a path outside", "GET", "/v1/../../etc/passwd", {}],
      ["half a percent sign", "GET", "/v1/show?tag=%E0%A4%A", {}],
      ["the other method", "GET", "/v1/send", {}],
      ["an unknown method", "PURGE", "/v1/ls", {}],
      ["a caller that is no JSON", "GET", "/v1/ls", { "x-tieline-caller": "%7Bnope" }],
      ["a caller of the wrong types", "GET", "/v1/ls", { "x-tieline-caller": encodeURIComponent('{"pid":"one"}') }],
      ["a caller that is not encoded", "GET", "/v1/ls", { "x-tieline-caller": "%" }],
      ["an event number that is none", "GET", "/v1/events?after=soon", { accept: "text/event-stream" }],
    ])("%s", async (_, method, path, headers) => {
      const response = await fetch(`${daemon.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${daemon.userToken}`, ...headers } as Record<string, string>,
      });
      expect(response.status).toBeWithin(400, 500);
      expect(await response.json()).toMatchObject({ code: expect.any(String), remedy: expect.any(String) });
    });

    test("a request that breaks off, and bytes that are no HTTP", async () => {
      const half =
        `POST /v1/send HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ` +
        `${daemon.userToken}\r\ncontent-length: 1000\r\n\r\n{"to":`;
      for (const bytes of [
        half,
        "\u0016\u0003\u0001 tls?",
        "GET\r\n\r\n",
        `GET / HTTP/1.1\r\nx: ${"y".repeat(100_000)}\r\n\r\n`,
      ]) {
        const socket = await open();
        socket.write(bytes);
        socket.end();
        await new Promise((resolve) => socket.on("close", resolve).resume());
        await alive();
      }
    });
  });

  describe("others", () => {
    test("300 connections that send nothing do no harm", async () => {
      await daemon.agent("crowd");
      const idle = await Promise.all(Array.from({ length: 300 }, open));
      await Promise.all(Array.from({ length: 50 }, alive));
      const sent = await daemon.user.call("send", { to: "crowd", body: "through the crowd" });
      expect(sent.deliveries).toHaveLength(1);
      for (const socket of idle) socket.destroy();
    });

    test("readers that read nothing do no harm", async () => {
      const request =
        `GET /v1/events?after=0 HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\nauthorization: ` +
        `Bearer ${daemon.userToken}\r\n\r\n`;
      const stuck = await Promise.all(
        Array.from({ length: 50 }, async () => {
          const socket = await open();
          socket.pause();
          socket.write(request);
          return socket;
        }),
      );
      for (let at = 0; at < 50; at++) await daemon.user.call("register", { name: `r${at}` });
      await alive();
      for (const socket of stuck) socket.destroy();
      await alive();
    });
  });

  const mcpHeaders = (token: string): Record<string, string> => ({
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  });
  const mcp = (token: string, body: string): Promise<Response> =>
    fetch(`${daemon.url}/mcp`, {
      method: "POST",
      headers: mcpHeaders(token),
      body,
      signal: AbortSignal.timeout(30_000),
    });

  async function open() {
    const socket = connect(Number(new URL(daemon.url).port), "127.0.0.1");
    socket.on("error", () => undefined);
    await new Promise((resolve) => socket.once("connect", resolve));
    return socket;
  }
}

/** A tool may wait for seconds, which is too long here. */
function withoutWaiting({ name, arguments: given }: { name: string; arguments: unknown }): object {
  const brief = name === "ask" || name === "wait_for_message" ? { timeout_seconds: 0.01 } : {};
  return {
    name,
    arguments: typeof given === "object" && given !== null && !Array.isArray(given) ? { ...given, ...brief } : given,
  };
}
