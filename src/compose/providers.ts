/** The agent programs that Tieline knows. To add one, write its folder in `providers/` and name it here. */
import { claudeCode } from "../providers/claude-code/index.ts";
import { codex } from "../providers/codex/index.ts";
import { gemini } from "../providers/gemini/index.ts";
import { generic } from "../providers/generic/index.ts";
import { opencode } from "../providers/opencode/index.ts";
import { pi } from "../providers/pi/index.ts";
import { Providers } from "../providers/providers.ts";
import { repl } from "../providers/repl/index.ts";
import { shell } from "../providers/shell/index.ts";

export const providers = new Providers([claudeCode, codex, gemini, opencode, pi, shell, repl], generic);
