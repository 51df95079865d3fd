/**
 * Runs an agent's program where it reaches its workspace and nothing of ours. What was asked for is never left out: a
 * sandbox that cannot be made is a refusal, not a program without one.
 */
import { lstatSync, mkdirSync, readdirSync, readlinkSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { TielineError } from "../../../model/errors.ts";
import type { Profile } from "../../../model/profile.ts";
import { installAdvice } from "../../../os/installAdvice.ts";
import { isWithin } from "../../../os/paths.ts";
import { thisUser } from "../../../os/untrustedFile.ts";
import { aliveDescriptor, networkPrograms, resolverFile, resolverText, withInternet } from "./network.ts";
import { hooksOf, linksIn, pinnedIn, readOnlyIn } from "./readOnly.ts";
import { terminalFilter } from "./seccomp.ts";

export interface SandboxOptions {
  readonly profile: Profile;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | null;
  /** Variables of programs outside, by which git finds the configuration of the user. */
  readonly userEnv?: Readonly<Record<string, string>>;
  /** Where `swarm-msg` is. */
  readonly binDirectory: string;
  /** Our home: no sandbox may see it. */
  readonly home: string;
  /** A directory in it for what this sandbox needs. */
  readonly place: string;
  /** Hidden unless `readable:` names them. */
  readonly otherWorkspaces: readonly string[];
  /** Sockets and keys of the user, hidden wherever they are. */
  readonly secrets: readonly string[];
  /** Files that say what is started outside: read-only, where they are in the workspace. */
  readonly decisive: readonly string[];
  /** Directories of such files: made where they are missing in the workspace, and read-only. */
  readonly decisiveDirectories: readonly string[];
  /** Files that the command names, by the path under which it will find them. */
  readonly files?: Readonly<Record<string, string>>;
  readonly system?: readonly string[];
  readonly uid?: number;
  readonly run?: Run;
  readonly isThere?: (program: string) => boolean;
}

/** Runs a program to its end; null: there is no such program. */
export type Run = (
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
) => Promise<{ code: number; stderr: string } | null>;

export interface SandboxedLaunch {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | null;
}

/** Where the workspace is for the program inside. */
export const insideWorkspace = "/workspace";
const insideBin = "/run/tieline/bin";
/** Read-only, where they are there. The rest of the file system does not exist inside. */
const systemDirectories = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/etc",
  "/opt",
  "/nix/store",
];
/** The configuration of name servers is a link to there on many systems. */
const resolverDirectories = ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"];
/** Root may write these without any capability, and they hold for the whole machine. */
const kernelSettings = ["sys", "sysrq-trigger", "fs", "irq", "bus", "acpi", "scsi", "mtrr"].map(
  (name) => `/proc/${name}`,
);
const filterDescriptor = 8;

/** Ours, or about the terminal outside: nothing that a sandbox should know. */
const ownVariables = ["TIELINE_TOKEN", "TIELINE_HOME"];

/** Everything for `sandbox: none`, `command` and `bwrap`; throws SPAWN_FAILED when it cannot be had. */
export async function sandboxedLaunch(options: SandboxOptions): Promise<SandboxedLaunch> {
  const { profile, command, env, cwd } = options;
  if (profile.sandbox === "none") return { command, env, cwd };
  const scrubbed = { ...without(env, ownVariables), TIELINE_SANDBOX: "1" };
  if (profile.sandbox === "command") return { command: [...wrapperOf(profile), ...command], env: scrubbed, cwd };
  return bubblewrapped({ ...options, env: scrubbed });
}

function wrapperOf(profile: Profile): string[] {
  const { sandboxCommand, workspace, source } = profile;
  if (sandboxCommand === null)
    throw noSandbox(profile, "`sandbox: command` needs a sandboxCommand", `give it a \`sandboxCommand:\` in ${source}`);
  return sandboxCommand.map((word) => word.replaceAll("{workspace}", workspace ?? ""));
}

async function bubblewrapped(given: SandboxOptions): Promise<SandboxedLaunch> {
  const workspace = workspaceOf(given.profile);
  const options = await withHooks(given, workspace);
  const { profile, command, place, uid = thisUser(), run = runToEnd } = options;
  const env = {
    ...options.env,
    HOME: insideWorkspace,
    SWARM_WORKSPACE: insideWorkspace,
    PATH: `${insideBin}:${options.env["PATH"] ?? ""}`,
  };
  checkWorkspace(options, workspace);
  checkPrograms({ ...options, env });
  mkdirSync(place, { recursive: true, mode: 0o700 });
  // A directory of profiles that is not there cannot be kept as it is: the agent would make it.
  for (const directory of options.decisiveDirectories)
    if (isWithin(directory, workspace)) mkdirSync(directory, { recursive: true });
  const kept = [...Object.keys(env), "TERM", "COLORTERM", "LANG", "LC_ALL", "LC_CTYPE", "TZ"];
  const filter = writeFilter(place);
  const bwrap = [
    "bwrap",
    ...(filter === null ? ["--new-session"] : ["--seccomp", String(filterDescriptor)]),
    ...wallsOf(options, workspace),
  ];
  const inside = (name: string): string[] => [
    ...keepingOnly(kept, filter),
    ...(profile.network === "internet" ? withInternet(join(place, name), profile, uid) : []),
    ...bwrap,
  ];
  const tried = await run([...inside("trial"), "true"], env);
  if (tried === null || tried.code !== 0) throw notPermitted(profile, tried?.stderr.trim() ?? "it cannot be run");
  return { command: [...inside("network"), ...command], env, cwd: workspace };
}

