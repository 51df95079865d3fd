import { expect } from "bun:test";
import { startBench } from "./bench.ts";
import { claudeTest } from "./claudeCode.ts";
import { Switchboard } from "./switchboard.ts";
import { typeWhileDelivering } from "./typingUser.ts";

claudeTest(
  "a user begins to type 0 to 150 ms after the send: neither text is glued to the other, cut or lost",
  async () => {
    await using board = await Switchboard.start();
    await using bench = await startBench("claude-code");
    await board.adopt(bench);
    const rounds = await typeWhileDelivering(board, bench, 16);
    expect(rounds.filter(({ wrong }) => wrong !== null)).toEqual([]);
    expect(rounds.every(({ transport }) => transport === "tmux")).toBe(true);
  },
);
