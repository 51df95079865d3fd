type Environment = Readonly<Record<string, string | undefined>>;

/** Where tmux puts the socket of `-L name`; a path stays a path. */
export function tmuxSocketNamed(name: string, env: Environment, uid: number = process.getuid?.() ?? 0): string {
  return name.startsWith("/") ? name : `${env["TMUX_TMPDIR"] || "/tmp"}/tmux-${uid}/${name}`;
}

/** The tmux server that a caller means: the one it names, else the one it sits in, else the default one. */
export function tmuxServerOf(env: Environment): string {
  const named = env["TIELINE_TMUX_SOCKET"];
  if (named) return tmuxSocketNamed(named, env);
  return env["TMUX"]?.split(",", 1)[0] || tmuxSocketNamed("default", env);
}
