import { expect, test } from "bun:test";
import type { TmuxServer } from "../../tmux/server.ts";
import { Viewers } from "./viewers.ts";

test("a viewer is attended until it leaves; at the end none is, although tmux was just being asked", async () => {
  const answer = Promise.withResolvers<string[]>();
  let attending = 0;
  const viewers = new Viewers({
    server: () => ({ read: () => answer.promise }) as unknown as TmuxServer,
    agents: () => [],
    sessionOf: () => "crew",
    attend() {
      attending++;
      return { [Symbol.dispose]: () => void attending-- };
    },
    report: (_context, fault) => {
      throw fault;
    },
  });
  viewers.moved("socket");
  const ended = viewers[Symbol.asyncDispose]();
  answer.resolve(["crew"]);
  await ended;
  viewers.moved("socket");
  await Promise.resolve();
  expect(attending).toBe(0);
});
