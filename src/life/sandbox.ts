/**
 * Runs an agent's program where it reaches its workspace and nothing of ours. What was asked for is never left out: a
 * sandbox that can not be made is a refusal, not a program without one.
 */
import { lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, relative, sep } from "node:path";
import { TielineError } from "../model/errors.ts";
import type { Profile } from "../model/profile.ts";

export interface SandboxOptions {
  readonly profile: Profile;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | null;
  /** Where `swarm-msg` is. */
  readonly binDirectory: string;
  /** What no sandbox may see: our home, other agents' workspaces. */
  readonly hidden: readonly string[];
  /** Files that the command names, by the path under which it will find them. */
  readonly files?: Readonly<Record<string, string>>;
  readonly system?: readonly string[];
  readonly run?: Run;
}

/** Runs a program to its end; null: there is no such program. */
export type Run = (argv: readonly string[], env: Readonly<Record<string, string>>) => Promise<{ code: number; stderr: string } | null>;

export interface SandboxedLaunch {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | null;
}

/** Where the workspace is for whoever is inside. */
export const insideWorkspace = "/workspace";
const insideBin = "/run/tieline/bin";
/** Read-only, where they are there. The rest of the file system does not exist inside. */
const systemDirectories = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix/store"];
/** Names for name servers lead there on many systems. */
const resolverDirectories = ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"];

/** Ours, or about the terminal outside: nothing that a sandbox should know. */
const ownVariables = ["TIELINE_TOKEN", "TIELINE_HOME"];

/** Everything for `sandbox: none`, `command` and `bwrap`; throws SPAWN_FAILED when it can not be had. */
export async function sandboxedLaunch(options: SandboxOptions): Promise<SandboxedLaunch> {
  const { profile, command, env, cwd } = options;
  if (profile.sandbox === "none") return { command, env, cwd };
  const scrubbed = { ...without(env, ownVariables), TIELINE_SANDBOX: "1" };
  if (profile.sandbox === "command") return { command: [...wrapperOf(profile), ...command], env: scrubbed, cwd };
  return bubblewrapped({ ...options, env: scrubbed });
}

function wrapperOf(profile: Profile): string[] {
  const { sandboxCommand, workspace, source } = profile;
  if (sandboxCommand === null) throw noSandbox(profile, "`sandbox: command` needs a sandboxCommand", `give it a \`sandboxCommand:\` in ${source}`);
  return sandboxCommand.map((word) => word.replaceAll("{workspace}", workspace ?? ""));
}

async function bubblewrapped(options: SandboxOptions): Promise<SandboxedLaunch> {
  const { profile, command, run = runToEnd } = options;
  const workspace = workspaceOf(profile);
  checkWorkspace(profile, workspace, options.hidden);
  const env = { ...options.env, HOME: insideWorkspace, SWARM_WORKSPACE: insideWorkspace, PATH: `${insideBin}:${options.env["PATH"] ?? ""}` };
  const walls = ["bwrap", ...wallsOf(options, workspace)];
  const tried = await run([...walls, "true"], env);
  if (tried === null) throw noSandbox(profile, "bubblewrap is not installed", "install it (`apt install bubblewrap`, `dnf install bubblewrap`), or choose another `sandbox:`");
  if (tried.code !== 0) {
    throw noSandbox(profile, `bubblewrap is not permitted here: ${tried.stderr.trim()}`, "allow unprivileged user namespaces on this machine, or choose another `sandbox:`");
  }
  const kept = [...Object.keys(env), "TERM", "COLORTERM", "LANG", "LC_ALL", "LC_CTYPE", "TZ"];
  return { command: [...keepingOnly(kept), ...walls, ...command], env, cwd: workspace };
}

