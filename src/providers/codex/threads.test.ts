import { expect, test } from "bun:test";
import { TielineError } from "../../model/errors.ts";
import { anAgent } from "../../testing/agents.ts";
import type { AppServer, AppServerNotification } from "./appServer.ts";
import { codexServerEndpoint, CodexThreads } from "./threads.ts";

const agent = anAgent({ name: "ana", provider: "codex", endpoints: [codexServerEndpoint({ socket: "/nowhere.sock", hooks: false })] });
const fault = (message: string, refused: boolean) => new TielineError("DELIVERY_FAILED", message, { remedy: "", operands: { refused } });

/** A server that answers every question about a thread with this. */
function complaining(answer: TielineError) {
  let hear: (notification: AppServerNotification) => void = () => undefined;
  const app: AppServer = {
    request: async <Result>(method: string): Promise<Result> => {
      if (method === "thread/loaded/list") return { data: [] } as Result;
      throw answer;
    },
    listen: (listener) => {
      hear = listener;
      return () => undefined;
    },
    closed: new Promise(() => undefined),
    close: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
  return { app, changed: () => hear({ method: "thread/status/changed", params: { threadId: "t1", status: { type: "idle" } } }) };
}

test.each([
  ["refuses: reported, once", fault("Codex refused thread/read", true), ["Codex refused thread/read"]],
  ["is gone: whoever asks next is told", fault("the Codex app server is not there", false), []],
])("a server that %s", async (_what, answer, expected) => {
  const reported: string[] = [];
  const { app, changed } = complaining(answer);
  await using threads = new CodexThreads({ codexHome: "/nowhere", connect: async () => app, report: (_context, thrown) => reported.push((thrown as Error).message) });
  await threads.find(agent);
  changed();
  changed();
  await Bun.sleep(0);
  expect(reported).toEqual(expected);
});