async function withHooks(options: SandboxOptions, workspace: string): Promise<SandboxOptions> {
  const hooks = await hooksOf(workspace, options.userEnv ?? {});
  // Those in .git are read-only with it.
  if (hooks === null || isWithin(hooks.directory, join(workspace, ".git"))) return options;
  return {
    ...options,
    decisive: [...options.decisive, ...hooks.links],
    decisiveDirectories: [...options.decisiveDirectories, hooks.directory],
  };
}

function wallsOf(options: SandboxOptions, workspace: string): string[] {
  const {
    profile,
    command,
    cwd,
    binDirectory,
    otherWorkspaces,
    secrets,
    env,
    place,
    files = {},
    system = systemDirectories,
    uid = thisUser(),
  } = options;
  const { network } = profile;
  const readable = [
    ...system,
    ...programOf(command, env, system),
    ...profile.readable,
    ...(network === "host" ? resolverDirectories : []),
  ];
  const readOnly = readOnlyIn(workspace, decisiveOf(options));
  const isNamed = (other: string): boolean => profile.readable.some((path) => isWithin(path, other));
  const hidden = [
    ...otherWorkspaces.filter((other) => !isNamed(other)),
    ...secrets,
    ...(uid === 0 ? unreadableByOthers("/etc") : []),
  ];
  return [
    ...[
      "--unshare-user",
      "--unshare-pid",
      "--unshare-ipc",
      "--unshare-uts",
      "--unshare-cgroup-try",
      "--die-with-parent",
      "--hostname",
      "sandbox",
    ],
    ...["--cap-drop", "ALL"],
    ...(network === "none" ? ["--unshare-net"] : []),
    ...(network === "internet" ? ["--sync-fd", String(aliveDescriptor)] : []),
    ...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--dir", "/var/tmp", "--dir", insideBin],
    ...kernelSettings.flatMap(mounted),
    ...readable.flatMap(mounted),
    // What must not be seen and lies inside a mounted directory is covered.
    ...[...hidden, workspace]
      .filter((path) => readable.some((outer) => isWithin(path, outer)))
      .flatMap((path) => covered(path, path)),
    ...["--ro-bind", `${binDirectory}/swarm-msg`, `${insideBin}/swarm-msg`],
    ...(network === "internet" ? ["--ro-bind", writeResolver(place), resolverFile()] : []),
    ...Object.entries(files).flatMap(([inside, outside]) => ["--ro-bind", outside, inside]),
    ...["--bind", workspace, insideWorkspace],
    ...pinnedIn(workspace, readOnly).flatMap((path) => ["--bind", path, insideOf(path, workspace)]),
    ...readOnly.flatMap((path) => ["--ro-bind", path, insideOf(path, workspace)]),
    ...hidden.filter((path) => isWithin(path, workspace)).flatMap((path) => covered(path, insideOf(path, workspace))),
    ...["--chdir", cwd !== null && isWithin(cwd, workspace) ? insideOf(cwd, workspace) : insideWorkspace, "--"],
  ];
}

const insideOf = (path: string, workspace: string): string => join(insideWorkspace, relative(workspace, path));

/** `/bin` is a link to `/usr/bin` on most systems; inside it is the same link. */
function mounted(path: string): string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  return stats.isSymbolicLink() && dirname(path) === "/"
    ? ["--symlink", readlinkSync(path), path]
    : ["--ro-bind", path, path];
}

function covered(path: string, inside: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  return stats.isDirectory() ? ["--tmpfs", inside] : ["--ro-bind", "/dev/null", inside];
}

/** Root without capabilities still owns its files: what only root may read stays out of a sandbox that root starts. */
function unreadableByOthers(directory: string, depth = 3): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isFile() && !entry.isDirectory()) return [];
    const path = join(directory, entry.name);
    const { mode } = lstatSync(path);
    if ((mode & 0o004) === 0) return [path];
    return entry.isDirectory() && depth > 1 ? unreadableByOthers(path, depth - 1) : [];
  });
}

