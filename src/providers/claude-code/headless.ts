/**
 * Claude Code without a screen: it reads one JSON object per line and answers in the same way. It runs in a tmux
 * window like every agent, so that it outlives the daemon; its input is a FIFO that it holds open itself, its output
 * a file.
 */
import { join } from "node:path";
import { flags, withArguments, type Provider } from "../provider.ts";
import { claudeCode } from "./launch.ts";

/**
 * `$1` is the conversation; the rest is the command. The third descriptor keeps the FIFO open when no writer is left.
 * The shell stays in front of the program, which ends at once where it leads the terminal's session itself.
 */
const script = [
  'streams="$TIELINE_HOME/headless"',
  'mkdir -p "$streams" && chmod 700 "$streams"',
  'stream="$streams/$1"; shift',
  '[ -p "$stream.in" ] || mkfifo -m 600 "$stream.in"',
  'exec 3<>"$stream.in"',
  '"$@" <"$stream.in" >>"$stream.out" 2>>"$stream.err"',
  "exit $?",
].join("; ");

const streaming = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--replay-user-messages"];

export const claudeHeadless: Provider = {
  ...claudeCode,
  name: "claude-headless",

  launchCommand(profile, options) {
    const plan = claudeCode.launchCommand({ ...profile, command: profile.command ?? ["claude"] }, options);
    const command = withArguments(plan.command, flags(streaming));
    return { ...plan, command: ["sh", "-c", script, "sh", options.sessionId ?? "", ...command] };
  },

  exitWords: null,
  interruptKeys: [],
  dialogs: null,
};

export interface Streams {
  readonly input: string;
  readonly output: string;
}

export const streamsIn = (home: string, sessionId: string): Streams => {
  const stream = join(home, "headless", sessionId);
  return { input: `${stream}.in`, output: `${stream}.out` };
};
