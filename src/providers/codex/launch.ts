import { existsSync } from "node:fs";
import type { PermissionMode, Profile } from "../../model/profile.ts";
import { readUntrusted, refusalError } from "../../os/untrustedFile.ts";
import { codexFolder } from "./folder.ts";
import { shellWord } from "../../os/shell.ts";
import { flags, numberedChoices, withArguments, type LaunchOptions, type Launching } from "../port.ts";
import { launchHooks, toml } from "./hooks.ts";
import { findRollout } from "./rollout.ts";
import { alonePath, codexServerEndpoint, codexServerOf } from "./threads.ts";

const permissionFlags: Readonly<Record<PermissionMode, readonly string[]>> = {
  ask: ["--ask-for-approval", "on-request"],
  auto: ["--ask-for-approval", "never", "--sandbox", "workspace-write"],
  skip: ["--dangerously-bypass-approvals-and-sandbox"],
};

/** The same for a server, which takes settings only. */
const permissionSettings: Readonly<Record<PermissionMode, Readonly<Record<string, string>>>> = {
  ask: { approval_policy: "on-request" },
  auto: { approval_policy: "never", sandbox_mode: "workspace-write" },
  skip: { approval_policy: "never", sandbox_mode: "danger-full-access" },
};

export const launching: Launching = {
  asks: "--version",
  install: "npm install -g @openai/codex",
  takesSessionId: false,
  resumes: true,

  launchCommand(profile, options) {
    const program = profile.command ?? ["codex"];
    const { ownSocket = null, hooks = null, resume, sessionId, answer = null } = options;
    const hookFlags = hooks === null ? [] : setting("hooks", launchHooks({ ...hooks, answer }));
    const plain = withArguments(program, [...ownFlags(options), ...hookFlags, ...profile.args]);
    if (ownSocket === null || !isCodex(profile)) return { command: plain, env: {} };
    const server = [...program, "app-server", "--listen", `unix://${ownSocket}`, ...serverFlags(options), ...hookFlags];
    // A client that continues a thread at a server may not change its settings.
    const own = resume && sessionId !== null ? ["resume", sessionId] : ownFlags(options);
    const pane = [...program, ...own, "--remote", `unix://${ownSocket}`, ...profile.args];
    return {
      command: ["sh", "-c", besideItsServer(ownSocket, server, pane, plain)],
      program: program[0]!,
      env: {},
      endpoints: [codexServerEndpoint({ socket: ownSocket, hooks: hooks !== null })],
    };
  },

  /** A thread is written down with its first turn; before that there is nothing to resume. */
  async hasConversation(sessionId, env) {
    const path = findRollout(codexFolder(env), sessionId);
    return path !== null && existsSync(path);
  },

  companionOf(agent) {
    const server = codexServerOf(agent);
    // A server that Tieline did not start has no keeper.
    if (server === null || server.shared) return null;
    const file = readUntrusted(keeperPath(server.socket), { maxBytes: 32 });
    if (!file.ok && file.why === "unreadable") throw refusalError(keeperPath(server.socket), file);
    const keeper = file.ok ? Number(file.bytes.toString("utf8")) : Number.NaN;
    return Number.isInteger(keeper) && keeper > 1 ? keeper : null;
  },

  exitWords: "/quit",
  interruptKeys: ["Escape"],
  dialogs: numberedChoices,
};

function ownFlags({ sessionId, resume, prompt, permissions, model }: LaunchOptions): string[] {
  return flags(
    resume && sessionId !== null && ["resume", sessionId],
    permissionFlags[permissions],
    model !== null && ["--model", model],
    prompt && setting("developer_instructions", prompt.text),
  );
}

function serverFlags({ prompt, permissions, model }: LaunchOptions): string[] {
  const permitted = Object.entries(permissionSettings[permissions]).flatMap(([key, value]) => setting(key, value));
  return flags(
    permitted,
    model !== null && setting("model", model),
    prompt && setting("developer_instructions", prompt.text),
  );
}

const setting = (key: string, value: unknown): string[] => ["-c", `${key}=${toml(value)}`];

/** A command of the profile's own may be anything; only Codex itself is known to serve. */
const isCodex = ({ command }: Profile): boolean => command === null || command[0]?.split("/").at(-1) === "codex";

/** Where the process that ends an agent's server with its pane has written its pid, until both have ended. */
export const keeperPath = (socket: string): string => `${socket}.keeper`;

/**
 * Starts the app server beside the program in the pane, and ends it with that, however that ends and whether a daemon
 * runs or not: the program holds a FIFO open from which the server's keeper reads. The server may be behind a launcher,
 * and asked to end it would first finish its turn, so the keeper stops it with all that it runs, each before its
 * children are looked for, and kills them. The next start waits for the keeper, because a thread has one writer at a
 * time. Without a server the program runs alone, and leaves a mark.
 */
function besideItsServer(
  socket: string,
  server: readonly string[],
  pane: readonly string[],
  alone: readonly string[],
): string {
  const words = (command: readonly string[]): string => command.map(shellWord).join(" ");
  return `socket=${shellWord(socket)}
keeper=$(cat ${shellWord(keeperPath(socket))} 2>/dev/null) &&
  for _ in $(seq 100); do kill -0 "$keeper" 2>/dev/null || break; sleep 0.05; done
rm -f "$socket" "$socket.life" "$socket${alonePath}"
alone() { : >"$socket${alonePath}"; exec ${words(alone)}; }
mkfifo -m 600 "$socket.life" || alone
children() {
  if [ -r /proc/self/task ]; then for one; do cat "/proc/$one/task/"*/children 2>/dev/null; done
  else
    ps -A -o ppid= -o pid= |
      while read -r parent child; do case " $* " in *" $parent "*) echo "$child" ;; esac; done
  fi
}
(
  trap '' HUP INT QUIT TERM
  : >"$socket.log"
  (trap - HUP INT QUIT TERM; exec ${words(server)}) </dev/null >>"$socket.log" 2>&1 & server=$!
  read -r _ <"$socket.life"
  exec >/dev/null 2>&1
  all= level=$server
  while [ -n "$level" ]; do kill -STOP $level; all="$all $level"; level=$(echo $(children $level)); done
  kill -KILL $all
  wait $server
  for _ in $(seq 50); do
    left=; for one in $all; do kill -0 "$one" && left=yes; done
    [ -n "$left" ] || break
    sleep 0.02
  done
  rm -f "$socket" ${shellWord(keeperPath(socket))}
) & echo $! >${shellWord(keeperPath(socket))}
exec 9>"$socket.life"
rm -f "$socket.life"
for _ in $(seq 200); do
  [ -S "$socket" ] && exec ${words(pane)}
  sleep 0.05
done
alone`;
}
