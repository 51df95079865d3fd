import { TielineError, type ErrorCode, type Operands } from "../model/errors.ts";
import { callerHeader, operations, pathOf } from "./operations.ts";
import type { Caller, Input, OperationName, Output } from "./schema.ts";

/** Where a daemon listens. */
export type Daemon = { readonly socket: string } | { readonly url: string };

export interface Client {
  call<Name extends OperationName>(name: Name, input: Input<Name>, signal?: AbortSignal): Promise<Output<Name>>;
}

/** Typed calls to a daemon. Failures are TielineErrors: the daemon's own, or DAEMON_UNAVAILABLE. */
export function createClient(daemon: Daemon, caller: Caller): Client {
  const base = "url" in daemon ? daemon.url : "http://tieline";
  const unix = "socket" in daemon ? { unix: daemon.socket } : {};
  const identity = { [callerHeader]: encodeURIComponent(JSON.stringify(caller)) };

  return {
    async call(name, input, signal) {
      const method = operations[name];
      const request: RequestInit & { unix?: string } = {
        method,
        headers: method === "POST" ? { ...identity, "content-type": "application/json" } : identity,
        ...(method === "POST" && { body: JSON.stringify(input) }),
        ...(signal && { signal }),
        ...unix,
      };
      const query = method === "GET" ? queryOf(input) : "";
      const response = await fetch(`${base}${pathOf(name)}${query}`, request).catch(unavailable);
      const body: unknown = await response.json().catch(unavailable);
      if (response.ok) return body as Output<typeof name>;
      throw fromProblem(body);
    },
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
  if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
  const code = String((cause as { code?: unknown }).code ?? "no answer");
  throw new TielineError("DAEMON_UNAVAILABLE", `the daemon does not answer (${code})`, {
    remedy: "run `tieline daemon start`, then see `tieline daemon logs`",
    operands: { cause: code, arrived: notConnected.includes(code) ? "never" : "unknown" },
    cause,
  });
}

function queryOf(input: object): string {
  const pairs = Object.entries(input).filter(([, value]) => value !== undefined);
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs.map(([key, value]) => [key, String(value)]))}`;
}
