import type { PermissionMode } from "../../model/profile.ts";
import { flags, numberedChoices, withArguments, type Provider } from "../provider.ts";

const permissionFlags: Readonly<Record<PermissionMode, readonly string[]>> = {
  ask: ["--ask-for-approval", "on-request"],
  auto: ["--ask-for-approval", "never", "--sandbox", "workspace-write"],
  skip: ["--dangerously-bypass-approvals-and-sandbox"],
};

export const codex: Provider = {
  name: "codex",
  program: "codex",
  install: "npm install -g @openai/codex",
  takesSessionId: false,
  resumes: true,

  launchCommand(profile, { sessionId, resume, prompt, permissions, model }) {
    const own = flags(
      resume && sessionId !== null && ["resume", sessionId],
      permissionFlags[permissions],
      model !== null && ["--model", model],
      // A basic TOML string is escaped like JSON.
      prompt && ["-c", `developer_instructions=${JSON.stringify(prompt.text)}`],
    );
    return { command: withArguments(profile.command ?? ["codex"], [...own, ...profile.args]), env: {} };
  },

  exitWords: "/quit",
  interruptKeys: ["Escape"],
  dialogs: numberedChoices,
};
