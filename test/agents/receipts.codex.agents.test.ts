import { codexTest, embedded, shell, untilIdle } from "./codexTest.ts";
import { receiptSuite } from "./receiptSuite.ts";

receiptSuite({
  title: "Codex",
  test: codexTest,
  word: "codex",
  start: embedded,
  shell,
  wholeContext: 890_000,
  wholeRefusal: 46_000,
  untilIdle,
});
