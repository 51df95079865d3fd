import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Recipe } from "../recipe.ts";

export const gemini: Recipe = {
  async seed({ home }, { settings }) {
    await mkdir(join(home, ".gemini"), { recursive: true });
    const seeded = {
      security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      ui: { hideTips: true, hideBanner: true },
      ...settings,
    };
    await Bun.write(join(home, ".gemini", "settings.json"), JSON.stringify(seeded));
  },
  env: (_place, { modelUrl }) => ({ GEMINI_API_KEY: "scripted-key", GOOGLE_GEMINI_BASE_URL: modelUrl }),
  args: (_place, { args, permissions }) => [
    "-m",
    "gemini-2.5-flash",
    ...(permissions === "allow" ? ["--approval-mode", "yolo"] : []),
    ...args,
  ],
  ready: (screen) => screen.text.includes("Type your message") && screen.title.includes("Ready"),
  permissionDialog: "Allow once",
  shellCall: (command) => ({ name: "run_shell_command", input: { command, description: "scripted" } }),
  enterGapMs: 150,
};
