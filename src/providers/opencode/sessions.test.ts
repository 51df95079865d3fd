import { expect, test } from "bun:test";
import { anAgent } from "../../testing/agents.ts";
import { opencodeServerEndpoint, OpencodeSessions } from "./sessions.ts";

test(
  "a server that refuses to say what it does is reported once, however often it is tried; one that is not " +
    "there is not",
  async () => {
    const reported: string[] = [];
    const tried = Promise.withResolvers<void>();
    let tries = 0;
    const server = Bun.serve({
      port: 0,
      routes: {
        "/event": () =>
          new Response('data: {"type":"server.connected","properties":{}}\n\n', {
            headers: { "content-type": "text/event-stream" },
          }),
        "/*": () => {
          if (++tries > 6) tried.resolve();
          return new Response("no", { status: 500 });
        },
      },
    });
    await using sessions = new OpencodeSessions({
      retryMs: 1,
      report: (context, fault) => reported.push(`${context}: ${(fault as Error).message}`),
    });
    const agent = anAgent({
      name: "ana",
      provider: "opencode",
      endpoints: [opencodeServerEndpoint({ port: server.port!, password: null })],
    });
    const watch = sessions.watch(agent, () => undefined);
    await tried.promise;
    await server.stop(true);
    await expect(sessions.ask(agent)).rejects.toThrow("does not answer");
    watch[Symbol.dispose]();
    expect(new Set(reported).size).toBe(reported.length);
    expect(reported[0]).toMatch(/^the opencode at port \d+: opencode refused \/\S+: 500 no$/);
  },
);
