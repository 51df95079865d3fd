import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { TielineError } from "../model/errors.ts";
import { atomicWrite } from "../os/atomicWrite.ts";
import { problem } from "./http.ts";

/** What answers at a path of the loopback port; null: not mine. */
export type LoopbackRoute = (request: Request, url: URL) => Promise<Response> | null;

export interface Loopback {
  readonly port: number;
  /** Set when the expected port could not be opened, so that this daemon is at another one. */
  readonly moved: Moved | null;
  /** Every port that this daemon answers at. */
  readonly ports: ReadonlySet<number>;
  /** Answers at that port too, until it stops. */
  alsoAt(port: number): void;
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
  readonly maxBodyBytes: number;
  /** How long a port may stay taken by a daemon that is just ending. */
  readonly patienceMs?: number;
}

/**
 * The port of the dashboard and of the HTTP API, drawn once and then kept. If another program has it, this daemon takes
 * another one: the other program may have answered in our place, so what trusted the old port must know.
 */
export async function openLoopback({ configured, file, routes, maxBodyBytes, patienceMs = 500 }: LoopbackOptions): Promise<Loopback> {
  const servers = new Map<number, readonly Bun.Server<undefined>[]>();
  const serve = (hostname: string, port: number): Bun.Server<undefined> =>
    Bun.serve({ hostname, port, reusePort: false, idleTimeout: 0, maxRequestBodySize: maxBodyBytes, fetch: (request) => answer(request, routes) });
  const open = (port: number): number => {
    const opened = openBoth(serve, port);
    servers.set(opened[0]!.port!, opened);
    return opened[0]!.port!;
  };
  const kept = keptIn(file);
  const expected = configured ?? kept;
  const refused = expected === null ? null : await refusalOf(() => open(expected), patienceMs);
  const port = expected === null || refused !== null ? open(0) : expected;
  if (port !== kept) atomicWrite(file, `${port}\n`);
  return {
    port,
    moved: refused === null ? null : { from: expected!, why: wordsFor(refused, expected!) },
    get ports() {
      return new Set(servers.keys());
    },
    alsoAt(other) {
      try {
        if (!servers.has(other)) open(other);
      } catch (thrown) {
        throw isRefused(thrown) ? unusable(other, thrown) : thrown;
      }
    },
    stop: async () => void (await Promise.all([...servers.values()].flat().map((server) => server.stop(true)))),
  };
}

/** 127.0.0.1 and ::1: browsers try both for names below `localhost`, and a stranger at one of them would be believed. */
function openBoth(serve: (hostname: string, port: number) => Bun.Server<undefined>, port: number, draws = 20): Bun.Server<undefined>[] {
  const first = serve("127.0.0.1", port);
  try {
    return [first, serve("::1", first.port!)];
  } catch (thrown) {
    if (codeOf(thrown) !== "EADDRINUSE" && codeOf(thrown) !== "EACCES") return [first]; // no IPv6 here
    void first.stop(true);
    if (port !== 0 || draws === 0) throw thrown;
    return openBoth(serve, port, draws - 1);
  }
}

/** null: it worked. A port is free a moment after its daemon has ended. */
async function refusalOf(open: () => void, patienceMs: number): Promise<unknown> {
  const end = performance.now() + patienceMs;
  for (;;) {
    try {
      open();
      return null;
    } catch (thrown) {
      if (!isRefused(thrown)) throw thrown;
      if (performance.now() > end) return thrown;
    }
    await pause(25);
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

async function answer(request: Request, routes: readonly LoopbackRoute[]): Promise<Response> {
  const url = new URL(request.url);
  // A page elsewhere may have its name resolved to 127.0.0.1; its requests still carry that name.
  if (!isLoopback(request.headers.get("host") ?? "")) return problem(wrongHost());
  for (const route of routes) {
    const response = route(request, url);
    if (response) return response;
  }
  return problem(nothingThere(url.pathname));
}

const isLoopback = (host: string): boolean => /^(127\.0\.0\.1|([a-z0-9-]+\.)?localhost|\[::1\])(:\d+)?$/.test(host);

const wrongHost = (): TielineError => new TielineError("NOT_PERMITTED", "Tieline answers only under the names of this machine", { remedy: "use http://127.0.0.1 with the port of the home" });

const nothingThere = (path: string): TielineError => new TielineError("USAGE", `there is nothing at ${path}`, { remedy: "see docs/api.md for what is where", operands: { path } });
