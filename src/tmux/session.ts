import { asTielineError, TielineError } from "../model/errors.ts";
import { quote } from "./quote.ts";
import type { TmuxServer } from "./server.ts";

/** The one way from a name to a session or window name: `feat/auth-fix` → `feat-auth-fix`. */
export function sessionName(name: string): string {
  // `.` and `:` separate the parts of a target; the rest would need quoting wherever a user types it.
  const safe = name.replace(/[^\p{L}\p{N}_-]+/gu, "-").replace(/^-+|-+$/g, "");
  if (safe) return safe;
  throw new TielineError("NAME_INVALID", `"${name}" has no characters that a tmux session name may have`, {
    remedy: "use letters, digits, - or _",
    operands: { name },
  });
}

/**
 * A target that matches this session and no other: without `=`, tmux takes `ana` for `ana-2`; without `:`, for a pane.
 */
export function exactSession(name: string): string {
  return `=${name}:`;
}

export interface Launch {
  /** Program and arguments, run without a shell; none: the user's shell. */
  command?: readonly string[];
  cwd?: string;
  /** May hold secrets: it travels over the control channel or a pipe, never as an argument of a process. */
  env?: Readonly<Record<string, string>>;
  /** The pane stays when its program exits, so that its last lines and its exit code can be read. */
  keepsDead?: boolean;
}

export interface NewSession extends Launch {
  name: string;
  /** Name of its first window. */
  window: string;
  width?: number;
  height?: number;
}

export interface NewWindow extends Launch {
  session: string;
  name: string;
  /** Brings the window to the front of its session; by default it opens behind. */
  select?: boolean;
}

export interface PanePlace {
  sessionId: string;
  windowId: string;
  pane: string;
  panePid: number;
}

export async function hasSession(server: TmuxServer, name: string): Promise<boolean> {
  if (!(await server.alive())) return false;
  const names = await server.read([["list-sessions", "-F", "#{session_name}"]]);
  return names.includes(name);
}

/** Makes the session unless it is there. `place` is its first pane when it was made by this call. */
export async function ensureSession(server: TmuxServer, session: NewSession): Promise<EnsuredSession> {
  if (await hasSession(server, session.name)) return { created: false };
  try {
    return await createSession(server, session);
  } catch (thrown) {
    // Another process created it meanwhile.
    if (await hasSession(server, session.name)) return { created: false };
    throw thrown;
  }
}

export type EnsuredSession = { created: false } | { created: true; place: PanePlace };

async function createSession(server: TmuxServer, session: NewSession): Promise<EnsuredSession> {
  const { name, window, width = 200, height = 50 } = session;
  const size = ["-x", String(width), "-y", String(height)];
  const argv = ["new-session", "-d", "-P", "-F", placeFormat, "-s", name, "-n", window, ...size];
  // Where the user's tmux.conf sets `destroy-unattached`, a session without a client would end at once.
  const keep = ["set-option", "-t", exactSession(name), "destroy-unattached", "off"];
  if (await server.alive()) {
    return {
      created: true,
      place: parsePlace(
        await server.rearrange([
          [...argv, ...launchArguments(session)],
          ...keepDead(session, exactSession(name)),
          keep,
        ]),
      ),
    };
  }
  // The arguments of the process that starts the server can be read by other users, so its first pane starts bare and
  // is given program and environment afterwards.
  const bare = parsePlace(await server.startServer([...argv, ...directory(session), ";", ...keep]));
  if (!session.command && !session.env) return { created: true, place: bare };
  return { created: true, place: await respawn(server, bare.pane, session) };
}

export async function newWindow(server: TmuxServer, window: NewWindow): Promise<PanePlace> {
  // At the end of the session, so that the commands of one list can name it before its id is known.
  const last = `${exactSession(window.session)}{end}`;
  const argv = ["new-window", "-a", "-P", "-F", placeFormat, "-t", last, "-n", window.name];
  if (!window.select) argv.push("-d");
  return parsePlace(await server.rearrange([[...argv, ...launchArguments(window)], ...keepDead(window, last)]));
}

