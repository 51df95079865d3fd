import { flags, withArguments, type Provider } from "../provider.ts";

export const pi: Provider = {
  name: "pi",
  program: "pi",
  install: "npm install -g @earendil-works/pi-coding-agent",
  takesSessionId: false,
  resumes: true,

  /** It never asks before it acts, so all permission modes are the same. */
  launchCommand(profile, { sessionId, resume, prompt, model }) {
    const own = flags(
      resume && sessionId !== null && ["--session", sessionId],
      model !== null && ["--model", model],
      prompt && ["--append-system-prompt", prompt.file],
    );
    return { command: withArguments(profile.command ?? ["pi"], [...own, ...profile.args]), env: {} };
  },

  exitWords: "/quit",
  interruptKeys: ["Escape"],
  dialogs: null,
};
