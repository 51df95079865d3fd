import { claudeCode } from "./claude-code/launch.ts";
import { claudeHeadless } from "./claude-code/headless.ts";
import { codex } from "./codex/launch.ts";
import { gemini } from "./gemini/launch.ts";
import { generic, headless } from "./generic/launch.ts";
import { opencode } from "./opencode/launch.ts";
import { pi } from "./pi/launch.ts";
import type { Provider } from "./provider.ts";

const known: ReadonlyMap<string, Provider> = new Map(
  [claudeCode, claudeHeadless, headless, codex, gemini, opencode, pi].map((provider) => [provider.name, provider]),
);

/** How to start and steer a program of this kind; shells, REPLs and the rest are like any program. */
export function providerOf(name: string): Provider {
  return known.get(name) ?? { ...generic, name };
}

/** What runs programs of this kind without a terminal; null: nothing that takes mail. */
export function headlessProviderOf(name: string): Provider | null {
  const provider = providerOf(name);
  if (provider === claudeCode || provider === claudeHeadless) return claudeHeadless;
  return provider === headless || !known.has(name) ? headless : null;
}

/** Words that give a package's program away where it runs under node or bun. */
const packages: Readonly<Record<string, string>> = {
  "@anthropic-ai/claude-code": "claude-code",
  "@openai/codex": "codex",
  "@google/gemini-cli": "gemini",
  "opencode-ai": "opencode",
  "pi-coding-agent": "pi",
};
const runtimes = new Set(["node", "bun", "deno", "nodejs"]);

/** The provider of a running program, by its name or by the script that a runtime runs; null: none that we know. */
export function providerOfProgram(command: string, argv: readonly string[]): string | null {
  const program = baseName(argv[0] ?? command);
  const words = runtimes.has(program)
    ? [argv.slice(1).find((word) => !word.startsWith("-")) ?? ""]
    : [argv[0] ?? "", command];
  for (const word of words) {
    const name = baseName(word).replace(/\.(c|m)?js$/, "");
    for (const provider of known.values()) if (provider.program === name) return provider.name;
    for (const [part, provider] of Object.entries(packages)) if (word.includes(`/${part}/`)) return provider;
  }
  return null;
}

const baseName = (path: string): string => path.split("/").at(-1) ?? "";