/** A program outside of the system's directories comes along, with what its name leads to. */
function programOf(
  [program]: readonly string[],
  env: Readonly<Record<string, string>>,
  system: readonly string[],
): string[] {
  const path = program === undefined ? null : Bun.which(program, { PATH: env["PATH"] ?? "" });
  if (path === null) return [];
  return [...new Set([path, realpathSync(path)])].filter((one) => !system.some((outer) => isWithin(one, outer)));
}

/**
 * Unsets every variable but these, opens the filter for bubblewrap, and then runs the rest. Values never stand in an
 * argument list, which every user on the machine could read; a line of a value that looks like a variable only unsets
 * one more.
 */
function keepingOnly(names: readonly string[], filter: string | null): string[] {
  const script = `keep=" $1 "; filter=$2; shift 2
for name in $(env | sed -n 's/^\\([A-Za-z_][A-Za-z0-9_]*\\)=.*/\\1/p'); do
  case $keep in *" $name "*) ;; *) unset "$name" 2>/dev/null || : ;; esac
done
[ -z "$filter" ] || exec ${filterDescriptor}<"$filter"
exec "$@"`;
  return ["sh", "-c", script, "sh", names.join(" "), filter ?? ""];
}

/** null: for this machine there is none, and a session of its own has to do. */
function writeFilter(place: string): string | null {
  const filter = terminalFilter();
  if (filter === null) return null;
  const file = join(place, "calls.bpf");
  writeFileSync(file, filter, { mode: 0o600 });
  return file;
}

function writeResolver(place: string): string {
  const file = join(place, "resolv.conf");
  writeFileSync(file, resolverText(), { mode: 0o644 });
  return file;
}

function workspaceOf(profile: Profile): string {
  if (profile.workspace === null)
    throw noSandbox(
      profile,
      "it has no workspace to work in",
      `give it a \`workspace:\` in ${profile.origin === "built in" ? "tieline.yaml" : profile.source}`,
    );
  return realpathSync(profile.workspace);
}

const decisiveOf = ({ decisive, decisiveDirectories }: SandboxOptions): string[] => [
  ...decisive,
  ...decisiveDirectories,
];

function checkWorkspace(options: SandboxOptions, workspace: string): void {
  const { profile, home } = options;
  if (isWithin(home, workspace))
    throw noSandbox(
      profile,
      `its workspace ${workspace} contains ${home}, which no sandbox may see`,
      "give it a directory of its own",
    );
  const exposing = profile.readable.find((path) => isWithin(home, path) || isWithin(path, home));
  if (exposing !== undefined)
    throw noSandbox(profile, `\`readable: ${exposing}\` would show ${home}`, "name a smaller directory");
  const [link] = linksIn(workspace, decisiveOf(options));
  if (link !== undefined)
    throw noSandbox(
      profile,
      `${link} is a link, which cannot be kept read-only inside`,
      "put the file or directory itself there, or give the agent a workspace without it",
    );
}

function checkPrograms({
  profile,
  env,
  isThere = (program) => Bun.which(program, { PATH: env["PATH"] ?? "" }) !== null,
}: SandboxOptions): void {
  if (!isThere("bwrap"))
    throw noSandbox(
      profile,
      "bubblewrap is not installed",
      `${installAdvice("bubblewrap", isThere)}, or choose another \`sandbox:\``,
    );
  if (profile.network !== "internet") return;
  const missing = Object.entries(networkPrograms).find(([program]) => !isThere(program));
  if (missing === undefined) return;
  const [program, pack] = missing;
  throw noSandbox(
    profile,
    `\`network: internet\` needs ${program}, which is not installed`,
    `${installAdvice(pack, isThere)}; or say \`network: none\`, or \`network: host\` to share the network of ` +
      "this machine",
  );
}

function without(env: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}

const runToEnd: Run = async (argv, env) => {
  if (Bun.which(argv[0]!, { PATH: env["PATH"] ?? "" }) === null) return null;
  const child = Bun.spawn([...argv], {
    env: { ...env },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    timeout: 10_000,
  });
  const [code, stderr] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  return { code, stderr };
};

function notPermitted(profile: Profile, said: string): TielineError {
  if (/external.*interface/i.test(said)) {
    return noSandbox(profile, `this machine has no route to a network: ${said}`, "connect it, or say `network: none`");
  }
  return noSandbox(
    profile,
    `bubblewrap or its network is not permitted here: ${said}`,
    "allow unprivileged user namespaces on this machine, or choose another `sandbox:` or `network:`",
  );
}

const noSandbox = (profile: Profile, why: string, remedy: string): TielineError =>
  new TielineError("SPAWN_FAILED", `${profile.name} cannot be sandboxed: ${why}`, {
    remedy,
    operands: { profile: profile.name, sandbox: profile.sandbox, network: profile.network },
  });
