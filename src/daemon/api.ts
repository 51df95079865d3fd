/** The API on the loopback port, where anybody on this machine and any page in a browser can knock. */
import { asTielineError, TielineError } from "../model/errors.ts";
import { bearerOf, problem, type Handle } from "./http.ts";
import type { LoopbackRoute } from "./loopback.ts";
import type { PageSessions } from "./page/sessions.ts";

/** Serves everything below a path to those who have a token, and to no page but our own. */
export function guardedRoute(prefix: string, handle: Handle, stopping: AbortSignal, sessions?: PageSessions): LoopbackRoute {
  return (request, url) => {
    const { pathname } = url;
    if (pathname !== prefix && !pathname.startsWith(`${prefix}/`)) return null;
    if (!isOurPage(request)) return Promise.resolve(problem(foreignPage(request)));
    if (bearerOf(request) !== null) return handle(request, stopping);
    if (sessions?.claims(request)) return forPage(request, url, sessions);
    return Promise.resolve(problem(noToken()));
  };

  async function forPage(request: Request, url: URL, sessions: PageSessions): Promise<Response> {
    try {
      const admitted = await sessions.admit(request, url);
      return await handle(admitted.request, AbortSignal.any([request.signal, stopping, admitted.signal]));
    } catch (thrown) {
      return problem(asTielineError(thrown));
    }
  }
}

/** Requests of no page at all have neither header. */
function isOurPage(request: Request): boolean {
  const origin = request.headers.get("origin");
  if (origin !== null && origin !== `http://${request.headers.get("host")}`) return false;
  return ["same-origin", "none", null].includes(request.headers.get("sec-fetch-site"));
}

function foreignPage(request: Request): TielineError {
  const origin = request.headers.get("origin") ?? "another site";
  return new TielineError("NOT_PERMITTED", `pages of ${origin} may not call Tieline`, { remedy: "call it from its own page, or with a token and without an Origin header", operands: { origin } });
}

const noToken = (): TielineError =>
  new TielineError("IDENTITY_UNKNOWN", "the request has no token", {
    remedy: "send `Authorization: Bearer TOKEN`, with an agent's TIELINE_TOKEN or with what stands in user.token in the home; a browser gets in with `tieline dash`",
  });
