import { EventSourceParserStream } from "eventsource-parser/stream";
import { TielineError } from "../../model/errors.ts";
import { ownerAtLoopback } from "../../os/listeners.ts";
import { thisUser } from "../../os/untrustedFile.ts";

/** Where an opencode listens, and the word that it asks for. */
export interface OpencodeAddress {
  readonly port: number;
  readonly password: string | null;
}

export interface OpencodeEvent {
  readonly type: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

export interface OpencodeServer {
  /**
   * Before every request, the listener of the port is checked. Throws with the operand `refused` when the server
   * answered, and said no, or is another user's.
   */
  request<Result>(
    method: string,
    path: string,
    options?: { readonly body?: unknown; readonly signal?: AbortSignal },
  ): Promise<Result>;
  /** What happens there, from now on, until the signal aborts or the server ends. */
  events(signal: AbortSignal): AsyncGenerator<OpencodeEvent>;
}

/** The HTTP server inside of an opencode. */
export function opencodeServer({ port, password }: OpencodeAddress): OpencodeServer {
  const base = `http://127.0.0.1:${port}`;
  const headers = {
    "content-type": "application/json",
    ...(password !== null && { authorization: `Basic ${btoa(`opencode:${password}`)}` }),
  };

  async function fetched(
    method: string,
    path: string,
    body: unknown,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    checkOwner(port, path);
    let response: Response;
    try {
      response = await fetch(`${base}${path}`, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
      });
    } catch (thrown) {
      throw notThere(port, path, thrown);
    }
    if (!response.ok) throw refused(path, response.status, await response.text());
    return response;
  }

  return {
    async request<Result>(
      method: string,
      path: string,
      { body, signal }: { body?: unknown; signal?: AbortSignal } = {},
    ): Promise<Result> {
      const text = await (await fetched(method, path, body, signal)).text();
      return (text === "" ? null : JSON.parse(text)) as Result;
    },

    async *events(signal) {
      const response = await fetched("GET", "/event", undefined, signal);
      for await (const data of eventData(response.body!, port)) yield JSON.parse(data) as OpencodeEvent;
    },
  };
}

/**
 * The port is visible in the arguments of the process, and another user can listen there before opencode does or after
 * it exited. Such a program gets neither the password nor a message.
 */
function checkOwner(port: number, path: string): void {
  const owner = ownerAtLoopback(port, thisUser());
  if (owner === "foreign") throw foreign(port, path);
  if (owner === "none") throw notThere(port, path, undefined);
}

/** One event may be this long. */
const maxEventCharacters = 64 << 20;

/** The data of server-sent events. */
async function* eventData(stream: ReadableStream<Uint8Array>, port: number): AsyncGenerator<string> {
  const parser = new EventSourceParserStream({ maxBufferSize: maxEventCharacters });
  const decoder = new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>;
  try {
    for await (const { data } of stream.pipeThrough(decoder).pipeThrough(parser)) yield data;
  } catch (thrown) {
    throw notThere(port, "/event", thrown);
  }
}

const notThere = (port: number, path: string, cause: unknown): TielineError =>
  new TielineError("DELIVERY_FAILED", `the opencode at port ${port} does not answer (${path})`, {
    remedy: "`tieline ls` shows whether the agent still runs",
    operands: { port, path, refused: false },
    cause,
  });

const foreign = (port: number, path: string): TielineError =>
  new TielineError(
    "DELIVERY_FAILED",
    `port ${port} is in use by a program of another user, not by this agent's opencode`,
    {
      remedy: "`tieline restart` starts the agent again with another port",
      operands: { port, path, refused: true },
    },
  );

const refused = (path: string, status: number, answer: string): TielineError =>
  new TielineError("DELIVERY_FAILED", `opencode refused ${path}: ${status} ${answer.slice(0, 200)}`, {
    remedy: "`tieline show` on the message has the details",
    operands: { path, refused: true, status },
  });
