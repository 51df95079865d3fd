/** The API on the loopback port, where anybody on this machine and any page in a browser can knock. */
import { TielineError } from "../model/errors.ts";
import { bearerOf, problem, type Handle } from "./http.ts";
import type { LoopbackRoute } from "./loopback.ts";

/** Serves everything below a path to those who have a token, and to no page but our own. */
export function guardedRoute(prefix: string, handle: Handle, stopping: AbortSignal): LoopbackRoute {
  return (request, { pathname }) => {
    if (pathname !== prefix && !pathname.startsWith(`${prefix}/`)) return null;
    const refusal = refuse(request);
    return refusal ? Promise.resolve(problem(refusal)) : handle(request, stopping);
  };
}

function refuse(request: Request): TielineError | null {
  const origin = request.headers.get("origin");
  if (origin !== null && origin !== `http://${request.headers.get("host")}`) {
    return new TielineError("NOT_PERMITTED", `pages of ${origin} may not call Tieline`, { remedy: "call it from its own page, or without an Origin header", operands: { origin } });
  }
  if (bearerOf(request) !== null) return null;
  return new TielineError("IDENTITY_UNKNOWN", "the request has no token", {
    remedy: "send `Authorization: Bearer TOKEN`, with an agent's TIELINE_TOKEN or with what stands in user.token in the home",
  });
}
