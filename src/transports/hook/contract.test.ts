import { existsSync } from "node:fs";
import { join } from "node:path";
import { hookPlaceIn, layHookPlace } from "../../intake/hooks/place.ts";
import { claudeSession, type ClaudeSession } from "../../testing/claudeSession.ts";
import { transportContract } from "../../testing/transportContract.ts";
import { until } from "../../testing/until.ts";
import { hookEndpoint, hookTransport } from "./transport.ts";

/** Leaves the real waiter behind, and another one after every turn that one has started. */
function waitersOf({ pid, give }: ClaudeSession, program: string): AsyncDisposable {
  let over = false;
  let waiter = leave();
  const turns = listen();

  function leave() {
    const env = { PATH: process.env["PATH"]!, CLAUDE_CODE_SESSION_ID: "s-1", CLAUDE_PID: String(pid) };
    return Bun.spawn([program], { env, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  }

  async function listen(): Promise<void> {
    while (!over) {
      const text = await new Response(waiter.stderr).text();
      if ((await waiter.exited) !== 2) return;
      give(text);
      if (!over) waiter = leave();
    }
  }

  return {
    async [Symbol.asyncDispose]() {
      over = true;
      waiter.kill();
      await turns;
    },
  };
}

transportContract(
  "hook",
  async () => {
    const endpoint = hookEndpoint("s-1");
    const session = claudeSession("s-1", endpoint);
    const place = hookPlaceIn(session.folder);
    layHookPlace(place, { socket: join(session.folder, "daemon.sock"), tieline: "tieline" });
    const waiters = waitersOf(session, place.wait);
    const { sessions, agent, given, traceOf } = session;
    return {
      transport: hookTransport({ bells: place.bells, said: (one) => sessions.said(one), watchState: (one, changed) => sessions.watch(one, changed), traceOf, pause: async () => undefined }),
      agent,
      endpoint,
      received: given,
      // The waiter outlives it, as that of a killed session does.
      async vanish() {
        await until(() => existsSync(join(place.bells, "s-1.pid")), "the waiter");
        await session.end();
      },
      async [Symbol.asyncDispose]() {
        await waiters[Symbol.asyncDispose]();
        await session[Symbol.asyncDispose]();
      },
    };
  },
  { remembers: true, vanished: "gone" },
);
