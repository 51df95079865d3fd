import type { PermissionMode } from "../../model/profile.ts";
import { findTranscript } from "./transcript.ts";
import { flags, numberedChoices, withArguments, type Provider } from "../provider.ts";

const approvalModes: Readonly<Record<PermissionMode, string>> = { ask: "default", auto: "auto_edit", skip: "yolo" };

export const gemini: Provider = {
  name: "gemini",
  program: "gemini",
  install: "npm install -g @google/gemini-cli",
  takesSessionId: true,
  resumes: true,
  promptsAtOnce: true,

  launchCommand(profile, { sessionId, resume, prompt, permissions, model }) {
    const own = flags(
      sessionId !== null && [resume ? "--resume" : "--session-id", sessionId],
      ["--approval-mode", approvalModes[permissions]],
      model !== null && ["--model", model],
      // Its system prompt can only be replaced, so a new conversation begins with ours as its first words.
      prompt && !resume && ["--prompt-interactive", prompt.text],
    );
    return { command: withArguments(profile.command ?? ["gemini"], [...own, ...profile.args]), env: {} };
  },

  /** A session is written down with its first words, and can not be gone on with before. */
  async hasConversation(sessionId, env) {
    const path = await findTranscript(env["GEMINI_CLI_HOME"] || (env["HOME"] ?? "/"), sessionId);
    return path !== null && (await Bun.file(path).text()).includes('"type":"gemini"');
  },

  exitWords: "/quit",
  interruptKeys: ["Escape"],
  dialogs: numberedChoices,
};
