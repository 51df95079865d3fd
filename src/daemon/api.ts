/** The API on the loopback port, which any user of this machine and any web page can reach. */
import { asTielineError, TielineError } from "../model/errors.ts";
import type { HttpConnection } from "../os/httpServer.ts";
import { bearerOf, problem, type Handle } from "./http.ts";
import type { LoopbackRoute } from "./loopback.ts";
import type { PageSessions } from "./page/sessions.ts";

export interface Guard {
  /** Whether this is a token of the user or of an agent. */
  readonly isKnown: (token: string) => boolean;
  readonly stopping: AbortSignal;
  /** Lets the dashboard in as well. */
  readonly sessions?: PageSessions;
}

/**
 * Serves everything below a path to callers with a valid token, and to no page but our own. Nothing of a request but
 * its path and these headers is read before.
 */
export function guardedRoute(prefix: string, handle: Handle, { isKnown, stopping, sessions }: Guard): LoopbackRoute {
  return (request, url, connection) => {
    const { pathname } = url;
    if (pathname !== prefix && !pathname.startsWith(`${prefix}/`)) return null;
    if (!isOurPage(request)) return Promise.resolve(problem(foreignPage(request)));
    const token = bearerOf(request);
    if (token !== null && isKnown(token)) {
      connection.admit();
      return handle(request, stopping);
    }
    if (sessions?.claims(request)) return forPage(request, url, sessions, connection);
    return Promise.resolve(problem(token === null ? noToken() : unknownToken()));
  };

  async function forPage(
    request: Request,
    url: URL,
    sessions: PageSessions,
    connection: HttpConnection,
  ): Promise<Response> {
    try {
      const admitted = await sessions.admit(request, url);
      connection.admit();
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
  return new TielineError("NOT_PERMITTED", `pages of ${origin} may not call Tieline`, {
    remedy: "call it from its own page, or with a token and without an Origin header",
    operands: { origin },
  });
}

const unknownToken = (): TielineError =>
  new TielineError("IDENTITY_UNKNOWN", "the token belongs to neither the user nor an agent", {
    remedy:
      "use an agent's TIELINE_TOKEN, or the text of user.token in the home; registering an agent again gives " +
      "it a new token",
  });

const noToken = (): TielineError =>
  new TielineError("IDENTITY_UNKNOWN", "the request has no token", {
    remedy:
      "send `Authorization: Bearer TOKEN`, with an agent's TIELINE_TOKEN or the content of user.token in " +
      "the home; a browser signs in with `tieline dash`",
  });
