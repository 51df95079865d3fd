import { afterEach, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { until } from "../testing/until.ts";
import { serveHttp, type HttpLimits, type HttpServer, type HttpServerOptions } from "./httpServer.ts";

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

const faults: string[] = [];

async function serving(
  fetch: HttpServerOptions["fetch"],
  limits: Partial<HttpLimits> = {},
): Promise<HttpServer & { url: string }> {
  faults.length = 0;
  const server = await serveHttp({
    hostname: "127.0.0.1",
    port: 0,
    fetch,
    report: (context) => void faults.push(context),
    limits,
  });
  open.push(server);
  return Object.assign(server, { url: `http://127.0.0.1:${server.port}` });
}

interface Line extends AsyncDisposable {
  readonly socket: Socket;
  /** What came so far. */
  text(): string;
  readonly closed: Promise<void>;
}

/** A bare connection, with what is written on it first. */
function line({ port }: HttpServer, written = ""): Line {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  socket.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  if (written !== "") socket.write(written);
  const one: Line = { socket, text: () => text, closed, [Symbol.asyncDispose]: async () => void socket.destroy() };
  open.push(one);
  return one;
}

const answers = ({ text }: Line): number => text().split("\r\nok\r\n").length - 1;
const ok = async (): Promise<Response> => new Response("ok");
const head = (path: string, ...headers: string[]): string =>
  [`GET ${path} HTTP/1.1`, "Host: 127.0.0.1", ...headers, "", ""].join("\r\n");

describe("requests", () => {
  test("are given to the handler as they came, and its answers go back", async () => {
    const server = await serving(async (request) => {
      const { pathname, searchParams } = new URL(request.url);
      const body = request.method === "POST" ? await request.text() : null;
      return Response.json(
        { pathname, a: searchParams.get("a"), body, header: request.headers.get("x-one") },
        { status: 201, headers: { "x-two": "2" } },
      );
    });
    const response = await fetch(`${server.url}/p?a=b`, { method: "POST", body: "text ä", headers: { "x-one": "1" } });
    expect([response.status, response.headers.get("x-two"), await response.json()]).toEqual([
      201,
      "2",
      { pathname: "/p", a: "b", body: "text ä", header: "1" },
    ]);
    expect(await (await fetch(`${server.url}/q`)).json()).toEqual({
      pathname: "/q",
      a: null,
      body: null,
      header: null,
    });
  });

  test("a body is waited for by those who ask first", async () => {
    const server = await serving(async (request) => new Response(await request.text()));
    const { socket, text } = line(
      server,
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n",
    );
    await until(() => text().includes("100 Continue"), "the server to ask for the body");
    socket.write("hello");
    await until(() => text().includes("\r\nhello\r\n"), "the answer");
  });

  test("a handler learns that its caller left, and a stream ends", async () => {
    const ended: string[] = [];
    const server = await serving(async (request) => {
      if (request.url.endsWith("/wait")) {
        await new Promise<void>((resolve) => request.signal.addEventListener("abort", () => resolve()));
        ended.push("wait");
      }
      return new Response(
        new ReadableStream({
          pull: async (controller) => controller.enqueue(new Uint8Array(100_000)),
          cancel: () => void ended.push("stream"),
        }),
      );
    });
    const waiting = line(server, head("/wait"));
    const reading = line(server, head("/stream"));
    await until(() => reading.text().length > 100_000, "the stream");
    waiting.socket.destroy();
    reading.socket.destroy();
    await until(() => ended.includes("wait") && ended.includes("stream"), "both to end");
    expect(faults).toEqual([]);
  });

  test("a slow reader stops the stream it reads, instead of filling memory", async () => {
    let made = 0;
    const server = await serving(
      async () =>
        new Response(
          new ReadableStream(
            { pull: (controller) => (made++, controller.enqueue(new Uint8Array(1_000_000))) },
            { highWaterMark: 0 },
          ),
        ),
    );
    const reader = line(server, head("/"));
    await until(() => reader.text().length > 1_000_000, "the stream");
    reader.socket.pause();
    let before = -1;
    await until(async () => {
      const still = made === before;
      before = made;
      await Bun.sleep(100);
      return still;
    }, "the stream to stop");
    expect(made).toBeLessThan(100);
  });

  test.each([
    ["no HTTP at all", "hello\r\n\r\n"],
    ["a Host with a space", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"],
    ["a Host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"],
    ["the address of another server", "GET http://evil.example/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"],
    ["two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["no path at all", "GET * HTTP/1.1\r\nHost: x\r\n\r\n"],
  ])("%s is a 400, and no fault", async (_, written) => {
    const server = await serving(ok);
    const { text, closed } = line(server, written);
    await closed;
    expect(text()).toStartWith("HTTP/1.1 400 ");
    expect(faults).toEqual([]);
  });

  test("a request without a Host is the handler's to judge", async () => {
    const server = await serving(async (request) => new Response(`host ${request.headers.get("host")}`));
    for (const version of ["1.0", "1.1"]) {
      const { text, closed } = line(server, `GET / HTTP/${version}\r\nConnection: close\r\n\r\n`);
      await closed;
      expect(text()).toContain("host null");
    }
  });

  test("a handler that throws is a bare 500, and a fault", async () => {
    const server = await serving(async () => {
      throw new Error("secret detail");
    });
    const response = await fetch(server.url);
    expect([response.status, await response.text()]).toEqual([500, ""]);
    expect(faults).toHaveLength(1);
  });
});

describe("limits", () => {
  test("headers of more than their limit are a 431", async () => {
    const server = await serving(ok, { headerBytes: 4_096 });
    const { text, closed } = line(server, head("/", `X: ${"x".repeat(10_000)}`));
    await closed;
    expect(text()).toStartWith("HTTP/1.1 431 ");
  });

  test.each([
    ["nothing", "", ""],
    ["half a header, and then a byte at a time", "GET / HTTP/1.1\r\nHost: x\r\n", "a"],
    ["half a body, and then a byte at a time", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n", "a"],
  ])("a caller that sends %s is cut off", async (_, written, more) => {
    const server = await serving(async (request) => new Response(await request.text()), {
      headersMs: 300,
      requestMs: 600,
    });
    const { socket, closed } = line(server, written);
    const trickle = more === "" ? undefined : setInterval(() => socket.write(more), 20);
    await closed;
    clearInterval(trickle);
    expect(faults).toEqual([]);
  });

  test("an answer that takes longer than a request may is not cut off", async () => {
    const server = await serving(
      async (_, connection) => {
        connection.admit();
        await Bun.sleep(1_500);
        return new Response("late");
      },
      { headersMs: 200, requestMs: 300, keepAliveMs: 200, unreadMs: 200 },
    );
    expect(await (await fetch(server.url)).text()).toBe("late");
  });

  test("a body that the handler does not read is not taken in, and its caller still gets the answer", async () => {
    const server = await serving(async () => new Response("no", { status: 401 }));
    const { socket, text, closed } = line(server, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n");
    const before = process.memoryUsage.rss();
    const piece = Buffer.alloc(1_000_000);
    const pump = setInterval(() => socket.write(piece), 1);
    await closed;
    clearInterval(pump);
    expect(text()).toStartWith("HTTP/1.1 401 ");
    expect(process.memoryUsage.rss() - before).toBeLessThan(100_000_000);
  });

  test("strangers push out the oldest of them, and no admitted connection", async () => {
    const server = await serving(
      async (request, connection) => {
        if (request.headers.has("authorization")) connection.admit();
        return new Response("ok");
      },
      { strangers: 4, connections: 8, keepAliveMs: 60_000 },
    );
    const known = line(server, head("/", "Authorization: yes"));
    await until(() => answers(known) === 1, "the first answer");
    const crowd = Array.from({ length: 50 }, () => line(server));
    await until(() => crowd.filter(({ socket }) => socket.closed).length === 46, "the others to be pushed out");
    expect(server.connections()).toEqual({ admitted: 1, strangers: 4 });
    known.socket.write(head("/", "Authorization: yes"));
    await until(() => answers(known) === 2, "the second answer");
    const newcomer = line(server, head("/"));
    await until(() => answers(newcomer) === 1, "an answer for a newcomer");
  });

  test("there are never more connections than allowed", async () => {
    const server = await serving(
      async (_, connection) => {
        connection.admit();
        return new Response("ok");
      },
      { connections: 3, keepAliveMs: 60_000 },
    );
    const lines = [1, 2, 3].map(() => line(server, head("/")));
    await until(() => lines.every((one) => answers(one) === 1), "three answers");
    await line(server, head("/")).closed;
    expect(server.connections()).toEqual({ admitted: 3, strangers: 0 });
    lines[0]!.socket.destroy();
    await until(() => server.connections().admitted === 2, "room for another one");
    const next = line(server, head("/"));
    await until(() => answers(next) === 1, "its answer");
  });
});
