import { claudeHooks } from "../claude-code/install.ts";
import { codexHooks } from "../codex/install.ts";
import { geminiHooks } from "../gemini/install.ts";
import type { HookedProgram } from "./hookInstaller.ts";

/** The programs that `tieline setup --hooks` knows, by the word that people use for them. */
export const hookedPrograms: Readonly<Record<string, HookedProgram>> = {
  claude: claudeHooks,
  codex: codexHooks,
  gemini: geminiHooks,
};

/** The command that makes the hooks of a program call Tieline; null: it has none. */
export function hooksCommandFor(provider: string): string | null {
  const word = Object.keys(hookedPrograms).find((key) => hookedPrograms[key]!.provider === provider);
  return word === undefined ? null : `tieline setup --hooks ${word}`;
}
