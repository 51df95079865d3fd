/** Reads the screen of an agent's pane: what the agent does, and what its composer holds. */
import { overrideManifest, type ScreenManifest } from "./screen/manifest.ts";

export { classify, explainScreen, type ScreenReading } from "./screen/classify.ts";
export { bareText, composerHolds, showsPlainly } from "./screen/composer.ts";
export { overrideManifest, parseManifest, type ScreenManifest, type ScreenState } from "./screen/manifest.ts";
export type { Screen } from "./screen/parse.ts";

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
