import { afterEach, describe, expect, test } from "bun:test";
import type { Outcome } from "../model/delivery.ts";
import { TielineError } from "../model/errors.ts";
import { agentId } from "../model/ids.ts";
import { seal, type Message } from "../model/message.ts";
import type { OpenChannel } from "../objects/channel.ts";
import type { Accepted } from "../objects/handler.ts";
import type { Posting } from "../objects/protocol.ts";
import { ObjectSession, type SessionState } from "../objects/session.ts";

export interface ObjectTraits {
  /** Can a handler that never lets go be ended? Only one that does not run in the switch's own thread. */
  readonly contained: boolean;
}

/** Whatever runs a handler keeps these promises. `open` runs the parrot of fixtures/objects. */
export function objectContract(name: string, open: OpenChannel, { contained }: ObjectTraits): void {
  const sessions: ObjectSession[] = [];
  afterEach(async () => {
    await Promise.all(sessions.splice(0).map((session) => session.close()));
  });

  interface Parrot {
    readonly session: ObjectSession;
    readonly posted: Posting[];
    readonly notes: string[];
    say(content: string): Promise<Outcome>;
    until(kind: SessionState["kind"]): Promise<void>;
  }

  function parrot({
    timeoutMs = 20_000,
    options = {},
    backoffMs = [5],
  }: { timeoutMs?: number; options?: Record<string, unknown>; backoffMs?: number[] } = {}): Parrot {
    const posted: Posting[] = [];
    const notes: string[] = [];
    let changed = (): void => undefined;
    const session = new ObjectSession({
      name: "parrot",
      team: "web",
      options,
      timeoutMs,
      backoffMs,
      open,
      note: (text) => notes.push(text),
      changed: () => changed(),
      async post(posting): Promise<Accepted> {
        if (posting.type === "send" && posting.to === "unknown")
          throw new TielineError("ADDRESS_UNKNOWN", "unknown", { remedy: "-" });
        posted.push(posting);
        return { id: "1", tag: "MSG_PARROT_00000001", successful: [], failed: [] };
      },
    });
    sessions.push(session);
    const until = (kind: SessionState["kind"]): Promise<void> =>
      new Promise((resolve) => {
        changed = () => session.state.kind === kind && resolve();
        changed();
      });
    session.start();
    return {
      session,
      posted,
      notes,
      until,
      async say(content) {
        await until("up");
        return session.take(aMessage(content));
      },
    };
  }

  describe(`object contract: ${name}`, () => {
    test("a handler that returns has taken the message, which is as good as a reply", async () => {
      expect(await parrot().say("nothing")).toEqual({ kind: "delivered", proof: "reply" });
    });

    test("it says what it understands", async () => {
      const { session, until } = parrot();
      await until("up");
      expect(session.state).toMatchObject({
        kind: "up",
        interface: { words: expect.arrayContaining(["reply", "send"]) },
      });
    });

    test("replies, sends and broadcasts go out, with the reply bound to its message", async () => {
      const { say, posted } = parrot();
      await say("reply well");
      await say("send coder look here");
      await say("broadcast all clear");
      expect(posted).toMatchObject([
        { type: "reply", id: expect.any(String), content: "user: well" },
        { type: "send", to: "coder", content: "look here" },
        { type: "broadcast", content: "all clear" },
      ]);
    });

    test("init gets the options and may send", async () => {
      const { posted, until } = parrot({ options: { greet: "coder" } });
      await until("up");
      expect(posted).toMatchObject([{ type: "send", to: "coder", content: "hello" }]);
    });

    test("a refused send reaches the handler with its code", async () => {
      const { say, posted } = parrot();
      expect(await say("try unknown")).toEqual({ kind: "delivered", proof: "reply" });
      expect(posted).toMatchObject([{ type: "reply", content: "ADDRESS_UNKNOWN" }]);
    });

    test("throwing gives the message back, refusing ends it; neither ends the object", async () => {
      const { say, posted } = parrot();
      expect(await say("throw")).toEqual({ kind: "error", detail: "parrot: not now" });
      expect(await say("refuse")).toEqual({ kind: "removed", detail: "parrot: never" });
      await say("heard");
      expect(posted).toMatchObject([{ content: "3" }]);
    });

    test("a failing start is tried again, and says why", async () => {
      const { session, until } = parrot({ options: { fail: true }, backoffMs: [60_000] });
      await until("crashed");
      expect(session.state).toMatchObject({ kind: "crashed", reason: "init: no, thank you" });
    });

    test("one message at a time", async () => {
      const { say, session } = parrot({ timeoutMs: 500 });
      const first = say("hang");
      await Promise.resolve();
      await Promise.resolve();
      expect(await session.take(aMessage("nothing"))).toMatchObject({ kind: "gone" });
      expect(await first).toMatchObject({ kind: "unknown" });
    });

    test("a handler that waits for ever is ended; what it had is uncertain, and a new one starts empty", async () => {
      const { say, posted } = parrot({ timeoutMs: 2_000 });
      await say("nothing");
      expect(await say("hang")).toMatchObject({
        kind: "unknown",
        detail: expect.stringContaining("ended while it had the message"),
      });
      await say("heard");
      expect(posted).toMatchObject([{ content: "1" }]);
    });

    // A handler in the daemon's own thread can neither be ended nor crash alone.
    if (contained) {
      test("a handler that never lets go is ended, too", async () => {
        const { say, posted } = parrot({ timeoutMs: 2_000 });
        expect(await say("spin")).toMatchObject({ kind: "unknown" });
        await say("heard");
        expect(posted).toMatchObject([{ content: "1" }]);
      });

      test("a crash leaves the message uncertain and the object comes back, later each time", async () => {
        const { say, session, until } = parrot({ backoffMs: [5, 60_000] });
        expect(await say("crash")).toMatchObject({ kind: "unknown" });
        expect(await say("crash")).toMatchObject({ kind: "unknown" });
        await until("crashed");
        const { state } = session;
        expect(state.kind === "crashed" && state.againInMs).toBeGreaterThan(30_000);
      });
    }

    test("a closed object takes nothing", async () => {
      const { say, session } = parrot();
      await say("nothing");
      await session.close();
      expect(await session.take(aMessage("nothing"))).toMatchObject({ kind: "gone" });
    });
  });
}

function aMessage(body: string): Message {
  return seal(
    { to: "parrot", body },
    { id: agentId("user"), name: "user", team: "web", knownBy: "user" },
    { inReplyTo: null, hops: 0 },
  );
}
