/** MCP over HTTP. Requests are stateless: the caller is identified for each, and nothing is kept in between. */
import { WebStandardStreamableHTTPServerTransport, type RequestId } from "@modelcontextprotocol/server";
import type { Client } from "../client/client.ts";
import { longestBodyBytes } from "../api/wire.ts";
import type { Call } from "../api/operation.ts";
import { definitions, type Operations } from "../api/operations/index.ts";
import { parse } from "../api/parse.ts";
import type { Caller } from "../api/schema.ts";
import { modelsCaller } from "../mcp/caller.ts";
import { mcpSession } from "../mcp/server.ts";
import { asTielineError, TielineError } from "../model/errors.ts";
import { parseJson, problem, textOf, type Handle } from "./http.ts";

export interface McpDoor {
  readonly operations: Operations;
  readonly callerOf: (request: Request) => Caller;
  readonly report: (context: string, fault: unknown) => void;
  readonly version: string;
}

export function mcpHandle({ operations, callerOf, report, version }: McpDoor): Handle {
  return async (request, stopping) => {
    try {
      if (request.method !== "POST") return onlyPost();
      const signal = AbortSignal.any([request.signal, stopping]);
      const caller = callerOf(request);
      const body = parseJson(await textOf(request, longestBodyBytes), "the request body");
      // The thread of a call proves nothing on the port; the token does.
      const clientFor = (): Client => clientOver(operations, modelsCaller(caller, undefined), signal);
      const { server, written } = mcpSession({ version, clientFor });
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
      await server.connect(transport);
      const response = await transport.handleRequest(request, { parsedBody: body });
      return delivered(response, signal, async (arrived) => {
        if (arrived)
          for (const id of requestsIn(body)) await written(id).catch((fault: unknown) => report("mcp answer", fault));
        await server.close();
      });
    } catch (thrown) {
      const error = asTielineError(thrown);
      if (error.code === "INTERNAL") report("mcp", thrown);
      return problem(error);
    }
  };
}

/** The same calls as over HTTP, without the way there and back. */
function clientOver(operations: Operations, caller: Caller, gone: AbortSignal): Client {
  return {
    async call(name, input, signal) {
      const run = operations[name] as (input: unknown, call: Call) => Promise<never>;
      return run(parse(definitions[name].input, input, name), {
        caller,
        face: "port",
        signal: signal ? AbortSignal.any([signal, gone]) : gone,
      });
    },
  };
}

const requestsIn = (body: unknown): RequestId[] =>
  [body].flat().flatMap((one) => (one as { id?: RequestId } | null)?.id ?? []);

/** The response, and a callback when its body has been read, or was abandoned. */
function delivered(response: Response, signal: AbortSignal, ended: (arrived: boolean) => Promise<void>): Response {
  const reader = response.body?.getReader();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = await reader?.read();
        if (piece && !piece.done) return controller.enqueue(piece.value);
        controller.close();
        await ended(!signal.aborted);
      },
      cancel: () => ended(false),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status: response.status, headers: response.headers });
}

/** 405 is how a client learns that there is no stream to open beforehand and no session to end. */
function onlyPost(): Response {
  const refusal = problem(
    new TielineError("USAGE", "/mcp takes POST", { remedy: "use an MCP client for streamable HTTP" }),
  );
  return new Response(refusal.body, {
    status: 405,
    headers: { ...Object.fromEntries(refusal.headers), allow: "POST" },
  });
}
