import type { PermissionMode } from "../../model/profile.ts";
import { geminiFolder } from "./folder.ts";
import { flags, numberedChoices, withArguments, type Launching } from "../port.ts";
import { defaultsVariable, readsDefaults } from "./defaults.ts";
import { withHooks } from "./install.ts";
import { findTranscript, hasAnswer } from "./transcript.ts";

const approvalModes: Readonly<Record<PermissionMode, string>> = { ask: "default", auto: "auto_edit", skip: "yolo" };

export const launching: Launching = {
  install: "npm install -g @google/gemini-cli",
  takesSessionId: true,
  resumes: true,
  promptsAtOnce: true,

  launchCommand(profile, { sessionId, resume, prompt, permissions, model, hooks = null, ownSocket = null }) {
    const own = flags(
      sessionId !== null && [resume ? "--resume" : "--session-id", sessionId],
      ["--approval-mode", approvalModes[permissions]],
      model !== null && ["--model", model],
      // Its system prompt can only be replaced, so a new conversation begins with ours as its first words.
      prompt && !resume && ["--prompt-interactive", prompt.text],
    );
    const command = withArguments(profile.command ?? ["gemini"], [...own, ...profile.args]);
    const defaults = ownSocket === null ? null : `${ownSocket}.gemini.json`;
    if (hooks === null || defaults === null || !readsDefaults(defaults)) return { command, env: {} };
    return {
      command,
      env: { [defaultsVariable]: defaults },
      files: { [defaults]: JSON.stringify(withHooks({}, hooks)) },
    };
  },

  /** A session is stored with its first prompt, and cannot be resumed before. */
  async hasConversation(sessionId, env) {
    const path = await findTranscript(geminiFolder(env), sessionId);
    return path !== null && hasAnswer(geminiFolder(env), path);
  },

  exitWords: "/quit",
  interruptKeys: ["Escape"],
  dialogs: numberedChoices,
};
