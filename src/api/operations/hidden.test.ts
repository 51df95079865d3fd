/** To an agent that may not read a message, the message is the same as one that does not exist. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Client } from "../../client/client.ts";
import { asTielineError } from "../../model/errors.ts";
import { startTestDaemon, type TestDaemon } from "../../testing/daemon.ts";

let daemon: TestDaemon;
let [bob, eve]: Client[] = [];
let hidden: { id: string; tag: string };
beforeAll(async () => {
  daemon = await startTestDaemon();
  [bob, eve] = [(await daemon.agent("bob")).client, (await daemon.agent("eve")).client];
  const { tag } = await daemon.user.call("send", { to: "bob", body: "for bob only" });
  hidden = { tag, id: (await daemon.user.call("show", { tag })).id };
});
afterAll(() => daemon[Symbol.asyncDispose]());

/** What the caller learns from an error, with the word that it asked for taken out. */
async function learned(call: Promise<unknown>, asked: string): Promise<string> {
  const outcome = await call.then((value) => ({ value }), asTielineError);
  const { code, message, remedy, operands } = outcome as ReturnType<typeof asTielineError>;
  return JSON.stringify("value" in outcome ? outcome.value : { code, message, remedy, operands }).replaceAll(
    asked,
    "…",
  );
}

describe("a message of others", () => {
  const calls: Record<string, (name: string) => Promise<unknown>> = {
    "log of its thread": (thread) => eve!.call("log", { thread }),
    "log before it": (before) => eve!.call("log", { before }),
    collect: (tag) => eve!.call("collect", { tag }),
    "send as a reply to it": (replyTo) => eve!.call("send", { to: "user", body: "?", replyTo }),
    show: (tag) => eve!.call("show", { tag }),
  };
  for (const [name, call] of Object.entries(calls)) {
    test(`${name}: gives the same as for an invented one`, async () => {
      const inventedId = `${hidden.id.slice(0, -4)}${hidden.id.endsWith("0000") ? "1111" : "0000"}`;
      for (const [real, invented] of [
        [hidden.tag, "MSG_USER_00000000"],
        [hidden.id, inventedId],
      ] as const)
        expect(await learned(call(real), real)).toBe(await learned(call(invented), invented));
    });
  }

  test("is no position in an export, and every readable message is in it once", async () => {
    const own: string[] = [];
    for (let round = 0; round < 4; round++) {
      own.push((await eve!.call("send", { to: "user", body: `mine ${round}` })).tag);
      for (let more = 0; more < 3; more++) await daemon.user.call("send", { to: "bob", body: "not for eve" });
    }
    const found: string[] = [];
    for (
      let page = await eve!.call("export", { limit: 2 });
      ;
      page = await eve!.call("export", { limit: 2, after: page.last })
    ) {
      found.push(...page.messages.map(({ tag }) => tag));
      if (page.messages.length > 0) expect(page.last).toBe(page.messages.at(-1)!.id);
      if (!page.more) break;
    }
    expect(found).toEqual(own);
  });

  test("a later message shows the id of its thread, which can be read by that id", async () => {
    const { tag } = await bob!.call("send", { to: "eve", body: "about that", replyTo: hidden.tag });
    const { thread } = await eve!.call("show", { tag });
    expect(thread).toBe(hidden.id);
    expect((await eve!.call("log", { thread })).map((one) => one.tag)).toEqual([tag]);
  });
});
