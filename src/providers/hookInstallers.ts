import { claudeHooks } from "./claude-code/install.ts";
import { codexHooks } from "./codex/install.ts";
import { geminiHooks } from "./gemini/install.ts";
import type { HookInstaller } from "./hookInstaller.ts";

/** The programs that `tieline setup --hooks` knows, by the word that people use for them. */
export const hookInstallers: Readonly<Record<string, HookInstaller>> = { claude: claudeHooks, codex: codexHooks, gemini: geminiHooks };
