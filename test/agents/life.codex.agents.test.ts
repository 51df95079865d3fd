import { test } from "bun:test";
import { installAgent } from "./install.ts";
import { wholeLife } from "./life.ts";

const installed = await installAgent("codex");
const missing = "missing" in installed ? installed.missing : undefined;
if (missing) console.error(`SKIPPED: codex ${installed.version} cannot be installed here: ${missing}`);

test.skipIf(!!missing)("a Codex is spawned, answered, stopped, resumed, restarted, killed and woken by mail, in one conversation", () => wholeLife("codex"), 300_000);
