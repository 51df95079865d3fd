import { readFileSync } from "node:fs";
import { TielineError } from "../model/errors.ts";
import { atomicWrite } from "../os/atomicWrite.ts";
import { serveHttp, type HttpConnection, type HttpServer } from "../os/httpServer.ts";
import { problem } from "./http.ts";
import { systemTimers, type Timers } from "../os/timers.ts";

/** What answers at a path of the loopback port; null: not mine. */
export type LoopbackRoute = (request: Request, url: URL, connection: HttpConnection) => Promise<Response> | null;

export interface Loopback {
  readonly port: number;
  /** Set when the expected port could not be opened, so that this daemon is at another one. */
  readonly moved: Moved | null;
  /** Every port that this daemon answers at. */
  readonly ports: ReadonlySet<number>;
  /** Answers at that port too, until it stops. */
  alsoAt(port: number): Promise<void>;
  stop(): Promise<void>;
}

export interface Moved {
  readonly from: number;
  readonly why: string;
}

export interface LoopbackOptions {
  /** `http.port` of the user; null: the port in the file, or a new one. */
  readonly configured: number | null;
  /** Where the daemon keeps the port that it is at. */
  readonly file: string;
  readonly routes: readonly LoopbackRoute[];
  readonly report: (context: string, fault: unknown) => void;
  /** How long a port may stay taken by a daemon that is just ending. */
  readonly patienceMs?: number;
  readonly timers?: Timers;
}

/**
 * The port of the dashboard and of the HTTP API, drawn once and then kept. If another program has it, this daemon takes
 * another one: the other program may have answered in our place, so what trusted the old port must know.
 */
export async function openLoopback({
  configured,
  file,
  routes,
  report,
  patienceMs = 500,
  timers = systemTimers,
}: LoopbackOptions): Promise<Loopback> {
  const servers = new Map<number, readonly HttpServer[]>();
  const serve = (hostname: string, port: number): Promise<HttpServer> =>
    serveHttp({ hostname, port, report, fetch: (request, connection) => answer(request, connection, routes) });
  const open = async (port: number): Promise<number> => {
    const opened = await openBoth(serve, port);
    servers.set(opened[0]!.port, opened);
    return opened[0]!.port;
  };
  const kept = keptIn(file);
  const expected = configured ?? kept;
  const refused = expected === null ? null : await refusalOf(() => open(expected), patienceMs, timers);
  const port = expected === null || refused !== null ? await open(0) : expected;
  if (port !== kept) atomicWrite(file, `${port}\n`);
  return {
    port,
    moved: refused === null ? null : { from: expected!, why: wordsFor(refused, expected!) },
    get ports() {
      return new Set(servers.keys());
    },
    async alsoAt(other) {
      try {
        if (!servers.has(other)) await open(other);
      } catch (thrown) {
        throw isRefused(thrown) ? unusable(other, thrown) : thrown;
      }
    },
    stop: async () =>
      void (await Promise.all([...servers.values()].flat().map((server) => server[Symbol.asyncDispose]()))),
  };
}

/**
 * 127.0.0.1 and ::1: browsers try both for names below `localhost`, and a stranger at one of them would be believed.
 */
async function openBoth(
  serve: (hostname: string, port: number) => Promise<HttpServer>,
  port: number,
  draws = 20,
): Promise<HttpServer[]> {
  const first = await serve("127.0.0.1", port);
  try {
    return [first, await serve("::1", first.port)];
  } catch (thrown) {
    if (codeOf(thrown) !== "EADDRINUSE" && codeOf(thrown) !== "EACCES") return [first]; // no IPv6 here
    await first[Symbol.asyncDispose]();
    if (port !== 0 || draws === 0) throw thrown;
    return openBoth(serve, port, draws - 1);
  }
}

/** null: it worked. A port is free a moment after its daemon has ended. */
async function refusalOf(open: () => Promise<unknown>, patienceMs: number, timers: Timers): Promise<unknown> {
  const end = timers.elapsed() + patienceMs;
  for (;;) {
    try {
      await open();
      return null;
    } catch (thrown) {
      if (!isRefused(thrown)) throw thrown;
      if (timers.elapsed() > end) return thrown;
    }
    await timers.pause(25);
  }
}

function keptIn(file: string): number | null {
  try {
    const port = Number(readFileSync(file, "utf8"));
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : null;
  } catch (thrown) {
    if (codeOf(thrown) === "ENOENT") return null;
    throw thrown;
  }
}

const codeOf = (thrown: unknown): unknown => (thrown as { code?: unknown }).code;

const isRefused = (thrown: unknown): boolean => codeOf(thrown) === "EADDRINUSE" || codeOf(thrown) === "EACCES";

const wordsFor = (thrown: unknown, port: number): string =>
  codeOf(thrown) === "EACCES" ? `port ${port} is not open to this user` : `port ${port} is taken by another program`;

const unusable = (port: number, thrown: unknown): TielineError =>
  new TielineError("CONFLICT", wordsFor(thrown, port), { remedy: "choose another one", operands: { port } });

async function answer(
  request: Request,
  connection: HttpConnection,
  routes: readonly LoopbackRoute[],
): Promise<Response> {
  const host = request.headers.get("host");
  if (host === null) return problem(noHost());
  // A page elsewhere may have its name resolved to 127.0.0.1; its requests still carry that name.
  if (!isLoopback(host)) return problem(wrongHost());
  const url = new URL(request.url);
  for (const route of routes) {
    const response = route(request, url, connection);
    if (response) return response;
  }
  return problem(nothingThere(url.pathname));
}

const isLoopback = (host: string): boolean => /^(127\.0\.0\.1|([a-z0-9-]+\.)?localhost|\[::1\])(:\d+)?$/.test(host);

const noHost = (): TielineError =>
  new TielineError("USAGE", "the request has no Host header", { remedy: "use an HTTP client that sends it" });

const wrongHost = (): TielineError =>
  new TielineError("NOT_PERMITTED", "the Host header must be localhost or 127.0.0.1", {
    remedy: "use http://127.0.0.1 with the port of the home",
  });

const nothingThere = (path: string): TielineError =>
  new TielineError("USAGE", `there is nothing at ${path}`, {
    remedy: "see docs/api.md for the paths",
    operands: { path },
  });
