import { chmodSync } from "node:fs";
import { callerHeader, methods, pathOf } from "../api/wire.ts";
import { definitions } from "../api/operations/index.ts";
import { Caller, type Input, type OperationName, type Output } from "../api/schema.ts";
import { TielineError } from "../model/errors.ts";
import type { Event } from "../model/event.ts";

export interface RecordedCall {
  readonly name: OperationName;
  readonly input: Record<string, unknown>;
  readonly caller: Caller;
}

export type Answers = {
  [Name in OperationName]?: (input: Input<Name>, caller: Caller) => Output<Name> | Promise<Output<Name>>;
};

export interface FakeDaemon extends AsyncDisposable {
  /** Every call so far, in order. */
  readonly calls: readonly RecordedCall[];
  /** May be changed while it runs. */
  answers: Answers;
  /** Sends an event to all streams, now or later. */
  tell(event: Event): void;
}

/** Unless the script says otherwise. */
const whoami = (): Output<"whoami"> => ({ name: "user", team: "default", kind: "user", role: null, knownBy: "user" });

/**
 * Answers on a socket like the daemon, from a script. What comes in and what goes out must fit the schemas, so a test
 * cannot agree with a client on something that the real daemon would refuse.
 */
export function fakeDaemon(socket: string, answers: Answers = {}): FakeDaemon {
  const calls: RecordedCall[] = [];
  const told: string[] = [];
  const streams = new Set<ReadableStreamDefaultController<string>>();
  const byPath = new Map((Object.keys(methods) as OperationName[]).map((name) => [pathOf(name), name]));
  const fake = { calls, answers };

  const server = Bun.serve({
    unix: socket,
    async fetch(request) {
      const url = new URL(request.url);
      if (request.headers.get("accept") === "text/event-stream") return stream();
      const name = byPath.get(url.pathname);
      if (name === undefined || methods[name] !== request.method)
        return new Response("no such operation", { status: 404 });
      const raw: unknown = request.method === "GET" ? Object.fromEntries(url.searchParams) : await request.json();
      const input = definitions[name].input.parse(raw) as Record<string, unknown>;
      const caller = Caller.parse(JSON.parse(decodeURIComponent(request.headers.get(callerHeader)!)));
      calls.push({ name, input, caller });
      return answer(name, input, caller);
    },
  });
  chmodSync(socket, 0o600);

  function stream(): Response {
    let own: ReadableStreamDefaultController<string>;
    const start = (controller: ReadableStreamDefaultController<string>): void => {
      streams.add((own = controller));
      controller.enqueue([": here\n\n", ...told].join(""));
    };
    return new Response(new ReadableStream({ start, cancel: () => void streams.delete(own) }));
  }

  async function answer(name: OperationName, input: Record<string, unknown>, caller: Caller): Promise<Response> {
    const reply = { whoami, ...fake.answers }[name] as ((input: unknown, caller: Caller) => unknown) | undefined;
    if (!reply)
      return problem(new TielineError("INTERNAL", `the test gave no answer for ${name}`, { remedy: "give one" }));
    try {
      return Response.json(definitions[name].output.parse(await reply(input, caller)));
    } catch (thrown) {
      if (thrown instanceof TielineError) return problem(thrown);
      throw thrown;
    }
  }

  return Object.assign(fake, {
    tell(event: Event) {
      told.push(`id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`);
      for (const one of streams) one.enqueue(told.at(-1)!);
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  });
}

function problem(error: TielineError): Response {
  const { code, message, remedy, operands } = error;
  return Response.json(
    { code, detail: message, remedy, operands },
    { status: error.httpStatus, headers: { "content-type": "application/problem+json" } },
  );
}
