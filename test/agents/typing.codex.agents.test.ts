import { expect } from "bun:test";
import { startBench } from "./bench.ts";
import { codexTest } from "./codexTest.ts";
import { Switchboard } from "./switchboard.ts";
import { typeWhileDelivering } from "./typingUser.ts";

codexTest(
  "a user begins to type 0 to 150 ms after the send: neither text is glued to the other, cut or lost",
  async () => {
    await using board = await Switchboard.start();
    await using bench = await startBench("codex");
    await board.adopt(bench);
    const rounds = await typeWhileDelivering(board, bench, 16);
    expect(rounds.filter(({ wrong }) => wrong !== null)).toEqual([]);
  },
);