function wallsOf({ profile, command, cwd, binDirectory, hidden, env, files = {}, system = systemDirectories }: SandboxOptions, workspace: string): string[] {
  const readable = [...system, ...programOf(command, env, system), ...profile.readable, ...(profile.network ? resolverDirectories : [])];
  checkReadable(profile, hidden);
  return [
    ...["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent", "--hostname", "sandbox"],
    ...(profile.network ? [] : ["--unshare-net"]),
    ...readable.flatMap(mounted),
    // What of ours lies inside a mounted directory is covered.
    ...[...hidden, workspace].filter((path) => readable.some((outer) => isWithin(path, outer))).flatMap((path) => ["--tmpfs", path]),
    ...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--dir", "/var/tmp", "--dir", insideBin],
    ...["--ro-bind", `${binDirectory}/swarm-msg`, `${insideBin}/swarm-msg`],
    ...Object.entries(files).flatMap(([inside, outside]) => ["--ro-bind", outside, inside]),
    ...["--bind", workspace, insideWorkspace],
    ...["--chdir", cwd !== null && isWithin(cwd, workspace) ? `${insideWorkspace}/${relative(workspace, cwd)}` : insideWorkspace, "--"],
  ];
}

/** `/bin` is a link to `/usr/bin` on most systems; inside it is the same link. */
function mounted(path: string): string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  return stats.isSymbolicLink() && dirname(path) === "/" ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
}

/** A program outside of the system's directories comes along, with what its name leads to. */
function programOf([program]: readonly string[], env: Readonly<Record<string, string>>, system: readonly string[]): string[] {
  const path = program === undefined ? null : Bun.which(program, { PATH: env["PATH"] ?? "" });
  if (path === null) return [];
  return [...new Set([path, realpathSync(path)])].filter((one) => !system.some((outer) => isWithin(one, outer)));
}

/**
 * Unsets every variable but these, and then runs the rest. Values never stand in an argument list, where everybody on
 * the machine could read them; a line of a value that looks like a variable only unsets one more.
 */
function keepingOnly(names: readonly string[]): string[] {
  const script = `keep=" $1 "; shift
for name in $(env | sed -n 's/^\\([A-Za-z_][A-Za-z0-9_]*\\)=.*/\\1/p'); do
  case $keep in *" $name "*) ;; *) unset "$name" 2>/dev/null || : ;; esac
done
exec "$@"`;
  return ["sh", "-c", script, "sh", names.join(" ")];
}

function workspaceOf(profile: Profile): string {
  if (profile.workspace === null) throw noSandbox(profile, "it has no workspace to work in", `give it a \`workspace:\` in ${profile.origin === "built in" ? "tieline.yaml" : profile.source}`);
  return realpathSync(profile.workspace);
}

function checkWorkspace(profile: Profile, workspace: string, hidden: readonly string[]): void {
  const exposed = hidden.find((path) => isWithin(path, workspace));
  if (exposed === undefined) return;
  throw noSandbox(profile, `its workspace ${workspace} contains ${exposed}, which no sandbox may see`, "give it a directory of its own");
}

function checkReadable(profile: Profile, hidden: readonly string[]): void {
  for (const path of profile.readable) {
    const exposed = hidden.find((one) => isWithin(one, path) || isWithin(path, one));
    if (exposed !== undefined) throw noSandbox(profile, `\`readable: ${path}\` would show ${exposed}`, "name a smaller directory");
  }
}

export function isWithin(path: string, outer: string): boolean {
  const way = relative(outer, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !way.startsWith(sep));
}

/** The path that everything leads to; for what is not there, the path itself. */
export function realPath(path: string): string {
  return statSync(path, { throwIfNoEntry: false }) ? realpathSync(path) : path;
}

function without(env: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}

const runToEnd: Run = async (argv, env) => {
  if (Bun.which(argv[0]!, { PATH: env["PATH"] ?? "" }) === null) return null;
  const child = Bun.spawn([...argv], { env: { ...env }, stdin: "ignore", stdout: "ignore", stderr: "pipe", timeout: 10_000 });
  const [code, stderr] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  return { code, stderr };
};

const noSandbox = (profile: Profile, why: string, remedy: string): TielineError =>
  new TielineError("SPAWN_FAILED", `${profile.name} can not be sandboxed: ${why}`, { remedy, operands: { profile: profile.name, sandbox: profile.sandbox } });
