import { expect, test } from "bun:test";
import { mayHaveArrived } from "../../src/client/client.ts";
import { TielineError } from "../../src/model/errors.ts";
import { createSession } from "./session.ts";

test("a daemon that does not answer hello got nothing, and the error says so", async () => {
  const asked: string[] = [];
  const session = createSession({
    origin: "http://localhost:1",
    fetch: async (url) => {
      asked.push(url);
      throw new TypeError("Failed to fetch");
    },
    store: { load: async () => null, save: async () => undefined },
    now: () => 0,
    isIntercepted: () => false,
  });
  const thrown = await session.signIn({ code: "a", secret: "b", fingerprint: "c" }).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(TielineError);
  expect(thrown).toMatchObject({ code: "DAEMON_UNAVAILABLE", message: "the daemon does not answer; nothing was sent" });
  expect(mayHaveArrived(thrown as TielineError)).toBeFalse();
  expect(asked).toEqual(["/page/hello"]);
});
