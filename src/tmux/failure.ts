import { TielineError } from "../model/errors.ts";

/** "no sessions" is what attaching says after it found no server and started an empty one, which ends at once. */
const noServer = /no server running|no sessions|error connecting to|server exited|lost server/;
const notFound = /can't find (pane|window|session)|no such (pane|window|session)|target pane has exited/;

/** tmux's messages for "nothing listens on this socket": never started, ended, or a file left behind by a crash. */
export function saysNoServer(stderr: string): boolean {
  return noServer.test(stderr);
}

/** A command that tmux refused, with tmux's message. */
export function commandFailed(words: string, command: string): TielineError {
  const text = words.trim() || "no reason given";
  // Bodies and secrets travel as arguments, so an error names the command and nothing that follows it.
  const operands = { command: command.split(" ", 1)[0], tmux: text };
  if (saysNoServer(text)) return tmuxUnavailable(`no tmux server: ${text}`, operands);
  if (notFound.test(text)) {
    return new TielineError("PANE_UNKNOWN", `tmux: ${text}`, {
      remedy: "`tieline ls` shows which panes there are",
      operands,
    });
  }
  return new TielineError("INTERNAL", `tmux refused ${operands.command}: ${text}`, {
    remedy: "`tieline doctor` checks the tmux version; `tieline daemon logs` shows the details",
    operands,
  });
}

/** A server that is there and says nothing: stopped, or stuck. What was known of its panes may still be true. */
export function tmuxSilent(command: string, socketPath: string): TielineError {
  const name = command.split(" ", 1)[0];
  return new TielineError("TMUX_UNAVAILABLE", `the tmux server at ${socketPath} did not answer ${name} in time`, {
    remedy:
      "check whether it is stopped (`ps -o pid,state,args -C tmux`; `kill -CONT PID` continues it); " +
      "`tieline doctor` shows more",
    operands: { socketPath, command: name, silent: true },
  });
}

export const isSilence = (thrown: unknown): boolean =>
  thrown instanceof TielineError && thrown.operands["silent"] === true;

export function tmuxUnavailable(
  message: string,
  operands: Record<string, unknown> = {},
  cause?: unknown,
): TielineError {
  return new TielineError("TMUX_UNAVAILABLE", message, {
    remedy: "start the team again with `tieline up`; `tieline doctor` says more",
    operands,
    cause,
  });
}
