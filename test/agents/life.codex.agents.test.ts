import { codexTest } from "./codexTest.ts";
import { wholeLife } from "./life.ts";

codexTest(
  "a Codex is spawned, answered, stopped, resumed, restarted, killed and woken by mail, in one conversation",
  () => wholeLife("codex"),
);
