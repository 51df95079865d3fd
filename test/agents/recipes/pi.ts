import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Recipe } from "../recipe.ts";

export const pi: Recipe = {
  async seed({ home }, { settings, modelUrl }) {
    const folder = join(home, ".pi", "agent");
    await mkdir(folder, { recursive: true });
    const model = {
      id: "scripted-model",
      name: "Scripted",
      reasoning: false,
      input: ["text"],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 200_000,
      maxTokens: 8_000,
    };
    const provider = {
      baseUrl: `${modelUrl}/v1`,
      api: "openai-completions",
      apiKey: "scripted-key",
      models: [model],
    };
    await Bun.write(join(folder, "models.json"), JSON.stringify({ providers: { scripted: provider } }));
    await Bun.write(join(folder, "settings.json"), JSON.stringify(settings));
  },
  env: () => ({ PI_OFFLINE: "1", PI_TELEMETRY: "0" }),
  args: (_place, { args }) => ["--offline", "--provider", "scripted", "--model", "scripted-model", ...args],
  ready: (screen) => (screen.text.match(/^─{10,}$/gm) ?? []).length >= 2 && screen.text.includes("scripted-model"),
  // It has no permission dialogs.
  permissionDialog: undefined,
  shellCall: (command) => ({ name: "bash", input: { command } }),
};
