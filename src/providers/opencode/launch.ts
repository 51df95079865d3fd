import type { PermissionMode } from "../../model/profile.ts";
import { flags, withArguments, type Provider } from "../provider.ts";

const permissionConfig: Readonly<Record<PermissionMode, object>> = {
  ask: { bash: "ask", edit: "ask" },
  auto: { bash: "ask", edit: "allow" },
  skip: { bash: "allow", edit: "allow" },
};

export const opencode: Provider = {
  name: "opencode",
  program: "opencode",
  install: "npm install -g opencode-ai",
  takesSessionId: false,
  resumes: true,

  launchCommand(profile, { sessionId, resume, prompt, permissions, model }) {
    const own = flags(resume && sessionId !== null && ["--session", sessionId], model !== null && ["--model", model]);
    const config = { permission: permissionConfig[permissions], ...(prompt && { instructions: [prompt.file] }) };
    return {
      command: withArguments(profile.command ?? ["opencode"], [...own, ...profile.args]),
      env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(config) },
    };
  },

  exitWords: "/exit",
  interruptKeys: ["Escape"],
  dialogs: {
    // The choices stand in one row, and the first is chosen when it opens.
    choice: /(?<label>Allow once|Allow always|Reject)/gu,
    keys: (place) => [...Array.from({ length: place - 1 }, () => "Right"), "Enter"],
  },
};
