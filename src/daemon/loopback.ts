import { TielineError } from "../model/errors.ts";
import { problem } from "./http.ts";
import { loadHomeConfig, setHomeValue } from "../config/home.ts";

/** What answers at a path of the loopback port; null: not mine. */
export type LoopbackRoute = (request: Request, url: URL) => Promise<Response> | null;

export interface Loopback {
  readonly port: number | null;
  /** Why the port is not ours, for people. */
  readonly problem: string | null;
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
  try {
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: kept ?? 0,
      reusePort: false,
      idleTimeout: 0,
      maxRequestBodySize: maxBodyBytes,
      fetch: (request) => answer(request, routes),
    });
    if (kept === null) setHomeValue(config, "http", "port", server.port);
    return { port: server.port!, problem: null, stop: () => server.stop(true) };
  } catch (thrown) {
    if ((thrown as { code?: unknown }).code !== "EADDRINUSE") throw thrown;
    return { port: null, problem: `port ${kept} is taken by another program`, stop: async () => undefined };
  }
}

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
