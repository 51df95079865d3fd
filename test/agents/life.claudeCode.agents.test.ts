import { test } from "bun:test";
import { installAgent } from "./install.ts";
import { wholeLife } from "./life.ts";

const installed = await installAgent("claude-code");
const missing = "missing" in installed ? installed.missing : undefined;
if (missing) console.error(`SKIPPED: claude-code ${installed.version} cannot be installed here: ${missing}`);

test.skipIf(!!missing)("a Claude Code is spawned, answered, stopped, resumed, restarted, killed and woken by mail, in one conversation", () => wholeLife("claude-code"), 300_000);
