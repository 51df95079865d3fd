import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { LaunchOptions, Recipe } from "../recipe.ts";

export const codex: Recipe = {
  async seed({ home, project }, { modelUrl, permissions }) {
    await mkdir(join(home, ".codex"), { recursive: true });
    await Bun.write(join(home, ".codex", "config.toml"), config(project, modelUrl, permissions));
  },
  env: ({ home }) => ({ CODEX_HOME: join(home, ".codex"), SCRIPTED_API_KEY: "scripted-key" }),
  args: (_place, options) => ["--no-daemon", ...codexSettings(options), ...options.args],
  // The splash shows a composer too; only afterwards the title names the project.
  ready: (screen) => /^› /m.test(screen.text) && screen.title.includes("project"),
  permissionDialog: "Would you like to run the following command?",
  shellCall: (cmd, escalate = false) => ({
    name: "exec_command",
    input: { cmd, ...(escalate ? { sandbox_permissions: "require_escalated", justification: "scripted" } : {}) },
  }),
  transcripts: ".codex/sessions/**/rollout-*.jsonl",
};

/** Settings as `-c key=value`, for whichever process hosts the threads. */
export function codexSettings({ settings }: Pick<LaunchOptions, "settings">): string[] {
  return Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${toml(value)}`]);
}

function toml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}=${toml(inner)}`);
  return `{${pairs.join(",")}}`;
}

function config(project: string, modelUrl: string, permissions: "ask" | "allow"): string {
  return `
model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
approval_policy = "${permissions === "ask" ? "on-request" : "never"}"
sandbox_mode = "${permissions === "ask" ? "read-only" : "danger-full-access"}"
[analytics]
enabled = false
[feedback]
enabled = false
[features]
daemon_auto_start = false
plugins = false
apps = false
[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
[tui]
show_tooltips = false
[projects.${JSON.stringify(project)}]
trust_level = "trusted"
[model_providers.scripted]
name = "Scripted"
base_url = "${modelUrl}/v1"
wire_api = "responses"
env_key = "SCRIPTED_API_KEY"
request_max_retries = 0
stream_max_retries = 0
`;
}
