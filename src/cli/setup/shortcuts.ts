import { existsSync } from "node:fs";
import { join } from "node:path";
import { TielineError } from "../../model/errors.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The user's tmux configuration: the first that exists, in tmux's own order, else the first that tmux reads. */
export function tmuxConfig(env: Environment): string {
  const home = homeDirectory(env);
  const places = [join(home, ".tmux.conf"), join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "tmux", "tmux.conf")];
  return places.find((place) => existsSync(place)) ?? places[0]!;
}

/**
 * `TMUX` is taken out, because what opens in the popup is a client of its own. The team is that of the pane's
 * directory.
 */
export function bindings(tieline: string): string[] {
  const program = shellQuoted(tieline);
  return [
    `bind-key G display-popup -E -d "#{pane_current_path}" -w 95% -h 90% ${tmuxQuoted(`env -u TMUX ${program}`)}`,
    `bind-key g display-popup -d "#{pane_current_path}" -w 90% -h 60% ${tmuxQuoted(`${program} ls --all`)}`,
  ];
}

export interface ShellStart {
  readonly file: string;
  readonly lines: readonly string[];
}

export function shellAlias(env: Environment, tieline: string, alias: string): ShellStart {
  const home = homeDirectory(env);
  if (!/^[A-Za-z_][\w-]*$/.test(alias)) {
    throw new TielineError("USAGE", `--alias: ${JSON.stringify(alias)} cannot be an alias`, {
      remedy: "use letters, digits, _ and -: --alias tl",
    });
  }
  const shell = (env["SHELL"] ?? "").split("/").at(-1);
  const lines = [`alias ${alias}=${shellQuoted(shellQuoted(tieline))}`];
  if (shell === "zsh") return { file: join(env["ZDOTDIR"] || home, ".zshrc"), lines };
  if (shell === "fish")
    return { file: join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "fish", "config.fish"), lines };
  return { file: join(home, ".bashrc"), lines };
}

/** Every file that an earlier install may have written to. */
export function shellStarts(env: Environment): string[] {
  return ["bash", "zsh", "fish"].map((shell) => shellAlias({ ...env, SHELL: shell }, "tieline", "tl").file);
}

function homeDirectory(env: Environment): string {
  const home = env["HOME"];
  if (home) return home;
  throw new TielineError("USAGE", "HOME is not set, so there is no place for shortcuts", {
    remedy: "set HOME to your home directory",
  });
}

const shellQuoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
const tmuxQuoted = (text: string): string => `"${text.replaceAll(/[\\"$]/g, (char) => `\\${char}`)}"`;
