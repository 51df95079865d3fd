import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { streamEvents, type StreamedEvent } from "../client/stream.ts";
import { openEventStore } from "../events/sqlite.ts";
import { Spine } from "../events/spine.ts";
import { isWanted, type EventFilter, type Fact } from "../model/event.ts";
import { agentId } from "../model/ids.ts";
import { Conditions } from "../testing/conditions.ts";
import { eventStream, type StreamTimes } from "./stream.ts";

const root = mkdtempSync(join(tmpdir(), "tl-stream-"));
const socket = join(root, "s.sock");
const fail = (context: string, fault: unknown): never => {
  throw new Error(context, { cause: fault });
};
const prompt = (text: string, name = "ana"): Fact => ({
  type: "user.prompt",
  agent: agentId(name),
  name,
  team: "web",
  prompt: text,
});

let spine: Spine;
let server: ReturnType<typeof serve>;
let stopping: AbortController;
beforeEach(() => {
  spine = new Spine(openEventStore(join(root, `${crypto.randomUUID()}.db`), fail), {
    report: fail,
    maxAgeMs: 1e9,
    maxBytes: 1e9,
  });
  server = serve();
});
afterEach(async () => {
  stopping.abort();
  await server.stop(true);
  spine[Symbol.dispose]();
});

function serve(times: StreamTimes = {}, filter: EventFilter = {}) {
  rmSync(socket, { force: true });
  stopping = new AbortController();
  const { signal } = stopping;
  return Bun.serve({
    unix: socket,
    fetch: (request) =>
      eventStream(
        spine,
        Number(request.headers.get("last-event-id") ?? spine.last),
        (event) => isWanted(event, filter),
        AbortSignal.any([request.signal, signal]),
        times,
      ),
  });
}

async function take(events: AsyncIterable<StreamedEvent>, count: number): Promise<StreamedEvent[]> {
  const taken: StreamedEvent[] = [];
  for await (const event of events) if (taken.push(event) === count) break;
  return taken;
}

const prompts = (events: readonly StreamedEvent[]): string[] =>
  events.flatMap((event) => (event.type === "user.prompt" ? event.prompt : []));

describe("the live stream", () => {
  test("past and live are one sequence, each event once, while events keep coming", async () => {
    const total = 6_000;
    let made = 0;
    const make = (): void => spine.emit(prompt(String(++made)));
    while (made < total / 2) make();
    const taking = take(streamEvents({ socket }, {}, { after: 0 }), total);
    while (made < total) {
      for (let i = 0; i < 50; i++) make();
      await new Promise((resolve) => setImmediate(resolve));
    }
    const events = await taking;
    expect(prompts(events)).toEqual(Array.from({ length: total }, (_, i) => String(i + 1)));
    expect(events.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq).toSorted((a, b) => a - b));
  });

  test("a reader continues after its last event when the daemon comes back", async () => {
    const events = streamEvents({ socket }, {}, { after: 0 })[Symbol.asyncIterator]();
    spine.emit(prompt("before"));
    expect(prompts([(await events.next()).value!])).toEqual(["before"]);
    stopping.abort();
    await server.stop(true);
    spine.emit(prompt("meanwhile"));
    server = serve();
    expect(prompts([(await events.next()).value!])).toEqual(["meanwhile"]);
    spine.emit(prompt("after"));
    expect(prompts([(await events.next()).value!])).toEqual(["after"]);
    await events.return!();
  });

  test("an aborted reader ends without an error, also while it waits", async () => {
    const stop = new AbortController();
    const events = streamEvents({ socket }, {}, { after: 0 }, stop.signal)[Symbol.asyncIterator]();
    spine.emit(prompt("one"));
    await events.next();
    const waiting = events.next();
    stop.abort();
    expect(await waiting).toEqual({ done: true, value: undefined });
  });

  test("no daemon is an error at once", async () => {
    await server.stop(true);
    await expect(take(streamEvents({ socket: join(root, "none.sock") }, {}), 1)).rejects.toMatchObject({
      code: "DAEMON_UNAVAILABLE",
    });
  });

  test("what is not wanted is left out, and a heartbeat carries the number on", async () => {
    await server.stop(true);
    server = serve({ heartbeatMs: 5 }, { agent: "bob" });
    for (let i = 0; i < 1_000; i++) spine.emit(prompt(String(i)));
    spine.emit(prompt("mine", "bob"));
    const client = raw(0);
    await client.until((text) => text.includes("mine") && /: still here\nid: 1001\n\n/.test(text));
    expect(client.text().match(/^data: /gm)).toHaveLength(1);
    client.end();
  });

  test("a reader that takes nothing is given no more than a page, and cut off", async () => {
    for (let i = 0; i < 5_000; i++) spine.emit(prompt(String(i)));
    let asked = 0;
    const counting = {
      onEvent: spine.onEvent.bind(spine),
      after: (seq: number, limit: number) => (asked++, spine.after(seq, limit)),
    };
    const { body } = eventStream(counting, 0, () => true, stopping.signal, { patienceMs: 20 });
    const reader = body!.getReader();
    await reader.read();
    await expect(reader.closed).rejects.toThrow("too slow");
    expect(asked).toBeLessThanOrEqual(2);
  });
});

interface Raw {
  text(): string;
  until(done: (text: string) => boolean): Promise<void>;
  end(): void;
}

function raw(after: number): Raw {
  const client = connect(socket);
  let text = "";
  client.on("error", () => undefined);
  const { changed, until } = new Conditions();
  client.on("data", (chunk) => {
    text += chunk.toString();
    changed();
  });
  client.write(`GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\nlast-event-id: ${after}\r\n\r\n`);
  return { text: () => text, until: (done) => until(() => done(text)), end: () => void client.destroy() };
}
