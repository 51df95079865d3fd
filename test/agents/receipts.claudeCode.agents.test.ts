import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freshTexts } from "../../fixtures/model-servers/server.ts";
import { claudeTest, shell } from "./claudeCode.ts";
import { receiptSuite } from "./receiptSuite.ts";
import { Switchboard } from "./switchboard.ts";

receiptSuite({
  title: "Claude Code",
  test: claudeTest,
  word: "claude",
  start: (board, { hooks, ...options }) => board.claude({ ...options, ...(!hooks && { settings: {} }) }),
  shell,
  wholeContext: 890_000,
  wholeRefusal: 890_000,
  untilIdle: async (bench) => void (await bench.untilStatus("idle")),
});

claudeTest(
  "Claude Code's composer changes tabs, invisible marks and composed characters: the receipt says what " +
    "arrived differently",
  async () => {
    await using board = await Switchboard.start();
    await using bench = await board.claude();
    const file = join(board.root, "body.txt");
    writeFileSync(file, "all:\tmake\r\ncafe\u0301 a\u200bb\n");
    const tag = await board.send("ana", "--wait", "seen", "--timeout", "30s", "--file", file);
    const request = await bench.model.next((one) => freshTexts(one, "user").some((text) => text.includes(tag)));
    expect(freshTexts(request, "user").at(-1)).toContain("]\nall:    make\ncafé ab\n");
    const { deliveries } = await board.status(tag);
    expect(deliveries[0]!.notes).toEqual([
      {
        code: "altered",
        text:
          "changed on the way: CRLF became LF, zero-width and direction marks were removed, characters were " +
          "composed (NFC), tabs became blanks",
      },
    ]);
    expect((await board.tieline(["status", tag])).stdout).toContain("changed on the way: ");
    expect((await board.tieline(["show", tag])).stdout).toContain("all:\tmake");
  },
  90_000,
);
