/** The daemon's HTTP face: finds the operation, validates, answers JSON or problem+json. No rules of its own. */
import type { z } from "zod";
import { asTielineError, TielineError } from "../model/errors.ts";
import { callerHeader, noticeHeader, operations, pathOf } from "../client/operations.ts";
import { Caller, schemas, type OperationName } from "../client/schema.ts";

export interface Call {
  readonly caller: Caller;
  /** Aborted when the client goes away or the daemon stops. */
  readonly signal: AbortSignal;
}

export type Operations = {
  [Name in OperationName]: (
    input: z.output<(typeof schemas)[Name]["input"]>,
    call: Call,
  ) => Promise<z.input<(typeof schemas)[Name]["output"]>>;
};

/** A body of 1 MiB may need up to six bytes per character in JSON, and an envelope around it. */
const maxRequestBytes = 8 * 1024 * 1024;
/** For the server itself, which would cut a caller off without a word; the limit above is kept with an explanation. */
export const unboundedBytes = Number.MAX_SAFE_INTEGER;

export type Handle = (request: Request, signal: AbortSignal) => Promise<Response>;

/** An answer that is no JSON; null leaves the request to the operation at the same place. */
export type Answer = (request: Request, call: Call) => Promise<Response | null>;

export interface HandleParts {
  readonly operations: Operations;
  readonly report: (context: string, fault: unknown) => void;
  /** Tells a bearer that is the person from one that is an agent. */
  readonly isPersons: (token: string) => boolean;
  readonly answers?: Readonly<Record<string, Answer>>;
  /** What a caller should know besides the answer. */
  readonly notices?: (caller: Caller) => readonly string[];
}

export function createHandle({ operations: implementations, report, isPersons, answers = {}, notices = () => [] }: HandleParts): Handle {
  const byPath = new Map(Object.keys(operations).map((name) => [pathOf(name as OperationName), name as OperationName]));

  return async (request, signal) => {
    const url = new URL(request.url);
    const name = byPath.get(url.pathname);
    try {
      const caller = callerOf(request, isPersons);
      const call: Call = {
        caller,
        // Few operations wait, and a signal that nobody asks for costs as much as the rest of a request.
        get signal() {
          return AbortSignal.any([request.signal, signal]);
        },
      };
      const answer = request.method === "GET" ? await answers[url.pathname]?.(request, call) : null;
      if (answer) return answer;
      if (name === undefined) throw notFound(url.pathname);
      if (request.method !== operations[name]) throw wrongMethod(name);
      const input = parse(schemas[name].input, await inputOf(request, url), name);
      const run = implementations[name] as (input: unknown, call: Call) => Promise<unknown>;
      const output = await run(input, call);
      return Response.json(output, { headers: noticed(notices(caller)) });
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

export function problem(error: TielineError): Response {
  const { code, message, remedy, operands } = error;
  const body = { type: "about:blank", title: code, status: error.httpStatus, detail: message, code, remedy, operands };
  return Response.json(body, { status: error.httpStatus, headers: { "content-type": "application/problem+json" } });
}

async function inputOf(request: Request, url: URL): Promise<unknown> {
  if (request.method === "GET") return Object.fromEntries(url.searchParams);
  const text = await textOf(request);
  if (text === "") return {};
  return parseJson(text, "the request body");
}

/** The body, read no further than anybody could mean it. */
export async function textOf(request: Request, maxBytes = maxRequestBytes): Promise<string> {
  const told = request.headers.get("content-length");
  if (Number(told ?? 0) > maxBytes) throw tooLong(maxBytes);
  // The server reads no more than was told, and walking a stream takes ten times as long.
  if (told !== null) return request.text();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLong(maxBytes);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** What a request says about its caller. A bearer token counts for more than the claims beside it. */
export function callerOf(request: Request, isPersons: (token: string) => boolean): Caller {
  const header = request.headers.get(callerHeader);
  const claimed = header === null ? {} : parse(Caller, parseJson(decode(header), `the header ${callerHeader}`), `the header ${callerHeader}`);
  const bearer = bearerOf(request);
  if (bearer === null) return claimed;
  const { token: _token, personToken: _personToken, ...rest } = claimed;
  return { ...rest, ...(isPersons(bearer) ? { personToken: bearer } : { token: bearer }) };
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

/** What came in, as the schema wants it, or USAGE. */
export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown, name: string): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.map((issue) => `${issue.path.join(".") || "input"}: ${issue.message}`);
  throw invalid(`${name}: ${issues.join("; ")}`, result.error);
}

const invalid = (message: string, cause: unknown): TielineError =>
  new TielineError("USAGE", message, { remedy: "see docs/api.md for what the operation takes", cause });

const tooLong = (limit: number): TielineError =>
  new TielineError("BODY_TOO_LONG", `the request is longer than ${limit} bytes`, { remedy: "put the text in a file and send its path", operands: { limit } });

const notFound = (path: string): TielineError =>
  new TielineError("USAGE", `there is nothing at ${path}`, { remedy: "see docs/api.md for the operations", operands: { path } });

const wrongMethod = (name: OperationName): TielineError =>
  new TielineError("USAGE", `${pathOf(name)} takes ${operations[name]}`, { remedy: `use ${operations[name]}`, operands: { operation: name } });