/** A window with the user's shell, unless the session has one of that name. */
export async function ensureWindow(
  server: TmuxServer,
  session: string,
  window: Launch & { name: string },
): Promise<void> {
  const names = await server.read([["list-windows", "-t", exactSession(session), "-F", "#{window_name}"]]);
  if (!names.includes(window.name)) await newWindow(server, { session, ...window });
}

/** Ends what runs in the pane, if anything does, and starts again in its place. */
export async function respawn(server: TmuxServer, pane: string, launch: Launch): Promise<PanePlace> {
  return parsePlace(
    await server.run([
      ...keepDead(launch, pane),
      ["respawn-pane", "-k", "-t", pane, ...launchArguments(launch)],
      ["display-message", "-p", "-t", pane, placeFormat],
    ]),
  );
}

export async function killPane(server: TmuxServer, pane: string): Promise<void> {
  await server.rearrange([["kill-pane", "-t", pane]]);
}

/**
 * Kills the pane if it is still the one that was meant: ids restart with every server. False: it is not there any
 * more.
 */
export async function killPaneOf(
  server: TmuxServer,
  { pane, panePid, serverPid }: { pane: string; panePid: number; serverPid: number },
): Promise<boolean> {
  const same = `#{==:#{pid} #{pane_pid},${serverPid} ${panePid}}`;
  let known = false;
  try {
    known = (await server.run([["display-message", "-p", "-t", pane, same]]))[0] === "1";
    if (known) await server.rearrange(`if -F -t ${pane} ${quote(same)} { kill-pane -t ${pane} }`);
  } catch (thrown) {
    // With its last pane a session ends, with its last session the server, and with either the connection.
    if (!["PANE_UNKNOWN", "TMUX_UNAVAILABLE"].includes(asTielineError(thrown).code)) throw thrown;
  }
  return known;
}

export async function renameWindow(server: TmuxServer, windowId: string, name: string): Promise<void> {
  await server.run([["rename-window", "-t", windowId, name]]);
}

/** For windows and panes that the session opens from now on. */
export async function setEnvironment(
  server: TmuxServer,
  session: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const list = Object.entries(env).map(([key, value]) => ["set-environment", "-t", exactSession(session), key, value]);
  if (list.length > 0) await server.run(list);
}

/** The session of the pane that a caller sits in (its `TMUX_PANE`). */
export async function currentSession(server: TmuxServer, pane: string): Promise<string> {
  const [id, ...name] = await server.read([["display-message", "-p", "-t", pane, "#{pane_id}\n#{session_name}"]]);
  if (id === pane) return name.join("\n");
  throw new TielineError("PANE_UNKNOWN", `no pane ${pane} on this tmux server`, {
    remedy: "name the session with --team",
    operands: { pane },
  });
}

const placeFormat = "#{session_id} #{window_id} #{pane_id} #{pane_pid}";

function parsePlace([line = ""]: string[]): PanePlace {
  const [sessionId = "", windowId = "", pane = "", panePid] = line.split(" ");
  return { sessionId, windowId, pane, panePid: Number(panePid) };
}

function launchArguments(launch: Launch): string[] {
  const env = Object.entries(launch.env ?? {}).flatMap(([key, value]) => ["-e", `${key}=${value}`]);
  return [...directory(launch), ...env, ...program(launch)];
}

/** In the list that starts the program: tmux learns of its end only after the whole list, however soon that is. */
const keepDead = ({ keepsDead = false }: Launch, target: string): string[][] =>
  keepsDead ? [["set-option", "-p", "-t", target, "remain-on-exit", "on"]] : [];

/** From now on the pane closes with its program, as all others do. */
export async function closeWithProgram(server: TmuxServer, pane: string): Promise<void> {
  await server.run([["set-option", "-p", "-u", "-t", pane, "remain-on-exit"]]);
}

function directory({ cwd }: Launch): string[] {
  // tmux expands formats in the directory; `##` is a plain `#`.
  return cwd === undefined ? [] : ["-c", cwd.replaceAll("#", "##")];
}

function program({ command = [] }: Launch): string[] {
  // tmux hands a command of one word to a shell; `env` makes it two and then becomes the program.
  if (command.length === 1) return ["--", "env", ...command];
  return command.length === 0 ? [] : ["--", ...command];
}
