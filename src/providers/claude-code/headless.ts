/** Claude Code without a screen: it reads one JSON object per line and answers in the same way. */
import { flags, withArguments, type Launching } from "../port.ts";
import { launching } from "./launch.ts";

const streaming = [
  "-p",
  "--input-format",
  "stream-json",
  "--output-format",
  "stream-json",
  "--verbose",
  "--replay-user-messages",
];

export const headlessLaunching: Launching = {
  ...launching,

  launchCommand(profile, options) {
    const plan = launching.launchCommand({ ...profile, command: profile.command ?? ["claude"] }, options);
    return { ...plan, command: withArguments(plan.command, flags(streaming)), prints: "records" };
  },

  exitWords: null,
  interruptKeys: [],
  dialogs: null,
};
