import { TielineError } from "../../model/errors.ts";

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
  /** Throws with the operand `refused` when the server answered, and said no. */
  request<Result>(method: string, path: string, options?: { readonly body?: unknown; readonly signal?: AbortSignal }): Promise<Result>;
  /** What happens there, from now on, until the signal aborts or the server ends. */
  events(signal: AbortSignal): AsyncGenerator<OpencodeEvent>;
}

/** The HTTP server inside of an opencode. */
export function opencodeServer({ port, password }: OpencodeAddress): OpencodeServer {
  const base = `http://127.0.0.1:${port}`;
  const headers = { "content-type": "application/json", ...(password !== null && { authorization: `Basic ${btoa(`opencode:${password}`)}` }) };

  async function fetched(method: string, path: string, body: unknown, signal: AbortSignal | undefined): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(`${base}${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }), ...(signal && { signal }) });
    } catch (thrown) {
      throw notThere(port, path, thrown);
    }
    if (!response.ok) throw refused(path, response.status, await response.text());
    return response;
  }

  return {
    async request<Result>(method: string, path: string, { body, signal }: { body?: unknown; signal?: AbortSignal } = {}): Promise<Result> {
      const text = await (await fetched(method, path, body, signal)).text();
      return (text === "" ? null : JSON.parse(text)) as Result;
    },

    async *events(signal) {
      const response = await fetched("GET", "/event", undefined, signal);
      for await (const data of eventData(response.body!, port)) yield JSON.parse(data) as OpencodeEvent;
    },
  };
}

/** The data of server-sent events, each of which opencode writes as one line. */
async function* eventData(stream: ReadableStream<Uint8Array>, port: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const bytes of stream) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop()!;
      for (const line of lines) if (line.startsWith("data: ")) yield line.slice("data: ".length);
    }
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

const refused = (path: string, status: number, answer: string): TielineError =>
  new TielineError("DELIVERY_FAILED", `opencode refused ${path}: ${status} ${answer.slice(0, 200)}`, {
    remedy: "`tieline show` on the message has the details",
    operands: { path, refused: true, status },
  });
