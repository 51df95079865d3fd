/** The object's side of the protocol: turns what the switch says into calls of a handler. */
import type { Accepted, MessageApi, ObjectApi, ObjectHandler, ReceivedMessage } from "./handler.ts";
import type { FromObject, Posting, ToObject } from "./protocol.ts";

type Waiting = { resolve: (accepted: Accepted) => void; reject: (error: Error) => void };
type Unnumbered<P> = P extends Posting ? Omit<P, "ref"> : never;

/** Answers the function that hears the switch; `closed` follows once the handler has closed. */
export function serve(
  handler: ObjectHandler,
  say: (message: FromObject) => void,
  closed: () => void,
): (message: ToObject) => void {
  const waiting = new Map<number, Waiting>();
  let lastRef = 0;
  let api: ObjectApi;

  function post(posting: Unnumbered<Posting>): Promise<Accepted> {
    return new Promise((resolve, reject) => {
      const ref = ++lastRef;
      waiting.set(ref, { resolve, reject });
      say({ ...posting, ref } as Posting);
    });
  }

  async function init({ name, team, options }: Extract<ToObject, { type: "init" }>): Promise<void> {
    api = {
      name,
      team,
      send: (to, content, { key, spawn } = {}) =>
        post({ type: "send", to, content, ...(key !== undefined && { key }), ...(spawn !== undefined && { spawn }) }),
      broadcast: (content) => post({ type: "broadcast", content }),
      log: (text) => say({ type: "log", text }),
    };
    try {
      await handler.init?.(api, options);
      say({ type: "ready", interface: handler.interface });
    } catch (thrown) {
      say({ type: "failed", message: wordsOf(thrown) });
    }
  }

  async function take(message: ReceivedMessage): Promise<void> {
    const { id, from, content } = message;
    const messageApi: MessageApi = { ...api, message, reply: (answer) => post({ type: "reply", id, content: answer }) };
    try {
      await handler.onMessage(from, content, messageApi);
      say({ type: "done", id });
    } catch (thrown) {
      const permanent = (thrown as { permanent?: unknown } | null)?.permanent === true;
      say({ type: "failed", id, message: wordsOf(thrown), permanent });
    }
  }

  async function close(): Promise<void> {
    try {
      await handler.close?.();
    } catch (thrown) {
      say({ type: "log", text: `close: ${wordsOf(thrown)}` });
    }
    closed();
  }

  function settle(result: Extract<ToObject, { type: "result" }>): void {
    const caller = waiting.get(result.ref);
    waiting.delete(result.ref);
    if ("accepted" in result) caller?.resolve(result.accepted);
    else caller?.reject(Object.assign(new Error(result.error.message), { code: result.error.code }));
  }

  return (message) => {
    switch (message.type) {
      case "init":
        return void init(message);
      case "message":
        return void take(message);
      case "result":
        return settle(message);
      case "close":
        return void close();
    }
  };
}

function wordsOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
}
