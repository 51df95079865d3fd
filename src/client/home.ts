/** Where one Tieline keeps everything. TIELINE_HOME moves all of it. */
export interface Home {
  readonly root: string;
  readonly socket: string;
  readonly config: string;
  readonly mailbox: string;
  readonly events: string;
  readonly log: string;
  /** The person's own token, mode 0600. */
  readonly personToken: string;
  /** The person's profiles. */
  readonly agents: string;
  /** The person's own screen rules, a file per provider. */
  readonly screens: string;
}

/** The kernel cuts longer socket paths off (104 bytes on macOS, 108 on Linux). */
const maxSocketPath = 100;

/** Every command asks this first, so it loads no module: node:crypto alone costs more than a whole `tieline send`. */
export function homeOf(env: Readonly<Record<string, string | undefined>>): Home {
  const root = rootOf(env);
  return {
    root,
    socket: socketIn(root),
    config: `${root}/config.json`,
    mailbox: `${root}/mailbox.db`,
    events: `${root}/events.db`,
    log: `${root}/daemon.log`,
    personToken: `${root}/user.token`,
    agents: `${root}/agents`,
    screens: `${root}/screens`,
  };
}

export function rootOf(env: Readonly<Record<string, string | undefined>>): string {
  return absolute(env["TIELINE_HOME"] || `${env["HOME"] || homedir()}/.tieline`);
}

/**
 * In the home, or, when that path is too long for a socket, in a private directory with a name made from it: always
 * the same one, whatever TMPDIR or XDG_RUNTIME_DIR a caller happens to have.
 */
function socketIn(root: string): string {
  const socket = `${root}/daemon.sock`;
  if (Buffer.byteLength(socket) <= maxSocketPath) return socket;
  const digest = new Bun.CryptoHasher("sha256").update(root).digest("hex").slice(0, 16);
  return `/tmp/tieline-${process.getuid?.() ?? 0}-${digest}/daemon.sock`;
}

function absolute(path: string): string {
  const rooted = path.startsWith("/") ? path : `${process.cwd()}/${path}`;
  return rooted.length > 1 ? rooted.replace(/\/+$/, "") : rooted;
}

function homedir(): string {
  return process.getBuiltinModule("node:os").homedir();
}
