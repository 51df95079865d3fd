/** The daemon's HTTP face: finds the operation, validates, answers JSON or problem+json. No rules of its own. */
import { asTielineError, TielineError } from "../model/errors.ts";
import { textUpTo } from "../os/httpServer.ts";
import type { Call, Face } from "../api/operation.ts";
import { definitions, type Operations } from "../api/operations/index.ts";
import { checkKeys, invalid, parse } from "../api/parse.ts";
import { callerHeader, maxBodyBytes, methods, noticeHeader, pathOf } from "../api/wire.ts";
import { Caller, type OperationName } from "../api/schema.ts";
import { systemTimers, type Timers } from "../os/timers.ts";

/** For the server itself, which would cut a caller off without a word; the limit above is kept with an explanation. */
export const unboundedBytes = Number.MAX_SAFE_INTEGER;

export type Handle = (request: Request, signal: AbortSignal) => Promise<Response>;

/** An answer that is no JSON; null leaves the request to the operation at the same place. */
export type HttpAnswer = (request: Request, call: Call) => Promise<Response | null>;

export interface HandleParts {
  readonly operations: Operations;
  readonly report: (context: string, fault: unknown) => void;
  /** What a request says about its caller. */
  readonly callerOf: (request: Request) => Caller;
  readonly answers?: Readonly<Record<string, HttpAnswer>>;
  /** Notices for the caller, in addition to the answer. */
  readonly notices?: (caller: Caller, operation: OperationName) => readonly string[];
  /** Whether requests that come in now may have been given up by their callers. */
  readonly mayBeLate?: () => boolean;
  readonly timers?: Pick<Timers, "pause">;
  /** Operations that are not there. */
  readonly without?: readonly OperationName[];
  /** Where calls come in. */
  readonly face: Face;
}

export function createHandle({
  operations: implementations,
  report,
  callerOf,
  answers = {},
  notices = () => [],
  mayBeLate = () => false,
  timers = systemTimers,
  without = [],
  face,
}: HandleParts): Handle {
  const names = (Object.keys(methods) as OperationName[]).filter((name) => !without.includes(name));
  const byPath = new Map(names.map((name) => [pathOf(name), name]));

  return async (request, signal) => {
    const url = URL.parse(request.url);
    if (url === null) return problem(invalid("the address of the request is none"));
    const name = byPath.get(url.pathname);
    try {
      const caller = callerOf(request);
      const call: Call = {
        caller,
        face,
        // Few operations wait, and an unused signal costs as much as the rest of a request.
        get signal() {
          return AbortSignal.any([request.signal, signal]);
        },
      };
      const answer = request.method === "GET" ? await answers[url.pathname]?.(request, call) : null;
      if (answer) return answer;
      if (name === undefined) throw notFound(url.pathname);
      if (request.method !== methods[name]) throw wrongMethod(name);
      if (mayBeLate() && request.method !== "GET") await refuseIfLeft(request, timers);
      const given = await inputOf(request, url, maxBodyBytes(name));
      checkKeys(definitions[name].input, given, name);
      const input = parse(definitions[name].input, given, name);
      const run = implementations[name] as (input: unknown, call: Call) => Promise<unknown>;
      const output = await run(input, call);
      return Response.json(output, { headers: noticed(notices(caller, name)) });
    } catch (thrown) {
      const error = asTielineError(thrown);
      if (error.code === "INTERNAL") report(`${request.method} ${url.pathname}`, thrown);
      return problem(error);
    }
  };
}

function noticed(notices: readonly string[]): Record<string, string> {
  return notices.length === 0 ? {} : { [noticeHeader]: encodeURIComponent(JSON.stringify(notices)) };
}

/** A caller's departure is known a moment after its request. A call that was reported as failed must not happen now. */
const noticedMs = 50;

async function refuseIfLeft({ signal }: Request, timers: Pick<Timers, "pause">): Promise<void> {
  await timers.pause(noticedMs);
  if (signal.aborted) throw invalid("the caller left before the daemon could answer");
}

