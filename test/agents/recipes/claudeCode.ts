import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Recipe } from "../recipe.ts";

const key = "scripted-key";

export const claudeCode: Recipe = {
  async seed({ home, project }, { settings, permissions }) {
    await mkdir(join(home, ".claude"), { recursive: true });
    const account = {
      hasCompletedOnboarding: true,
      bypassPermissionsModeAccepted: permissions === "allow",
      customApiKeyResponses: { approved: [key], rejected: [] },
      projects: { [project]: { hasTrustDialogAccepted: true } },
    };
    await Bun.write(join(home, ".claude.json"), JSON.stringify(account));
    // Pinned, because a program that was killed at start chooses the other renderer the next time.
    const seeded = { tui: "fullscreen", skipDangerousModePermissionPrompt: true, ...settings };
    await Bun.write(join(home, ".claude", "settings.json"), JSON.stringify(seeded));
  },
  env: ({ temporary }, { modelUrl, permissions }) => ({
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: key,
    CLAUDE_CODE_TMPDIR: temporary,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    CLAUDE_CODE_MAX_RETRIES: "0",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    // Running as root, it lets every tool run only if it is declared to be in a sandbox.
    ...(permissions === "allow" ? { IS_SANDBOX: "1" } : {}),
  }),
  args: (_place, { args, permissions }) => [
    ...(args.includes("--permission-mode")
      ? []
      : ["--permission-mode", permissions === "ask" ? "manual" : "bypassPermissions"]),
    ...args,
  ],
  ready: (screen) => /^❯\u00a0/m.test(screen.text),
  permissionDialog: "Do you want to",
  shellCall: (command) => ({ name: "Bash", input: { command, description: "scripted" } }),
  transcripts: ".claude/projects/*/*.jsonl",
};
