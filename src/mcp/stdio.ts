import type { Readable, Writable } from "node:stream";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import {
  ErrorCode,
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
} from "@modelcontextprotocol/sdk/types.js";
import { mcpSession, type McpParts } from "./server.ts";

export interface StdioParts extends McpParts {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly report: (context: string, fault: unknown) => void;
}

/** Serves one program over its pipes. Resolves when that program closes them. */
export async function serveStdio({ stdin, stdout, report, ...parts }: StdioParts): Promise<void> {
  const { server, written } = mcpSession(parts);
  const transport = new StdioServerTransport(stdin, stdout);
  const send = transport.send.bind(transport);
  transport.send = async (message: JSONRPCMessage): Promise<void> => {
    await send(message);
    if (!isJSONRPCResultResponse(message) && !isJSONRPCErrorResponse(message)) return;
    await flushed(stdout);
    if (message.id !== undefined) await written(message.id);
  };
  server.onerror = (fault) => {
    if (isUnreadable(fault)) stdout.write(`${JSON.stringify(unreadable(fault))}\n`);
    else report("mcp", fault);
  };
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
    stdin.on("end", () => resolve());
    stdin.on("close", () => resolve());
    stdout.on("error", () => resolve());
  });
  await server.connect(transport);
  await closed;
  await server.close();
}

/** Resolves when everything written so far has left this process. */
function flushed(stdout: Writable): Promise<void> {
  return new Promise((resolve, reject) => stdout.write("", (fault) => (fault ? reject(fault) : resolve())));
}

/** A line that is no JSON, or no JSON-RPC. The SDK only reports it; the caller should know as well. */
const isUnreadable = (fault: Error): boolean =>
  fault instanceof SyntaxError ||
  fault instanceof RangeError ||
  fault.name === "ZodError" ||
  fault.name === "$ZodError";

function unreadable(fault: Error): object {
  const code =
    fault instanceof SyntaxError || fault instanceof RangeError ? ErrorCode.ParseError : ErrorCode.InvalidRequest;
  return {
    jsonrpc: "2.0",
    id: null,
    error: { code, message: "this line is no JSON-RPC message; write one JSON object per line" },
  };
}
