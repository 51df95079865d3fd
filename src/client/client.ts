import { TielineError, type ErrorCode, type Operands } from "../model/errors.ts";
import { callerHeader, methods, noticeHeader, pathOf } from "../api/wire.ts";
import type { Caller, Input, OperationName, Output } from "../api/schema.ts";

/**
 * Where a daemon listens: at its socket, or at its loopback port, which wants a token. `fetch` sends the requests in
 * another way: the dashboard signs them, and only Bun's own can speak to a socket.
 */
export type DaemonAddress = { readonly fetch?: Fetch } & (
  | { readonly socket: string }
  | { readonly url: string; readonly token?: string }
);

export type Fetch = (url: string, request: RequestInit) => Promise<Response>;

export interface Client {
  call<Name extends OperationName>(name: Name, input: Input<Name>, signal?: AbortSignal): Promise<Output<Name>>;
}

/** Called with notices for the user, in addition to the answer. */
export type Noticed = (notices: readonly string[]) => Promise<void>;

/** Typed calls to a daemon. Failures are TielineErrors: the daemon's own, or DAEMON_UNAVAILABLE. */
export function createClient(daemon: DaemonAddress, caller: Caller, noticed: Noticed = async () => undefined): Client {
  const { base, headers: identity, unix, send } = lineTo(daemon, caller);

  return {
    async call(name, input, signal) {
      const method = methods[name];
      const request: RequestInit & { unix?: string } = {
        method,
        headers: method === "POST" ? { ...identity, "content-type": "application/json" } : identity,
        ...(method === "POST" && { body: JSON.stringify(input) }),
        ...(signal && { signal }),
        ...unix,
      };
      const query = method === "GET" ? queryOf(input) : "";
      const response = await send(`${base}${pathOf(name)}${query}`, request).catch(unavailable);
      const body: unknown = await response.json().catch(unavailable);
      if (!response.ok) throw fromProblem(body);
      const notices = response.headers.get(noticeHeader);
      if (notices !== null) await noticed(JSON.parse(decodeURIComponent(notices)) as string[]);
      return body as Output<typeof name>;
    },
  };
}

export interface Line {
  readonly base: string;
  readonly headers: Record<string, string>;
  readonly unix: { readonly unix?: string };
  readonly send: Fetch;
}

/** What every request to a daemon has in common. */
export function lineTo(daemon: DaemonAddress, caller: Caller): Line {
  const headers = { [callerHeader]: encodeURIComponent(JSON.stringify(caller)) };
  const { fetch: send = fetch } = daemon;
  if ("socket" in daemon) return { base: "http://tieline", headers, unix: { unix: daemon.socket }, send };
  const { url: base, token } = daemon;
  return {
    base,
    headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    unix: {},
    send,
  };
}

/**
 * Whether a call that failed with DAEMON_UNAVAILABLE may have reached the daemon. If it cannot have, doing it again
 * is always safe.
 */
export function mayHaveArrived(error: TielineError): boolean {
  return error.operands["arrived"] !== "never";
}

/** The daemon's problem+json, as the error that it was. */
export function fromProblem(body: unknown): TielineError {
  const problem = body as { code?: ErrorCode; detail?: string; remedy?: string; operands?: Operands };
  return new TielineError(problem.code ?? "INTERNAL", problem.detail ?? "the daemon answered with an error", {
    remedy: problem.remedy ?? "see `tieline daemon logs`",
    operands: problem.operands ?? {},
  });
}

/** What connecting fails with before a single byte is written. */
const notConnected = ["ENOENT", "ECONNREFUSED", "EAGAIN", "EACCES", "EPERM", "ConnectionRefused", "FailedToOpenSocket"];

export function unavailable(cause: unknown): never {
  if ((cause instanceof Error && cause.name === "AbortError") || cause instanceof TielineError) throw cause;
  const code = codeOf(cause) ?? codeOf((cause as Error).cause) ?? "no answer";
  throw new TielineError("DAEMON_UNAVAILABLE", `the daemon does not answer (${code})`, {
    remedy: "run `tieline daemon start`, then see `tieline daemon logs`",
    operands: { cause: code, arrived: notConnected.includes(code) ? "never" : "unknown" },
    cause,
  });
}

/** Node puts what went wrong one level deeper than Bun does. */
function codeOf(thrown: unknown): string | null {
  const code = (thrown as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : null;
}

function queryOf(input: object): string {
  const pairs = Object.entries(input).filter(([, value]) => value !== undefined);
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs.map(([key, value]) => [key, String(value)]))}`;
}
