/** Reading the screen of an agent's pane: what it does, and what stands in its composer. */
import claudeCode from "./claude-code/screen.json";
import codex from "./codex/screen.json";
import gemini from "./gemini/screen.json";
import generic from "./generic/screen.json";
import headless from "./headlessScreen.json";
import opencode from "./opencode/screen.json";
import pi from "./pi/screen.json";
import repl from "./repl/screen.json";
import { overrideManifest, parseManifest, type ScreenManifest } from "./screen/manifest.ts";
import shell from "./shell/screen.json";
import { TielineError } from "../model/errors.ts";

export { classify, explainScreen, type Reading } from "./screen/classify.ts";
export { bareText, composerHolds, showsPlainly, type Held } from "./screen/composer.ts";
export { overrideManifest, parseManifest, type ScreenManifest, type ScreenState } from "./screen/manifest.ts";
export type { Screen } from "./screen/parse.ts";

const builtIn = {
  "claude-code": claudeCode,
  "claude-headless": { ...headless, provider: "claude-headless" },
  headless,
  codex,
  gemini,
  opencode,
  pi,
  shell,
  repl,
  generic,
};

export type ScreenProvider = keyof typeof builtIn;
export const screenProviders = Object.keys(builtIn) as ScreenProvider[];

/** The built-in manifest of a program, with the user's own rules laid over it where given. */
export function screenManifest(provider: string, user?: { data: unknown; source: string }): ScreenManifest {
  if (!Object.hasOwn(builtIn, provider)) {
    throw new TielineError("CONFIG_INVALID", `no screen manifest for provider "${provider}"`, {
      remedy: `use one of ${screenProviders.join(", ")}`,
      operands: { provider, known: screenProviders },
    });
  }
  const base = parseManifest(builtIn[provider as ScreenProvider], `${provider}/screen.json`);
  return user ? overrideManifest(base, user.data, user.source) : base;
}

/** The manifest for a program whose profile gives its prompt: idle only while the last line begins with it. */
export function withPrompt(manifest: ScreenManifest, prompt: string): ScreenManifest {
  const { composer: _, ...frameless } = manifest;
  const prompted = overrideManifest(
    frameless,
    { provider: manifest.provider, composer: { prompt, footer: 0 } },
    "prompt",
  );
  const stillHold = prompted.rules.filter((rule) => rule.state !== "idle" && rule.name !== "full-screen");
  const atPrompt = (["last", "hidden"] as const).map((cursor) => ({
    name: `prompt, cursor ${cursor}`,
    state: "idle" as const,
    why: "the last line begins with the prompt of its profile",
    all: [{ composer: "present" as const }, { cursor }],
    none: [],
  }));
  return { ...prompted, rules: [...stillHold, ...atPrompt] };
}
