import { claudeTest } from "./claudeCode.ts";
import { outageSuite, retriesWhileDown, type Outage } from "./outageSuite.ts";
import { press } from "./user.ts";
import { Switchboard } from "./switchboard.ts";

const common: Omit<Outage, "start"> = {
  test: claudeTest,
  untilIdle: async (bench) => void (await bench.untilStatus("idle")),
  async clear(bench) {
    const before = (await bench.registry())!.sessionId;
    await bench.draft("/clear");
    await press(bench, "Enter", async () => (await bench.registry())?.sessionId !== before);
  },
  words: {
    "401": /401 scripted error 401/,
    "429": /429/,
    "500": /500 scripted error 500/,
    "529": /529/,
    dropped: /Connection dropped/,
  },
};

outageSuite("Claude Code, started by Tieline", {
  ...common,
  start: (board, options) => board.spawned("claude-code", options),
});
outageSuite("Claude Code, adopted", {
  ...common,
  start: (board, options) => board.claude({ settings: {}, ...options }),
});

claudeTest(
  "Claude Code tries again while the model server is down: the receipt and a notice say so, and it is seen " +
    "once that is up",
  async () => {
    await using board = await Switchboard.start();
    await using bench = await board.claude({ settings: {}, env: { CLAUDE_CODE_MAX_RETRIES: "10" } });
    await retriesWhileDown(board, bench, "ECONNREFUSED");
  },
);
