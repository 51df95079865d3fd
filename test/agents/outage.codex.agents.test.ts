import type { Bench } from "./bench.ts";
import { codexTest, embedded, untilIdle } from "./codexTest.ts";
import { outageSuite, retriesWhileDown, type Outage } from "./outageSuite.ts";
import { press } from "./user.ts";
import { Switchboard } from "./switchboard.ts";

const common: Omit<Outage, "start"> = {
  test: codexTest,
  untilIdle,
  async clear(bench) {
    await bench.draft("/new");
    await press(
      bench,
      "Enter",
      ({ text }) => text.includes("To continue this session") || !text.includes("discard this"),
    );
    await untilIdle(bench);
  },
  words: {
    "401": /401 Unauthorized/,
    "429": /429/,
    "500": /high demand/,
    "529": /529/,
    dropped: /stream disconnected/,
  },
};

outageSuite("Codex, started by Tieline", { ...common, start: (board, options) => board.codex(options) });
outageSuite("Codex, adopted", { ...common, start: (board, options) => embedded(board, options) });

const starts: [string, (board: Switchboard) => Promise<Bench>][] = [
  ["started by Tieline", (board) => board.codex()],
  ["adopted", (board) => embedded(board)],
];
codexTest.each(starts)(
  "Codex, %s, tries again while the model server is down: the receipt and a notice say so, and it is seen " +
    "once that is up",
  async (_, start) => {
    await using board = await Switchboard.start();
    await using bench = await start(board);
    await retriesWhileDown(board, bench, "Connection failed");
  },
);
