import type { Readable, Writable } from "node:stream";
import {
  isJSONRPCResponse,
  parseJSONRPCMessage,
  ProtocolErrorCode,
  serializeMessage,
  STDIO_DEFAULT_MAX_BUFFER_SIZE,
  type JSONRPCMessage,
  type RequestId,
  type Transport,
} from "@modelcontextprotocol/server";
import { mcpSession, type McpParts } from "./server.ts";

export interface StdioParts extends McpParts {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly report: (context: string, fault: unknown) => void;
}

/** Serves one program over its pipes. Resolves when that program closes them. */
export async function serveStdio({ stdin, stdout, report, ...parts }: StdioParts): Promise<void> {
  const { server, written } = mcpSession(parts);
  server.onerror = (fault) => report("mcp", fault);
  const closed = new Promise<void>((resolve) => (server.onclose = resolve));
  await server.connect(lineTransport(stdin, stdout, written));
  await closed;
}

/**
 * One JSON-RPC message per line. The transport of the package drops a line that is not JSON; this one answers it, so
 * that a caller with a bug does not wait for ever. `written` is called when a response has left this process.
 */
function lineTransport(stdin: Readable, stdout: Writable, written: (request: RequestId) => Promise<void>): Transport {
  let line: Buffer[] = [];
  let lineBytes = 0;
  let isClosed = false;

  const write = (text: string): Promise<void> =>
    new Promise((resolve, reject) => stdout.write(text, (fault) => (fault ? reject(fault) : resolve())));

  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    stdin.off("data", read);
    stdin.pause();
    transport.onclose?.();
  };

  function read(chunk: Buffer): void {
    let begin = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, begin)) {
      receive(Buffer.concat([...line, chunk.subarray(begin, end)]).toString());
      begin = end + 1;
      line = [];
      lineBytes = 0;
    }
    line.push(chunk.subarray(begin));
    lineBytes += chunk.length - begin;
    if (lineBytes <= STDIO_DEFAULT_MAX_BUFFER_SIZE) return;
    transport.onerror?.(new Error(`a line of more than ${STDIO_DEFAULT_MAX_BUFFER_SIZE} bytes`));
    close();
  }

  function receive(text: string): void {
    const message = messageIn(text);
    if (typeof message === "object") transport.onmessage?.(message);
    else write(`${JSON.stringify(refusal(message))}\n`).catch((fault: Error) => transport.onerror?.(fault));
  }

  const transport: Transport = {
    async start() {
      stdin.on("data", read);
      for (const event of ["end", "close", "error"]) stdin.on(event, close);
      stdout.on("error", close);
    },
    async send(message) {
      await write(serializeMessage(message));
      if (isJSONRPCResponse(message) && message.id !== undefined) await written(message.id);
    },
    close: async () => close(),
  };
  return transport;
}

/** The message, or the code of what is wrong with the line. */
function messageIn(line: string): JSONRPCMessage | ProtocolErrorCode {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return ProtocolErrorCode.ParseError;
  }
  try {
    return parseJSONRPCMessage(value);
  } catch {
    return ProtocolErrorCode.InvalidRequest;
  }
}

const refusal = (code: ProtocolErrorCode): object => ({
  jsonrpc: "2.0",
  id: null,
  error: { code, message: "this line is not a JSON-RPC message; write one JSON object per line" },
});
