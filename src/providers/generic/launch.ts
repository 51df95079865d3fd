import { withArguments, type Provider } from "../provider.ts";

/** Any program: a profile's command and its arguments, and nothing of ours. */
export const generic: Provider = {
  name: "generic",
  program: null,
  install: null,
  takesSessionId: false,
  resumes: false,
  launchCommand: (profile) => ({ command: withArguments(profile.command ?? [], profile.args), env: {} }),
  exitWords: null,
  interruptKeys: ["C-c"],
  dialogs: null,
};

/** The same without a terminal: mail is its standard input, and what it prints is read. */
export const headless: Provider = {
  ...generic,
  name: "headless",
  launchCommand: (profile, options) => ({ ...generic.launchCommand(profile, options), prints: "text" }),
};
