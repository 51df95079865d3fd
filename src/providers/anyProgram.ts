/** Programs that Tieline knows nothing special about. */
import headlessScreen from "./headlessScreen.json";
import { withArguments, type Launching, type Provider } from "./port.ts";

/** Runs a profile's command and its arguments, and adds nothing. */
const plainLaunching: Launching = {
  install: null,
  takesSessionId: false,
  resumes: false,
  launchCommand: (profile) => ({ command: withArguments(profile.command ?? [], profile.args), env: {} }),
  exitWords: null,
  interruptKeys: ["C-c"],
  dialogs: null,
};

/** Without a terminal: mail is the program's standard input, and its output is read. */
const headlessProgram: Provider = {
  ...plainLaunching,
  name: "headless",
  title: "a program without a terminal",
  program: null,
  screen: headlessScreen,
  launchCommand: (profile, options) => ({ ...plainLaunching.launchCommand(profile, options), prints: "text" }),
};

/** A program in a terminal that is run as its profile says. */
export const anyProgram: Omit<Provider, "name" | "title" | "screen"> = {
  ...plainLaunching,
  program: null,
  headless: headlessProgram,
};
