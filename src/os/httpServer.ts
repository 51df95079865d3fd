/**
 * An HTTP server for a TCP port, where any user of the machine and any page in a browser may connect. Connections,
 * headers and bodies are limited in number, size and time before anything is done with them, and nothing that a caller
 * sends makes the server throw or print. Handlers take a Request and answer with a Response, as elsewhere.
 */
import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export interface HttpServer extends AsyncDisposable {
  readonly port: number;
  /** How many connections there are now, of callers that are admitted and of all others. */
  connections(): { readonly admitted: number; readonly strangers: number };
}

export interface HttpServerOptions {
  readonly hostname: string;
  /** 0: any free port. */
  readonly port: number;
  readonly fetch: (request: Request, connection: HttpConnection) => Promise<Response>;
  /** A fault of the handler. Its caller gets a bare 500. */
  readonly report: (context: string, fault: unknown) => void;
  readonly limits?: Partial<HttpLimits>;
}

/** The connection of a request. */
export interface HttpConnection {
  /** The caller has proved who it is: the connection no longer counts as a stranger's. */
  admit(): void;
}

export interface HttpLimits {
  /** All connections. One more is closed at once. */
  readonly connections: number;
  /** Connections on which no caller has proved anything yet. One more closes the oldest of them. */
  readonly strangers: number;
  readonly headerBytes: number;
  /** From the first byte of a connection, or from the end of the request before, to the end of the headers. */
  readonly headersMs: number;
  /** The same to the end of the body. */
  readonly requestMs: number;
  /** Without a request. */
  readonly keepAliveMs: number;
  /** How long a stranger may leave an answer unread. */
  readonly unreadMs: number;
}

const defaultLimits: HttpLimits = {
  connections: 256,
  strangers: 64,
  headerBytes: 16 * 1024,
  headersMs: 5_000,
  requestMs: 10_000,
  keepAliveMs: 5_000,
  unreadMs: 10_000,
};

/** Rejects when the port cannot be had. */
export async function serveHttp({
  hostname,
  port,
  fetch,
  report,
  limits: given = {},
}: HttpServerOptions): Promise<HttpServer> {
  const limits = { ...defaultLimits, ...given };
  const all = new Set<Socket>();
  /** In the order of their arrival. */
  const strangers = new Set<Socket>();
  const options = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: 500,
    // The handler says what is wrong with a Host, also when there is none.
    requireHostHeader: false,
  };
  const server = createServer(options, (request, response) => void serve(request, response));
  server.on("checkContinue", (request, response) => void serve(request, response));
  server.on("connection", welcome);
  server.on("clientError", (fault: NodeJS.ErrnoException, socket: Socket) => refuse(socket, statusFor(fault.code)));
  await listen(server, port, hostname);
  server.on("error", (fault) => report(`the server at port ${port}`, fault));

  return {
    port: (server.address() as AddressInfo).port,
    connections: () => ({ admitted: all.size - strangers.size, strangers: strangers.size }),
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      for (const socket of all) socket.destroy();
      await closed;
    },
  };

  function welcome(socket: Socket): void {
    socket.on("error", () => dismiss(socket));
    socket.on("close", () => dismiss(socket));
    all.add(socket);
    strangers.add(socket);
    if (strangers.size > limits.strangers) dismiss(strangers.values().next().value!);
    if (all.size > limits.connections) return dismiss(socket);
    socket.setTimeout(limits.requestMs + limits.unreadMs, () => dismiss(socket));
  }

  /** It counts no longer, even if its end takes another moment. */
  function dismiss(socket: Socket): void {
    all.delete(socket);
    strangers.delete(socket);
    socket.destroy();
  }

  function admit(socket: Socket): void {
    if (!strangers.delete(socket)) return;
    // Some callers came to wait, and a stream is quiet while nothing happens.
    socket.setTimeout(0);
  }

  async function serve(message: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { socket } = message;
    const gone = new AbortController();
    message.on("error", () => gone.abort());
    answer.on("error", () => gone.abort());
    answer.on("close", () => gone.abort());
    try {
      const request = requestOf(message, answer, gone.signal);
      const response = request && (await fetch(request, { admit: () => admit(socket) }));
      if (response === null) return refuse(socket, 400);
      if (response.status >= 400 && !isRead(message)) return await refuseUnread(socket, response);
      await write(response, answer, message, gone.signal);
    } catch (fault) {
      if (!gone.signal.aborted) report(`${message.method} at port ${port}`, fault);
      if (answer.headersSent) socket.destroy();
      else refuse(socket, 500);
    }
    if (!isRead(message)) leave(socket);
  }
}

