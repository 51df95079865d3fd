import { expect, test } from "bun:test";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { hookPlaceIn, layHookPlace } from "../../../intake/hooks/place.ts";
import { queued } from "../../../mailbox/steps.ts";
import { deliveryId } from "../../../model/ids.ts";
import { seal } from "../../../model/message.ts";
import { claudeSession, type ClaudeSession } from "../../../testing/claudeSession.ts";
import { user } from "../../../testing/mailboxContract.ts";
import { transportContract } from "../../../testing/transportContract.ts";
import { until, untilGone } from "../../../testing/until.ts";
import type { Attempt } from "../port.ts";
import { hookEndpoint, hookTransport } from "./transport.ts";
import { waitersIn } from "./waiters.ts";

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

async function aSession() {
  const endpoint = hookEndpoint("s-1");
  const session = claudeSession("s-1", endpoint);
  const place = hookPlaceIn(session.folder);
  const { bells, wait } = place;
  layHookPlace(place, { socket: join(session.folder, "daemon.sock"), bun: process.execPath });
  const waiters = waitersOf(session, wait);
  const { sessions, agent, given, proofOf } = session;
  return {
    transport: hookTransport({
      waiters: waitersIn(bells),
      reportedState: (one) => sessions.reportedState(one),
      watchState: (one, changed) => sessions.watch(one, changed),
      proofOf,
      timers: { pause: async () => undefined },
    }),
    agent,
    endpoint,
    bells,
    received: given,
    /** The waiter outlives it, as that of a killed session does. */
    async vanish() {
      await until(() => existsSync(join(bells, "s-1.pid")), "the waiter");
      await session.end();
    },
    async [Symbol.asyncDispose]() {
      await waiters[Symbol.asyncDispose]();
      await session[Symbol.asyncDispose]();
    },
  };
}

transportContract("hook", aSession, { remembers: true, vanished: "gone" });

test("mail that its waiter leaves is taken back, also when the attempt was called off before it began", async () => {
  await using session = await aSession();
  const { transport, agent, endpoint } = session;
  const message = seal({ to: agent.name, body: "lost" }, user, { inReplyTo: null, hops: 0 });
  const attempt: Attempt = {
    message,
    delivery: { ...queued(message, agent), id: deliveryId(1), state: "claimed" },
    agent,
    endpoint,
    mark: "m",
  };
  await until(async () => (await transport.ready(attempt)).kind === "ready", "the waiter");
  await session.vanish();
  expect(await transport.deliver(attempt, AbortSignal.abort())).toMatchObject({
    kind: "held",
    hold: { reason: "busy" },
  });
  expect(readdirSync(session.bells).filter((file) => file.includes(".mail."))).toEqual([]);
});

test(
  "the waiter of a program that was killed, which named no process, gives way to the one that resumes the " + "session",
  async () => {
    await using session = claudeSession("s-1", hookEndpoint("s-1"));
    const place = hookPlaceIn(session.folder);
    layHookPlace(place, { socket: join(session.folder, "daemon.sock"), bun: process.execPath });
    const { sessions, agent, proofOf } = session;
    const transport = hookTransport({
      waiters: waitersIn(place.bells),
      reportedState: (one) => sessions.reportedState(one),
      watchState: (one, changed) => sessions.watch(one, changed),
      proofOf,
      timers: { pause: async () => undefined },
    });
    const message = seal({ to: agent.name, body: "to the resumed one" }, user, { inReplyTo: null, hops: 0 });
    const attempt: Attempt = {
      message,
      delivery: { ...queued(message, agent), id: deliveryId(1), state: "claimed" },
      agent,
      endpoint: hookEndpoint("s-1"),
      mark: "m",
    };
    const waiter = (): string =>
      existsSync(join(place.bells, "s-1.pid")) ? readFileSync(join(place.bells, "s-1.pid"), "utf8") : "";
    /** As Claude Code 2.1.197 does it: by a shell, and without CLAUDE_PID. */
    const program = () =>
      Bun.spawn(["sh", "-c", 'sh -c "$1"; exit $?', "sh", place.wait], {
        env: { PATH: process.env["PATH"]!, CLAUDE_CODE_SESSION_ID: "s-1" },
        stdin: "ignore",
        stdout: "ignore",
        stderr: "pipe",
      });
    const killed = program();
    await until(async () => waiter() !== "" && (await transport.ready(attempt)).kind === "ready", "the first waiter");
    const left = waiter();
    killed.kill("SIGKILL");
    await killed.exited;
    const resumed = program();
    await until(() => !["", left].includes(waiter()), "the second waiter");
    expect(await transport.deliver(attempt, AbortSignal.timeout(20_000))).toMatchObject({ kind: "delivered" });
    expect(await resumed.exited).toBe(2);
    expect(await new Response(resumed.stderr).text()).toContain("to the resumed one");
    await untilGone(Number(left.split(" ")[0]));
  },
);
