import { TielineError } from "../model/errors.ts";

export interface TmuxVersion {
  /** As tmux prints it: `3.3a`, `next-3.7`, `master`. */
  text: string;
  major: number;
  minor: number;
}

const minimum = { major: 3, minor: 2 };

/** Versions without a number (`master`, `openbsd-7.6`) are builds newer than any that we refuse. */
export function parseVersion(printed: string): TmuxVersion {
  const text = printed.trim().replace(/^tmux /, "");
  const match = /^(?:next-)?(\d+)\.(\d+)/.exec(text);
  if (!match) return { text, major: Number.POSITIVE_INFINITY, minor: 0 };
  return { text, major: Number(match[1]), minor: Number(match[2]) };
}

export function requireVersion(version: TmuxVersion): TmuxVersion {
  const { major, minor } = version;
  if (major > minimum.major || (major === minimum.major && minor >= minimum.minor)) return version;
  throw new TielineError("TMUX_UNAVAILABLE", `tmux ${version.text} is too old: 3.2 or newer is needed`, {
    remedy: `upgrade it: ${installCommand}`,
    operands: { version: version.text },
  });
}

export function tmuxMissing(program: string, cause: unknown): TielineError {
  return new TielineError("TMUX_UNAVAILABLE", `${program} is not installed or not on the PATH`, {
    remedy: `install it: ${installCommand}`,
    operands: { program },
    cause,
  });
}

const installCommand = "`sudo apt-get install tmux` on Debian and Ubuntu, `brew install tmux` on macOS";
