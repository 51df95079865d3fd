/** What a sandboxed agent reaches over the network, and what makes it so. */
import { lstatSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { isIP } from "node:net";
import { dirname, resolve } from "node:path";
import type { Profile } from "../../../model/profile.ts";
import { shellWord } from "../../../os/shell.ts";

/** Where a sandbox with `network: internet` asks for names; pasta passes that on to the resolver of this machine. */
const forwarders = { 4: "169.254.1.1", 6: "fd74:6965:6c69::53" } as const;

/** The programs that `network: internet` needs, and the packages that they are in. */
export const networkPrograms: Readonly<Record<string, string>> = {
  pasta: "passt",
  unshare: "util-linux",
  setsid: "util-linux",
};

/**
 * pasta, for a network namespace that is there. Nothing is forwarded to or from this machine's loopback but the ports
 * that the profile names, and the gateway's address is not this machine's. Root stays root: as another user it could
 * not enter.
 */
function pasta({ hostPorts }: Pick<Profile, "hostPorts">, uid: number): string[] {
  const ports = hostPorts.length === 0 ? "none" : hostPorts.join(",");
  return [
    ...["pasta", "--quiet", "--config-net", "--no-map-gw"],
    ...["--tcp-ports", "none", "--udp-ports", "none", "--tcp-ns", ports, "--udp-ns", "none"],
    ...Object.values(forwarders).flatMap((address) => ["--dns-forward", address]),
    ...(uid === 0 ? ["--runas", "0:0"] : []),
  ];
}

/**
 * Runs what follows in a network namespace of its own that pasta connects. `place` is what the name of a directory for
 * this start begins with: the one before may still be ending.
 *
 * The process that becomes the agent makes the namespaces and waits; a keeper beside it, in a session of its own,
 * attaches pasta to it, says `go`, and ends pasta when the last process of the sandbox has closed descriptor 9,
 * however that ended.
 */
export function withInternet(place: string, profile: Pick<Profile, "hostPorts">, uid: number): string[] {
  const keeper = `exec 7<"$1/alive" 8<>"$1/go"
read -r up <"$1/up"
if ${pasta(profile, uid).map(shellWord).join(" ")} --pid "$1/pid" "$2"; then echo go >&8; else echo no >&8; fi
read -r over <&7
[ ! -f "$1/pid" ] || kill "$(cat "$1/pid")"
rm -rf "$1"`;
  const inside = `echo up >"$1/up"
read -r go <"$1/go"
[ "$go" = go ] || { cat "$1/log" >&2; exit 1; }
shift
exec "$@"`;
  const script = `place=$(mktemp -d "$1.XXXXXX") || exit 1; shift
mkfifo -m 600 "$place/up" "$place/go" "$place/alive" || exit 1
setsid sh -c ${shellWord(keeper)} keeper "$place" $$ </dev/null >"$place/log" 2>&1 &
exec 9>"$place/alive"
exec unshare --user --map-current-user --net -- sh -c ${shellWord(inside)} sh "$place" "$@"`;
  return ["sh", "-c", script, "sh", place];
}

/** Kept open by the sandbox, so that its end is seen. */
export const aliveDescriptor = 9;

/** The file by which programs find their resolver, without the links that may lead to it. */
export function resolverFile(path = "/etc/resolv.conf"): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats?.isSymbolicLink()) return path;
  try {
    return realpathSync(path);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ENOENT") throw thrown;
    return resolve(dirname(path), readlinkSync(path));
  }
}

/**
 * What that file says inside: the forwarders for the kinds of addresses that this machine's resolvers have, and its
 * search list.
 */
export function resolverText(path = "/etc/resolv.conf"): string {
  const lines = readFileSync(path, "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  const kinds = new Set(
    lines.flatMap(([key, address = ""]) => (key === "nameserver" ? [isIP(address.split("%")[0]!)] : [])),
  );
  const servers = ([4, 6] as const).filter((kind) => kinds.has(kind)).map((kind) => `nameserver ${forwarders[kind]}`);
  const kept = lines
    .filter(([key]) => key === "search" || key === "domain" || key === "options")
    .map((words) => words.join(" "));
  return [...(servers.length > 0 ? servers : [`nameserver ${forwarders[4]}`]), ...kept, ""].join("\n");
}
