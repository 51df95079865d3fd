import { expect, test } from "bun:test";
import { opencodeServer } from "./server.ts";

/** A server whose events are these bytes, one chunk after the other. */
function serving(...chunks: string[]) {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () =>
      new Response(
        async function* () {
          for (const chunk of chunks) {
            yield chunk;
            await Bun.sleep(1);
          }
        } as unknown as BodyInit,
        { headers: { "content-type": "text/event-stream" } },
      ),
  });
}

test.each([
  ["one line each", ['data: {"type":"a"}\n\ndata: {"type":"b"}\n\n']],
  [
    "with CRLF, comments and other fields",
    [': hi\r\nid: 1\r\ndata:{"type":"a"}\r\n\r\nevent: x\r\ndata: {"type":"b"}\r\n\r\n'],
  ],
  ["split anywhere", ['data: {"ty', 'pe":"a"}\n', '\ndata: {"type":', '"b"}\n\n']],
  ["data over several lines", ['data: {"type":\ndata: "a"}\n\ndata: {\ndata: "type":"b"}\n\n']],
])("reads the events of an opencode server: %s", async (_, chunks) => {
  await using server = serving(...chunks);
  const types: string[] = [];
  const events = opencodeServer({ port: server.port!, password: null }).events(AbortSignal.timeout(5_000));
  for await (const { type } of events) types.push(type);
  expect(types).toEqual(["a", "b"]);
});
