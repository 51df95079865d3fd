import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Recipe } from "../recipe.ts";

export const opencode: Recipe = {
  async seed({ home }, { settings, permissions, modelUrl }) {
    const folder = join(home, ".config", "opencode");
    await mkdir(folder, { recursive: true });
    const permission = permissions === "ask" ? { bash: "ask", edit: "ask" } : { bash: "allow", edit: "allow" };
    const model = { name: "Scripted", limit: { context: 200_000, output: 8_000 } };
    const provider = {
      npm: "@ai-sdk/openai-compatible",
      options: { baseURL: `${modelUrl}/v1`, apiKey: "scripted-key" },
      models: { "scripted-model": model },
    };
    const seeded = {
      autoupdate: false,
      share: "disabled",
      model: "scripted/scripted-model",
      small_model: "scripted/scripted-model",
      enabled_providers: ["scripted"],
      permission,
      provider: { scripted: provider },
      ...settings,
    };
    await Bun.write(join(folder, "opencode.json"), JSON.stringify(seeded));
  },
  env: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  }),
  args: (_place, { args }) => [...args],
  ready: (screen) => screen.text.includes("Ask anything"),
  permissionDialog: "Permission required",
  shellCall: (command) => ({ name: "bash", input: { command, description: "scripted" } }),
};
