/** `fetch` at a unix socket, for runtimes whose own cannot do that. */
import { request as httpRequest } from "node:http";
import { Readable } from "node:stream";
import type { Fetch } from "../client/client.ts";

/** Takes what the client sends: a text as body, and headers as an object. */
export function socketFetch(socketPath: string): Fetch {
  return (url, { method = "GET", headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const { pathname, search } = new URL(url);
      const text = typeof body === "string" ? body : "";
      const length = text === "" ? {} : { "content-length": String(Buffer.byteLength(text)) };
      const options = {
        socketPath,
        path: `${pathname}${search}`,
        method,
        headers: { ...(headers as Record<string, string>), ...length },
      };
      const request = httpRequest({ ...options, ...(signal && { signal }) }, (answer) => {
        const given = Object.entries(answer.headers).flatMap(([name, value]) =>
          [value ?? []].flat().map((one): [string, string] => [name, one]),
        );
        resolve(
          new Response(Readable.toWeb(answer) as unknown as ReadableStream<Uint8Array>, {
            status: answer.statusCode ?? 500,
            headers: given,
          }),
        );
      });
      request.on("error", (fault) => reject(signal?.aborted ? (signal.reason as Error) : fault));
      request.end(text);
    });
}