export function problem(error: TielineError): Response {
  const { code, message, remedy, operands } = error;
  const body = { type: "about:blank", title: code, status: error.httpStatus, detail: message, code, remedy, operands };
  return Response.json(body, { status: error.httpStatus, headers: { "content-type": "application/problem+json" } });
}

async function inputOf(request: Request, url: URL, maxBytes: number): Promise<unknown> {
  const keys = [...url.searchParams.keys()];
  if (request.method === "GET") {
    const repeated = keys.find((key, at) => keys.indexOf(key) !== at);
    if (repeated !== undefined) throw invalid(`the parameter "${repeated}" is given more than once`);
    return Object.fromEntries(url.searchParams);
  }
  if (keys.length > 0)
    throw invalid(
      `the parameter "${keys[0]}" is in the address; ${request.method} takes its input as JSON in the body`,
    );
  const text = await textOf(request, maxBytes);
  if (text === "") return {};
  return parseJson(text, "the request body");
}

/** The body, read no further than its limit. */
export async function textOf(request: Request, maxBytes: number): Promise<string> {
  const text = await textUpTo(maxBytes, request).catch((cause: unknown) => {
    throw invalid("the request ended before its body did", cause);
  });
  if (text === null) throw tooLong(maxBytes);
  return text;
}

/** Tells a bearer that is the user's from one that is an agent's. */
type IsUsers = (token: string) => boolean;

/**
 * On the socket, among processes of one user, a caller may say what it is. A bearer token counts for more than that.
 */
export const callerOnSocket =
  (isUsers: IsUsers) =>
  (request: Request): Caller => {
    const claimed = claimsOf(request);
    const bearer = bearerOf(request);
    if (bearer === null) return claimed;
    const { token: _token, userToken: _userToken, ...rest } = claimed;
    return { ...rest, ...byToken(bearer, isUsers) };
  };

/**
 * On the port the token alone says who calls. What is kept of the rest says which names are meant, or narrows the
 * rights.
 */
export const callerOnPort =
  (isUsers: IsUsers) =>
  (request: Request): Caller => {
    const bearer = bearerOf(request);
    const { team, cwd, agentVariables } = claimsOf(request);
    const rest = {
      ...(team !== undefined && { team }),
      ...(cwd !== undefined && { cwd }),
      ...(agentVariables !== undefined && { agentVariables }),
    };
    return { ...rest, ...(bearer !== null && byToken(bearer, isUsers)) };
  };

const byToken = (bearer: string, isUsers: IsUsers): Caller =>
  isUsers(bearer) ? { userToken: bearer } : { token: bearer };

function claimsOf(request: Request): Caller {
  const header = request.headers.get(callerHeader);
  return header === null
    ? {}
    : parse(Caller, parseJson(decode(header), `the header ${callerHeader}`), `the header ${callerHeader}`);
}

export function bearerOf(request: Request): string | null {
  return /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? null;
}

function decode(header: string): string {
  try {
    return decodeURIComponent(header);
  } catch (cause) {
    throw invalid(`the header ${callerHeader} is not URI-encoded`, cause);
  }
}

export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid(`${what} is not JSON`, cause);
  }
}

const tooLong = (limit: number): TielineError =>
  new TielineError("BODY_TOO_LONG", `the request is longer than ${limit} bytes`, {
    remedy: "put the text in a file and send its path",
    operands: { limit },
  });

const notFound = (path: string): TielineError =>
  new TielineError("USAGE", `there is nothing at ${path}`, {
    remedy: "see docs/api.md for the operations",
    operands: { path },
  });

const wrongMethod = (name: OperationName): TielineError =>
  new TielineError("USAGE", `${pathOf(name)} takes ${methods[name]}`, {
    remedy: `use ${methods[name]}`,
    operands: { operation: name },
  });
