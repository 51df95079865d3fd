import { TielineError } from "../model/errors.ts";
import { problem } from "./http.ts";
import { loadHomeConfig, setHomeValue } from "../config/home.ts";

/** What answers at a path of the loopback port; null: not mine. */
export type LoopbackRoute = (request: Request, url: URL) => Promise<Response> | null;

export interface Loopback {
  readonly port: number | null;
  /** Why the port is not ours, for people. */
  readonly problem: string | null;
  /** Answers at that port too, until it stops. */
  alsoAt(port: number): void;
  stop(): Promise<void>;
}

export interface LoopbackOptions {
  /** The home's config.json, in which the port is kept. */
  readonly config: string;
  readonly routes: readonly LoopbackRoute[];
  readonly maxBodyBytes: number;
}

/**
 * The port of http hooks and of the page. Settings files of other programs name it, so it is drawn once and then
 * always the same; when somebody else has it, there is none until it is free again.
 */
export function openLoopback({ config, routes, maxBodyBytes }: LoopbackOptions): Loopback {
  const { port: kept } = loadHomeConfig(config).http;
  const servers = new Map<number, Bun.Server<undefined>>();
  const open = (port: number): number => {
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port,
      reusePort: false,
      idleTimeout: 0,
      maxRequestBodySize: maxBodyBytes,
      fetch: (request) => answer(request, routes),
    });
    servers.set(server.port!, server);
    return server.port!;
  };
  const alsoAt = (port: number): void => {
    try {
      if (!servers.has(port)) open(port);
    } catch (thrown) {
      throw isTaken(thrown) ? portTaken(port) : thrown;
    }
  };
  const stop = async (): Promise<void> => void (await Promise.all([...servers.values()].map((server) => server.stop(true))));
  try {
    const port = open(kept ?? 0);
    if (kept === null) setHomeValue(config, "http", "port", port);
    return { port, problem: null, alsoAt, stop };
  } catch (thrown) {
    if (!isTaken(thrown)) throw thrown;
    return { port: null, problem: `port ${kept} is taken by another program`, alsoAt, stop };
  }
}

const isTaken = (thrown: unknown): boolean => (thrown as { code?: unknown }).code === "EADDRINUSE";

const portTaken = (port: number): TielineError => new TielineError("CONFLICT", `port ${port} is taken by another program`, { remedy: "choose another one", operands: { port } });

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

const isLoopback = (host: string): boolean => /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host);

const wrongHost = (): TielineError => new TielineError("NOT_PERMITTED", "Tieline answers only under the names of this machine", { remedy: "use http://127.0.0.1 with the port of the home" });

const nothingThere = (path: string): TielineError => new TielineError("USAGE", `there is nothing at ${path}`, { remedy: "see docs/api.md for what is where", operands: { path } });
