import { createHash } from "node:crypto";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

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
}

/** The kernel cuts longer socket paths off (104 bytes on macOS, 108 on Linux). */
const maxSocketPath = 100;

export function homeOf(env: Readonly<Record<string, string | undefined>>): Home {
  const root = env["TIELINE_HOME"] || join(env["HOME"] || homedir(), ".tieline");
  return {
    root,
    socket: socketIn(root, env["XDG_RUNTIME_DIR"]),
    config: join(root, "config.json"),
    mailbox: join(root, "mailbox.db"),
    events: join(root, "events.db"),
    log: join(root, "daemon.log"),
    personToken: join(root, "user.token"),
    agents: join(root, "agents"),
  };
}

/** In the home, or, when that path is too long for a socket, in a private directory with a name made from it. */
function socketIn(root: string, runtimeDir: string | undefined): string {
  const socket = join(root, "daemon.sock");
  if (Buffer.byteLength(socket) <= maxSocketPath) return socket;
  const digest = createHash("sha256").update(root).digest("hex").slice(0, 16);
  return join(runtimeDir || tmpdir(), `tieline-${process.getuid?.() ?? 0}-${digest}`, "daemon.sock");
}
