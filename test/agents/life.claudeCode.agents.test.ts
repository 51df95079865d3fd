import { claudeTest } from "./claudeCode.ts";
import { wholeLife } from "./life.ts";

claudeTest("a Claude Code is spawned, answered, stopped, resumed, restarted, killed and woken by mail, in one conversation", () => wholeLife("claude-code"));