const isRead = ({ complete, headers }: IncomingMessage): boolean =>
  complete || (Number(headers["content-length"] ?? 0) === 0 && headers["transfer-encoding"] === undefined);

function listen(server: Server, port: number, hostname: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: hostname, exclusive: true }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Null: its address or its headers make no sense. The body is read only when the handler reads it. */
function requestOf(message: IncomingMessage, answer: ServerResponse, signal: AbortSignal): Request | null {
  const { method = "GET", url = "", headers } = message;
  const host = headers.host ?? "";
  // Only the form in which clients name a place on this server; a Host could add to it otherwise.
  if (!url.startsWith("/") || !/^[\w.:[\]-]*$/.test(host)) return null;
  try {
    const hasBody = method !== "GET" && method !== "HEAD";
    const init: RequestInit & { duplex?: "half" } = {
      method,
      headers: Object.entries(headers).flatMap(([name, value]) =>
        [value ?? []].flat().map((one): [string, string] => [name, one]),
      ),
      signal,
      ...(hasBody && { body: bodyOf(message, answer), duplex: "half" }),
    };
    return new Request(`http://${host || "unnamed"}${url}`, init);
  } catch {
    return null;
  }
}

function bodyOf(message: IncomingMessage, answer: ServerResponse): ReadableStream<Uint8Array> {
  let chunks: AsyncIterator<Uint8Array> | null = null;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (chunks === null && message.headers.expect !== undefined) answer.writeContinue();
        chunks ??= message[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
        const next = await chunks.next();
        if (next.done) controller.close();
        else controller.enqueue(new Uint8Array(next.value));
      },
      cancel: () => void message.destroy(),
    },
    { highWaterMark: 0 },
  );
}

async function write(
  response: Response,
  answer: ServerResponse,
  message: IncomingMessage,
  gone: AbortSignal,
): Promise<void> {
  const headers: Record<string, string> = Object.fromEntries(response.headers);
  // A connection whose request is not read to its end cannot carry another one.
  if (!isRead(message)) headers["connection"] = "close";
  const reader = response.body?.getReader();
  const cancel = (): void => void reader?.cancel().catch(() => undefined);
  gone.addEventListener("abort", cancel, { once: true });
  try {
    answer.writeHead(response.status, headers);
    answer.flushHeaders();
    for (let part = await reader?.read(); part && !part.done && !gone.aborted; part = await reader!.read())
      await until((done) => answer.write(part!.value, done), gone);
  } finally {
    gone.removeEventListener("abort", cancel);
  }
  await until((done) => answer.end(done), gone);
}

/** Resolves when the step is done, or the caller has left. */
function until(step: (done: () => void) => void, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      gone.removeEventListener("abort", done);
      resolve();
    };
    gone.addEventListener("abort", done);
    if (gone.aborted) done();
    else step(done);
  });
}

function refuse(socket: Socket, status: number): void {
  if (socket.destroyed || !socket.writable) return;
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  leave(socket);
}

/**
 * Bun closes a connection of its own once it has answered a request that is not read, so the answer is written past it.
 */
async function refuseUnread(socket: Socket, response: Response): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer());
  if (socket.destroyed || !socket.writable) return;
  const headers = { ...Object.fromEntries(response.headers), connection: "close", "content-length": `${body.length}` };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status]}\r\n${lines.join("")}\r\n`;
  socket.write(Buffer.concat([Buffer.from(head), body]));
  linger(socket);
}

/**
 * A socket that is closed with bytes unread resets the connection, which can take the answer from a caller that still
 * sends.
 */
const lingerMs = 500;

/** Nothing more is read. The caller gets a moment to find the answer. */
function leave(socket: Socket): void {
  socket.end();
  linger(socket);
}

/**
 * Bun reads on from a socket whose writing end is closed, paused or not; so a flood is only kept out of one that is
 * open.
 */
function linger(socket: Socket): void {
  socket.pause();
  const end = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once("close", () => clearTimeout(end));
}

function statusFor(code: string | undefined): number {
  if (code === "HPE_HEADER_OVERFLOW") return 431;
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
}

/** The body of a request; null when it is longer. Rejects when the caller leaves before its end. */
export async function textUpTo(maxBytes: number, request: Request): Promise<string | null> {
  const told = request.headers.get("content-length");
  if (Number(told ?? 0) > maxBytes) return null;
  // A server reads no more than the declared length, and walking a stream takes ten times as long.
  if (told !== null) return request.text();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > maxBytes) return null;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
