import { TielineError } from "../model/errors.ts";

/** Where one Tieline keeps everything. TIELINE_HOME moves it. */
export interface Home {
  readonly root: string;
  readonly socket: string;
  /** Where programs of agents listen, a socket each, named by the agent's id. */
  readonly sockets: string;
  readonly config: string;
  readonly mailbox: string;
  readonly events: string;
  /** Copies of the mailbox. */
  readonly backups: string;
  readonly log: string;
  /** Keys, signed-in browsers and preferences of the dashboard. */
  readonly page: string;
  /** The loopback port that the daemon is at, or was at last. */
  readonly portFile: string;
  /** The daemon's process: its pid, and the mark of its start. */
  readonly pidFile: string;
  /** The user's own token, mode 0600. */
  readonly userToken: string;
  /** The user's profiles. */
  readonly agents: string;
  /** The user's own screen rules, a file per provider. */
  readonly screens: string;
}

/** The kernel cuts longer socket paths off (104 bytes on macOS, 108 on Linux). */
const maxSocketPath = 100;
const longestSocketName = "00000000-0000-0000-0000-000000000000.sock";

/** Every command asks this first, so it loads no module: node:crypto alone costs more than a whole `tieline send`. */
export function homeOf(env: Readonly<Record<string, string | undefined>>): Home {
  const root = rootOf(env);
  return {
    root,
    socket: `${roomForSockets(root, root, "daemon.sock")}/daemon.sock`,
    sockets: roomForSockets(root, `${root}/sockets`, longestSocketName),
    config: `${root}/config.json`,
    mailbox: `${root}/mailbox.db`,
    events: `${root}/events.db`,
    backups: `${root}/backups`,
    log: `${root}/daemon.log`,
    page: `${root}/page`,
    portFile: `${root}/port`,
    pidFile: `${root}/daemon.pid`,
    userToken: `${root}/user.token`,
    agents: `${root}/agents`,
    screens: `${root}/screens`,
  };
}

export function rootOf(env: Readonly<Record<string, string | undefined>>): string {
  return absolute(env["TIELINE_HOME"] || `${env["HOME"] || homedir()}/.tieline`);
}

/**
 * The wished directory in the home, or, when a socket's path would be too long there, a private one with a name made
 * from the home: always the same one, whatever TMPDIR or XDG_RUNTIME_DIR a caller happens to have.
 */
function roomForSockets(root: string, wished: string, name: string): string {
  if (Buffer.byteLength(wished) + 1 + name.length <= maxSocketPath) return wished;
  return ours(`/tmp/tieline-${process.getuid?.() ?? 0}-${digestOf(root).slice(0, 16)}`);
}

function digestOf(text: string): string {
  if ("bun" in process.versions) return new Bun.CryptoHasher("sha256").update(text).digest("hex");
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(text).digest("hex");
}

/** Another user may create a directory in /tmp first, and would receive the user's token there. */
function ours(directory: string): string {
  const found = process.getBuiltinModule("node:fs").lstatSync(directory, { throwIfNoEntry: false });
  if (!found || (found.isDirectory() && found.uid === (process.getuid?.() ?? found.uid) && (found.mode & 0o077) === 0))
    return directory;
  throw new TielineError("DAEMON_UNAVAILABLE", `${directory} is not a private directory of yours`, {
    remedy: "remove it, or set TIELINE_HOME to a shorter path, in which the sockets then are",
    operands: { directory },
  });
}

function absolute(path: string): string {
  const rooted = path.startsWith("/") ? path : `${process.cwd()}/${path}`;
  return rooted.length > 1 ? rooted.replace(/\/+$/, "") : rooted;
}

function homedir(): string {
  return process.getBuiltinModule("node:os").homedir();
}
