import { expect, test } from "bun:test";
import { TielineError } from "../../model/errors.ts";
import { anAgent } from "../../testing/agents.ts";
import type { AppServer, AppServerNotification } from "./appServer.ts";
import { codexServerEndpoint, CodexThreads, type Thread } from "./threads.ts";

const agent = anAgent({
  name: "ana",
  provider: "codex",
  endpoints: [codexServerEndpoint({ socket: "/nowhere.sock", hooks: false })],
});
const fault = (message: string, refused: boolean) =>
  new TielineError("DELIVERY_FAILED", message, { remedy: "", operands: { refused } });

/** A server that answers every question about the thread t1 with this, and each in its turn. */
function complaining(answer: TielineError) {
  let hear: (notification: AppServerNotification) => void = () => undefined;
  const app: AppServer = {
    request: async <Result>(method: string, params?: unknown): Promise<Result> => {
      if (method === "thread/loaded/list") return { data: [] } as Result;
      await new Promise((resolve) => setImmediate(resolve));
      const { threadId } = params as { threadId: string };
      if (threadId === "t1") throw answer;
      return {
        thread: {
          id: threadId,
          status: { type: "idle" },
          path: null,
          cwd: "/",
          ephemeral: false,
          parentThreadId: null,
        },
      } as Result;
    },
    listen: (listener) => {
      hear = listener;
      return () => undefined;
    },
    closed: new Promise(() => undefined),
    close: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
  return {
    app,
    changed: (threadId: string) =>
      hear({ method: "thread/status/changed", params: { threadId, status: { type: "idle" } } }),
  };
}

test.each([
  ["refuses: reported, once", fault("Codex refused thread/read", true), ["Codex refused thread/read"]],
  ["is gone: the next call gets the error", fault("the Codex app server is not there", false), []],
])("a server that %s", async (_what, answer, expected) => {
  const reported: string[] = [];
  const { app, changed } = complaining(answer);
  await using threads = new CodexThreads({
    codexHome: "/nowhere",
    connect: async () => app,
    report: (_context, thrown) => reported.push((thrown as Error).message),
  });
  await threads.find(agent);
  const next = Promise.withResolvers<Thread>();
  using _ = threads.watch(agent, { changed: () => undefined, loaded: next.resolve });
  for (const threadId of ["t1", "t1", "t2"]) changed(threadId);
  expect(await next.promise).toMatchObject({ id: "t2" });
  expect(reported).toEqual(expected);
});
