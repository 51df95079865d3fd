import type { Caller } from "../api/schema.ts";
import { tmuxServerOf } from "./tmuxSocket.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Set only by agent programs, for the processes that they start. */
const agentVariables = [
  "CLAUDECODE",
  "CLAUDE_CODE_SESSION_ID",
  "CLAUDE_CODE_ENTRYPOINT",
  "CODEX_THREAD_ID",
  "CODEX_SANDBOX",
  "CODEX_SANDBOX_NETWORK_DISABLED",
  "GEMINI_CLI",
  "OPENCODE",
] as const;

export interface CallerFacts {
  readonly pid: number;
  readonly cwd: string;
  readonly team: string | undefined;
  readonly userToken: string | undefined;
}

/** What a process can say about itself. Who it is, the daemon decides. */
export function callerIn(env: Environment, { pid, cwd, team = env["TIELINE_TEAM"], userToken }: CallerFacts): Caller {
  return compact({
    pid,
    cwd,
    team,
    token: env["TIELINE_TOKEN"],
    sessionId: env["CLAUDE_CODE_SESSION_ID"] || env["CODEX_THREAD_ID"],
    pane: env["TMUX_PANE"],
    tmuxSocket: env["TMUX"]?.split(",", 1)[0],
    tmuxServer: tmuxServerOf(env),
    agentVariables: agentVariables.filter((name) => env[name] !== undefined),
    userToken,
  });
}

function compact(fields: { [Name in keyof Caller]: Caller[Name] | undefined }): Caller {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== ""),
  ) as Caller;
}
